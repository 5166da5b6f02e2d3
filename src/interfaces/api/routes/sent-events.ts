import { takeSentRequest } from '../../../operations/control/sent-events.ts';
import type { Api, ApiContext } from '../core/app.ts';
import { problem, ProblemError } from '../../../operations/runs/problem.ts';

/** Apart from the API, so that a proxy can let others reach it alone. */
const sentEventsPath = '/v1/service-webhooks';
/** A transcript of hours has a tenth of that; a recording, which nothing here asks for, has more. */
const mostBytes = 4_000_000;

/**
 * Where the service sends what it tells by itself. There only with SVC_WEBHOOK_SECRET: the signature stands in place of a token. Not in the
 * description of the API, which is for programs of one's own.
 */
export function sentEventRoutes(app: Api, context: ApiContext): void {
  if (context.config.SVC_WEBHOOK_SECRET === undefined) return;
  void app.register(async (routes: Api) => {
    // What is signed are the bytes.
    routes.removeAllContentTypeParsers();
    routes.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: mostBytes }, (_request, body, done) =>
      done(null, body),
    );
    routes.post<{ Body: Buffer | undefined }>(
      sentEventsPath,
      { config: { role: 'anybody' }, schema: { hide: true }, bodyLimit: mostBytes },
      async ({ headers, body = Buffer.alloc(0) }) => {
        const taken = await takeSentRequest({ ...context, clock: await context.clock() }, { headers, body });
        if (taken === 'refused')
          throw ProblemError.of({ ...problem(401, 'signature', 'The signature does not hold.'), title: 'No valid signature' });
        if (taken === 'no_event') throw new ProblemError(400, 'invalid', 'The body is no event of the service.');
        return { taken };
      },
    );
  });
}

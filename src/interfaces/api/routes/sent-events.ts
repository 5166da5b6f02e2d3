import { takeSentRequest } from '../../../operations/control/sent-events.ts';
import type { Api, ApiContext } from '../core/app.ts';
import { problem, ProblemError } from '../../../operations/runs/problem.ts';

/** Separate from the API, so that a proxy can expose it alone. */
const sentEventsPath = '/v1/service-webhooks';
/** Ten times a transcript of hours; recordings are larger, but not requested here. */
const mostBytes = 4_000_000;

/**
 * Receives the service's events, if SVC_WEBHOOK_SECRET is set: the signature replaces a token. Not in the OpenAPI document, which is for
 * API clients.
 */
export function sentEventRoutes(app: Api, context: ApiContext): void {
  if (context.config.SVC_WEBHOOK_SECRET === undefined) return;
  void app.register(async (routes: Api) => {
    // The signature covers the raw bytes.
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

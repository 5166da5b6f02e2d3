import { findToken, noteUse, type Token } from '../../../ledger/console/tokens.ts';
import { refuseRole } from '../../../operations/runs/perform.ts';
import type { Api, ApiContext } from './app.ts';
import { nothingHere, ProblemError } from '../../../operations/runs/problem.ts';
import { isLoopback } from '../../../rules/service-api.ts';

const howToGet = 'carillon token create makes one.';

/** Admits only a token that has the route's role. */
export function authenticate(app: Api, context: ApiContext): void {
  app.decorateRequest('holder', null);
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) throw new ProblemError(404, 'not_found', nothingHere);
    const { role = 'admin' } = request.routeOptions.config;
    if (role === 'anybody') return;
    const [, text] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    const token = await findToken(context.store, text ?? '', context.now());
    if (token === null) {
      void reply.header('www-authenticate', 'Bearer');
      const detail =
        text === undefined
          ? `Send a token: Authorization: Bearer carillon_… (${howToGet})`
          : `The token is unknown, revoked or has expired. ${howToGet}`;
      throw new ProblemError(401, text === undefined ? 'token_missing' : 'token_refused', detail);
    }
    refuseRole(token, role);
    request.holder = token;
    noteUseInBackground(context, token);
  });
}

/** Runs in the background; errors are ignored. */
export function noteUseInBackground(context: ApiContext, token: Token): void {
  noteUse(context.store, token, context.now()).catch(() => {});
}

/** For loopback servers: a foreign page could point its own name here and become same-origin (DNS rebinding). */
export function refuseForeignHosts(app: Api): void {
  app.addHook('onRequest', async ({ headers: { host = '' } }) => {
    const url = `http://${host}`;
    if (!URL.canParse(url) || !isLoopback(new URL(url)))
      throw new ProblemError(421, 'foreign_host', 'This server is for its own machine alone: ask it as localhost, 127.0.0.1 or [::1].');
  });
}

import { isLoopback } from '../../domain/service-address.ts';
import type { Api } from './app.ts';
import { ProblemError } from './problem.ts';

/**
 * Refuses requests to a server of this machine alone that name another host: a foreign page may have its own name point here, and its
 * scripts would then be of the same origin.
 */
export function refuseForeignHosts(app: Api): void {
  app.addHook('onRequest', async ({ headers: { host = '' } }) => {
    const url = `http://${host}`;
    if (!URL.canParse(url) || !isLoopback(new URL(url)))
      throw new ProblemError(
        421,
        'foreign_host',
        'This server is for its own machine alone: ask it as localhost, 127.0.0.1 or [::1].',
      );
  });
}

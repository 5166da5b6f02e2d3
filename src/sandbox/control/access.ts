import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../service-error.ts';
import type { SandboxSettings } from '../settings.ts';
import { telephonyPrefix } from '../telephony/webhook-path.ts';

/**
 * Guards everything under /_sandbox: pages of other sites, open in the same browser, may not use it; and where there is a control token
 * it is asked for, but for health and for what the provider itself calls.
 */
export function guardControl(app: FastifyInstance, { controlToken, allowNonLoopback }: SandboxSettings): void {
  const wanted = controlToken === null ? null : digest(`Bearer ${controlToken}`);
  app.addHook('onRequest', async (request) => {
    const pathname = request.routeOptions.url ?? request.url.split('?', 1)[0] ?? '';
    if (!/^\/_sandbox(\/|$)/.test(pathname)) return;
    refuseOtherSites(request.headers.origin, request.host, allowNonLoopback);
    if (wanted === null) return;
    if (pathname === '/_sandbox/health' || pathname.startsWith(telephonyPrefix)) return;
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), wanted)) return;
    throw new ServiceError(401, 'Send the control token of this sandbox as "authorization: Bearer <token>".', {
      type: 'authentication_error',
      code: request.headers.authorization === undefined ? 'missing_control_token' : 'invalid_control_token',
      headers: { 'www-authenticate': 'Bearer' },
    });
  });
}

/** A browser names the site that asks; a name that was pointed at this machine stands in `host`. */
function refuseOtherSites(origin: string | undefined, host: string, allowNonLoopback: boolean): void {
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
  const isLocal = allowNonLoopback || /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(host);
  if (isOwn && isLocal) return;
  const message =
    'The controls of the sandbox are for programs of this machine and for its own page, not for other sites.';
  throw new ServiceError(403, message, { type: 'forbidden', code: 'foreign_site' });
}

/** Of one length, so that a comparison takes one time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

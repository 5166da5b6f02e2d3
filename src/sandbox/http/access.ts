import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { isLoopbackAddress, mayBeCalled } from '../core/allowed-host.ts';
import { ServiceError } from '../core/service-error.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';

/** Refuses other sites' pages under /_sandbox and requires a set control token, but not for health and provider requests. */
export function guardControl(app: FastifyInstance, { controlToken }: SandboxSettings): void {
  const expectedDigest = controlToken === null ? null : digest(`Bearer ${controlToken}`);
  app.addHook('onRequest', async (request) => {
    const pathname = request.routeOptions.url ?? request.url.split('?', 1)[0] ?? '';
    if (!/^\/_sandbox(\/|$)/.test(pathname)) return;
    refuseOtherSites(request.headers.origin, request.host);
    if (expectedDigest === null) return;
    if (request.routeOptions.config.control?.open === true) return;
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), expectedDigest)) return;
    throw new ServiceError(401, 'Send the control token of this sandbox as "authorization: Bearer <token>".', {
      code: request.headers.authorization === undefined ? 'missing_control_token' : 'invalid_control_token',
      headers: { 'www-authenticate': 'Bearer' },
    });
  });
}

/** A foreign page could point its own name at this machine and read answers. Without a name (HTTP/1.0), no browser sent it. */
export function refuseOtherNames(header: string | undefined, { host }: SandboxSettings): void {
  if (header === undefined || header === '' || mayBeCalled(header.replace(/:\d+$/, ''), host)) return;
  const own = isLoopbackAddress(host)
    ? 'localhost, 127.0.0.1 or [::1]'
    : `localhost, an IP address, a name without a dot or under .internal, or "${host}"`;
  const message = `This sandbox is reached as ${own}; the Host header names something else. Start it with --host and that name if it is one of this machine.`;
  throw new ServiceError(403, message, { type: 'forbidden', code: 'foreign_host' });
}

/** Browsers send the requesting site as Origin. */
function refuseOtherSites(origin: string | undefined, host: string): void {
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).host === host.toLowerCase())) return;
  const message = 'The controls of the sandbox are for programs of this machine and for its own page, not for other sites.';
  throw new ServiceError(403, message, { type: 'forbidden', code: 'foreign_site' });
}

/** Equal lengths, so that a comparison takes constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

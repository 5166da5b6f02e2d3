import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../service-error.ts';
import type { SandboxSettings } from '../settings.ts';
import { telephonyPrefix } from '../telephony/webhook-path.ts';

/** Asks for the control token, where there is one, on everything under /_sandbox but health and what the provider itself calls. */
export function guardControl(app: FastifyInstance, { controlToken }: SandboxSettings): void {
  if (controlToken === null) return;
  const wanted = digest(`Bearer ${controlToken}`);
  app.addHook('onRequest', async (request) => {
    const pathname = request.routeOptions.url ?? request.url.split('?', 1)[0] ?? '';
    if (!/^\/_sandbox(\/|$)/.test(pathname)) return;
    if (pathname === '/_sandbox/health' || pathname.startsWith(telephonyPrefix)) return;
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), wanted)) return;
    throw new ServiceError(401, 'Send the control token of this sandbox as "authorization: Bearer <token>".', {
      type: 'authentication_error',
      code: request.headers.authorization === undefined ? 'missing_control_token' : 'invalid_control_token',
      headers: { 'www-authenticate': 'Bearer' },
    });
  });
}

/** Of one length, so that a comparison takes one time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

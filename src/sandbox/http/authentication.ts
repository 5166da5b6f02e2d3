import type { IncomingHttpHeaders } from 'node:http';
import type { DialectFacts } from '../core/dialects.ts';
import { ServiceError } from '../core/service-error.ts';

export const sandboxKey = 'sk_sandbox_ok';

/** Real ms by which the slow key's requests are delayed. */
export const slowKeyDelayMs = 1_000;

/** Wait of the key that is always over its limit, in ms. */
const limitedKeyWaitMs = 2_000;

export interface Caller {
  apiKey: string;
  slow: boolean;
  /** Fixed wait; null for other keys. */
  waitMs: number | null;
}

/** The request's key, valid or not; null without one, or if two headers differ. */
export function apiKeyIn(headers: IncomingHttpHeaders, { keyHeaders }: DialectFacts): string | null {
  const given = new Set(keyHeaders.map((name) => headers[name]).filter((value) => typeof value === 'string' && value !== ''));
  const [key] = given;
  return given.size === 1 ? String(key) : null;
}

/** The published API has its own code and puts the reason in `status`. */
export function unauthorized(message: string, reason: 'missing_api_key' | 'invalid_api_key', published: boolean): ServiceError {
  if (!published) return new ServiceError(401, message, { code: reason });
  return new ServiceError(401, message, { code: 'unauthorized', status: reason === 'missing_api_key' ? 'needs_authorization' : reason });
}

/** `published`: on a path of the published API. Throws 401 or 403. */
export function authenticate(apiKey: string | null, apiKeys: readonly string[], published = false): Caller {
  if (apiKey === null) {
    const message = `Send your API key, once, in the ${published ? 'xi-api-key' : 'x-api-key'} header. It is read nowhere else.`;
    throw unauthorized(message, 'missing_api_key', published);
  }
  const caller: Caller = { apiKey, slow: false, waitMs: null };
  if (apiKeys.includes(apiKey) || apiKey === sandboxKey) return caller;
  switch (apiKey) {
    case 'sk_sandbox_slow':
      return { ...caller, slow: true };
    case 'sk_sandbox_forbidden':
      throw new ServiceError(403, 'This API key may not do that.', { code: 'insufficient_permissions' });
    case 'sk_sandbox_ratelimited':
      return { ...caller, waitMs: limitedKeyWaitMs };
    default:
      throw unauthorized(`The API key is not valid or was revoked. The sandbox accepts "${sandboxKey}".`, 'invalid_api_key', published);
  }
}

export function rateLimited(code: string, headers: Record<string, string>): ServiceError {
  return new ServiceError(429, 'Too many requests. Wait, then try again with growing pauses.', { code, headers });
}

import { ServiceError } from '../service-error.ts';

export const sandboxKey = 'sk_sandbox_ok';

/** Real milliseconds by which requests with the slow key are held back. */
export const slowKeyDelayMs = 1_000;

export interface Caller {
  apiKey: string;
  slow: boolean;
}

/** Who asks, by the `x-api-key` header alone. Throws 401, 403 or 429. */
export function authenticate(header: string | string[] | undefined, apiKeys: readonly string[]): Caller {
  if (header === undefined || header === '' || Array.isArray(header)) {
    throw new ServiceError(401, 'Send your API key in the x-api-key header. It is read nowhere else.', {
      type: 'authentication_error',
      code: 'missing_api_key',
    });
  }
  if (apiKeys.includes(header) || header === sandboxKey) return { apiKey: header, slow: false };
  switch (header) {
    case 'sk_sandbox_slow':
      return { apiKey: header, slow: true };
    case 'sk_sandbox_forbidden':
      throw new ServiceError(403, 'This API key may not do that.', {
        type: 'authorization_error',
        code: 'insufficient_permissions',
      });
    case 'sk_sandbox_ratelimited':
      throw rateLimited('rate_limit_exceeded', { 'retry-after': '2' });
    default:
      throw new ServiceError(401, `The API key is not valid or was revoked. The sandbox accepts "${sandboxKey}".`, {
        type: 'authentication_error',
        code: 'invalid_api_key',
      });
  }
}

export function rateLimited(code: string, headers: Record<string, string>): ServiceError {
  return new ServiceError(429, 'Too many requests. Wait, then try again with growing pauses.', {
    type: 'rate_limit_error',
    code,
    headers,
  });
}

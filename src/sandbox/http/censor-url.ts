import { sandboxKey } from './authentication.ts';

const keyParameter = /([?&](?:x-api-key|api_key|apikey|key)=)[^&]*/gi;
/** Meant to stand in an address, and secret all the same. */
const signatureParameter = /([?&](?:conversation_signature|signature|access_token|token)=)[^&]*/gi;

/** Makes addresses fit to be kept: without any key or signature that stands in them. */
export function createUrlCensor(apiKeys: readonly string[]): (url: string) => { path: string; keyInUrl: boolean } {
  const keys = [...apiKeys, sandboxKey].map(encodeURIComponent);
  return (url) => {
    const hasQuery = url.includes('?');
    const signed = hasQuery ? url.replaceAll(signatureParameter, '$1[redacted]') : url;
    let path = hasQuery ? signed.replaceAll(keyParameter, '$1[redacted]') : signed;
    for (const key of keys) if (path.includes(key)) path = path.replaceAll(key, '[redacted]');
    return { path, keyInUrl: path !== signed };
  };
}

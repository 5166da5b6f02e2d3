import { createHmac } from 'node:crypto';

/** What a request is signed with: a receiver that knows one of the secrets accepts it. */
export type SigningKeys = readonly Buffer[];

const prefix = 'whsec_';
/** As Standard Webhooks wants it; a secret of text has 16 characters at least. */
const leastBytes = 24;
const mostBytes = 64;

/**
 * Reads the value of `CARILLON_HOOK_SECRET`: one secret, or several with blanks between them while the receiver changes from one to the
 * other. `whsec_` and base64 is a key of 24 to 64 bytes; anything else is a key by its own bytes. Null when one cannot be used.
 */
export function readSigningKeys(text: string): SigningKeys | null {
  const keys = text.trim().split(/\s+/).map(readKey);
  return keys.every((key) => key !== null) ? keys : null;
}

function readKey(secret: string): Buffer | null {
  if (!secret.startsWith(prefix)) return secret.length < 16 ? null : Buffer.from(secret);
  const encoded = secret.slice(prefix.length);
  const key = Buffer.from(encoded, 'base64');
  const isWhole = key.toString('base64').replace(/=+$/, '') === encoded.replace(/=+$/, '');
  return isWhole && key.length >= leastBytes && key.length <= mostBytes ? key : null;
}

/**
 * The headers of Standard Webhooks: id, unix seconds, and for each key an HMAC-SHA256 over `<id>.<seconds>.<body>`. The time is signed
 * as well, so that a receiver can refuse a request that somebody kept and sends again later.
 */
export function signedHeaders(keys: SigningKeys, { id, body, atMs }: { id: string; body: string; atMs: number }): Record<string, string> {
  const seconds = String(Math.floor(atMs / 1000));
  const sign = (key: Buffer) => `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': keys.map(sign).join(' ') };
}

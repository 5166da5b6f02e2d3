import { createHmac } from 'node:crypto';

/** A receiver accepts a signature by any of them. */
export type SigningKeys = readonly Buffer[];

const prefix = 'whsec_';
/** Minimum of Standard Webhooks; a plain-text secret needs 16 characters. */
const leastBytes = 24;
const mostBytes = 64;

/**
 * Parses `CARILLON_HOOK_SECRET`: one secret, or several separated by blanks during a rotation. `whsec_` and base64: a key of 24 to 64
 * bytes; other text: its own bytes. Null: unusable.
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
 * Standard Webhooks headers: id, unix seconds, and per key an HMAC-SHA256 over `<id>.<seconds>.<body>`. The signed time lets a receiver
 * refuse a replay.
 */
export function signedHeaders(keys: SigningKeys, { id, body, atMs }: { id: string; body: string; atMs: number }): Record<string, string> {
  const seconds = String(Math.floor(atMs / 1000));
  const sign = (key: Buffer) => `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': keys.map(sign).join(' ') };
}

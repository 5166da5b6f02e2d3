import { createCipheriv, randomBytes } from 'node:crypto';

/** Lives as long as the process: what is sealed with it is never opened, by any operation. */
const key = randomBytes(32);

/** Encrypts a token of the telephony provider for keeping. */
export function sealToken(token: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

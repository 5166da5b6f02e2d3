import { createHmac } from 'node:crypto';

export const signatureHeader = 'svc-signature';

/** `t=<unix seconds>,v0=<hex>`, the HMAC-SHA256 over time, a dot and the body as sent (gaps A.8). */
export function signBody(secret: string, unixTime: number, body: string): string {
  const digest = createHmac('sha256', secret).update(`${unixTime}.${body}`).digest('hex');
  return `t=${unixTime},v0=${digest}`;
}

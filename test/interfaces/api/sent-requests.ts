import { createHmac } from 'node:crypto';
import { noon } from '../../ledger/scenario.ts';
import type { ApiWorld } from './api-world.ts';

export const secret = 'secret_of_the_service';
/** As while the service changes its secret. */
export const secrets = `an_older_secret_of_the_service ${secret}`;
export const path = '/v1/service-webhooks';

export interface Sent {
  body: string;
  signature: string;
}

export function sign(body: string, { at = noon, by = secret }: { at?: number; by?: string } = {}): Sent {
  const seconds = Math.floor(at / 1000);
  return { body, signature: `t=${seconds},v0=${createHmac('sha256', by).update(`${seconds}.${body}`).digest('hex')}` };
}

export async function post(api: ApiWorld, { body, signature }: Sent, header = 'svc-signature') {
  const headers = { 'content-type': 'application/json', ...(signature === '' ? {} : { [header]: signature }) };
  const { statusCode, body: answer } = await api.app.inject({ method: 'POST', url: path, headers, payload: body });
  return { status: statusCode, body: JSON.parse(answer) as Record<string, unknown> };
}

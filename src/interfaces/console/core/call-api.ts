import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { holderOf, type Api } from '../../api/core/app.ts';
import { ticketScheme } from '../../api/core/authentication.ts';
import type { ApiCall } from './action.ts';

export interface CalledApi {
  status: number;
  replayed: boolean;
  body: Record<string, unknown>;
}

/**
 * Has the API of this server carry out what somebody has sent from the page, in the name of their token: schema, role, key, log and refusal
 * are those of any other client. `key`: of the form.
 */
export async function callApi(
  app: Api,
  request: FastifyRequest,
  { key, method, url, body }: ApiCall & { key: string },
): Promise<CalledApi> {
  const answer = await withTicket(app, request, async (headers) =>
    app.inject({
      method,
      url,
      headers: { ...headers, 'idempotency-key': key },
      ...(body === undefined ? {} : { payload: body }),
    }),
  );
  return {
    status: answer.statusCode,
    replayed: answer.headers['idempotent-replayed'] === 'true',
    body: answer.body === '' ? {} : answer.json<Record<string, unknown>>(),
  };
}

/** Asks once in the name of who has signed in. */
export async function withTicket<Answer>(
  app: Api,
  request: FastifyRequest,
  ask: (headers: Record<'host' | 'authorization', string>) => Promise<Answer>,
): Promise<Answer> {
  const ticket = randomUUID();
  app.tickets.set(ticket, holderOf(request));
  try {
    return await ask({ host: request.headers.host ?? 'localhost', authorization: `${ticketScheme} ${ticket}` });
  } finally {
    app.tickets.delete(ticket);
  }
}

/** A refusal of the API in its own words. */
export function refusalOf({ status, body }: Pick<CalledApi, 'status' | 'body'>): string {
  const { detail, errors } = body as { detail?: string; errors?: { path: string; message: string }[] };
  const fields = (errors ?? []).map(({ path, message }) => `${path}: ${message}.`);
  return [detail ?? `The server answered with status ${status}.`, ...fields].join(' ');
}

import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { holderOf, type Api } from '../../api/core/app.ts';
import { ticketScheme } from '../../api/core/authentication.ts';
import { operations, type OperationId } from '../../../operations/list.ts';
import { filledPath } from '../../../operations/operation.ts';
import type { Call, Sent } from './action.ts';
import type { FieldError } from './press.ts';
import type { Readable } from 'node:stream';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProblemError } from '../../api/core/problem.ts';
import { keepFile, readParts } from '../../api/core/uploads.ts';

export interface CalledApi {
  status: number;
  /** The same request was carried out before: a button was pressed twice. */
  replayed: boolean;
  body: Record<string, unknown>;
}

/**
 * Has the API of this server carry out what somebody has sent from the page, in the name of their token: schema, role, key, log and refusal
 * are those of any other client. `params`: what the path of the page names. `key`: of the form.
 */
export async function callApi(
  app: Api,
  request: FastifyRequest,
  { op, params, query = {}, body, key }: Call & { op: OperationId; params: Readonly<Record<string, string>>; key: string },
): Promise<CalledApi> {
  const { route } = operations[op];
  const asked = new URLSearchParams(query).toString();
  const answer = await withTicket(app, request, async (headers) =>
    app.inject({
      method: route.startsWith('DELETE') ? 'DELETE' : 'POST',
      url: `${filledPath(route, params)}${asked === '' ? '' : `?${asked}`}`,
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

export function refusalOf({ status, body }: Pick<CalledApi, 'status' | 'body'>): string {
  const { detail = '' } = body as { detail?: string };
  const fields = errorsOf({ body }).map(({ path, message }) => `${path}: ${message}`);
  // The detail of some refusals names them already.
  const more = fields.filter((text) => !detail.includes(text)).map((text) => `${text}.`);
  return [detail === '' ? `The server answered with status ${status}.` : detail, ...more].join(' ');
}

export function errorsOf({ body }: Pick<CalledApi, 'body'>): readonly FieldError[] {
  return (body as { errors?: FieldError[] }).errors ?? [];
}

/** A file that the page hands out as the API gives it; asking is logged there. */
export interface ConsoleFile {
  /** Such as `/campaigns/:campaign/results.csv`. */
  path: string;
  /** Address at the API. `query`: of the request, with its `?`. */
  url: (params: Readonly<Record<string, string>>, query: string) => string;
}

/** What goes along with the file; everything else is the page's own. */
const kept = ['content-type', 'content-disposition', 'content-length', 'content-range', 'accept-ranges'] as const;

interface AskedFile {
  status: number;
  headers: Record<string, string>;
  stream: Readable;
}

/** Asks the API of this server for a file in the name of who has signed in; it comes as it is read. */
export async function askFile(app: Api, request: FastifyRequest, url: string): Promise<AskedFile> {
  const { range } = request.headers;
  // Whoever leaves is read for no more: the API would wait for ever for somebody to take the rest.
  const left = new AbortController();
  const { socket } = request.raw;
  const leave = (): void => left.abort();
  socket.once('close', leave);
  const answer = await withTicket(app, request, async (headers) =>
    app.inject({
      method: 'GET',
      url,
      headers: { ...headers, ...(range === undefined ? {} : { range }) },
      payloadAsStream: true,
      signal: left.signal,
    }),
  );
  const headers = kept.flatMap((name) => {
    const value = answer.headers[name];
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  const stream = answer.stream();
  stream.once('close', () => socket.off('close', leave));
  return { status: answer.statusCode, headers: Object.fromEntries(headers), stream };
}

export async function readRefusal({ status, stream }: AskedFile): Promise<{ status: number; body: Record<string, unknown> }> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(Buffer.from(part as Uint8Array));
  return { status, body: JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown> };
}

const mostFields = 50;
const mostFieldBytes = 1_000_000;
/** The API takes larger ones. */
const mostFileBytes = 100_000_000;

/**
 * Does the work with what a form has sent; its files lie in a folder that is gone afterwards. `names`: fields that may hold a file, of
 * which one without a file is left out. Throws ProblemError for what is too large or not expected.
 */
export async function withSentForm<Answer>(
  request: FastifyRequest,
  names: readonly string[],
  work: (sent: Pick<Sent, 'fields' | 'files'>) => Promise<Answer>,
): Promise<Answer> {
  if (!request.isMultipart()) return work({ fields: request.body as URLSearchParams, files: {} });
  const folder = await mkdtemp(join(tmpdir(), 'carillon-form-'));
  try {
    const fields = new URLSearchParams();
    const files: Record<string, Blob> = {};
    const limits = { fields: mostFields, fieldSize: mostFieldBytes, fileSize: mostFileBytes };
    for await (const part of readParts(request, limits)) {
      if (part.type === 'field') {
        if (part.valueTruncated) throw new ProblemError(413, 'too_large', `What was written in ${part.fieldname} is too long.`);
        fields.append(part.fieldname, String(part.value));
        continue;
      }
      const { fieldname } = part;
      if (!names.includes(fieldname) || fieldname in files)
        throw new ProblemError(400, 'upload', `A file ${JSON.stringify(fieldname)} is not expected, or came twice.`);
      const path = join(folder, fieldname);
      await keepFile(part, path);
      if ((await stat(path)).size > 0) files[fieldname] = await openAsBlob(path);
    }
    return await work({ fields, files });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

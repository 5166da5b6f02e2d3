import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Api } from '../../api/core/app.ts';
import { withTicket } from './call-api.ts';

/** A file that the page hands out as the API gives it; asking is logged there. */
export interface ConsoleFile {
  /** Such as `/campaigns/:campaign/results.csv`. */
  path: string;
  /** Address at the API. `query`: of the request, with its `?`. */
  url: (params: Readonly<Record<string, string>>, query: string) => string;
}

/** What goes along with the file; everything else is the page's own. */
const kept = ['content-type', 'content-disposition', 'content-length', 'content-range', 'accept-ranges'] as const;

export interface AskedFile {
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

/** The refusal that came in place of a file. */
export async function readRefusal({ status, stream }: AskedFile): Promise<{ status: number; body: Record<string, unknown> }> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(Buffer.from(part as Uint8Array));
  return { status, body: JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown> };
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { runs } from '../../../operations/runs/all.ts';
import { keyHeaders } from '../../../operations/runs/perform.ts';
import { operationOf, type operations, type OperationId, type Answer, type Read } from '../../../operations/list.ts';
import type { Operation } from '../../../operations/operation.ts';
import type { Api } from './app.ts';
import { problemSchema } from '../../../operations/runs/problem.ts';

type Operations = typeof operations;

/** Request with parts parsed by the operation's schemas. */
export type OperationRequest<Id extends OperationId> = FastifyRequest & {
  params: Read<Operations[Id], 'params'>;
  query: Read<Operations[Id], 'query'>;
  body: Read<Operations[Id], 'body'>;
};

/** Operations in `runs` validate their input when they are performed. */
export function serve<Id extends OperationId>(
  app: Api,
  id: Id,
  handler: (request: OperationRequest<Id>, reply: FastifyReply) => Promise<Answer<Id>>,
): void {
  const operation = operationOf(id);
  const { kind, route, role, tag, says, more, params, query, body, files, produces, status = 200 } = operation;
  const headers = operation.headers ?? (kind === 'change' ? keyHeaders : undefined);
  const answer = operation.answer ?? produces?.content ?? z.any();
  if (kind === 'download') app.downloads.set(id, (request, reply) => handler(request as OperationRequest<Id>, reply));
  const [method, url] = route.split(' ') as ['GET' | 'POST' | 'DELETE', string];
  app.route({
    method,
    url,
    ...(id in runs && { validatorCompiler: () => (value: unknown) => ({ value }) }),
    config: { role, ...(files === undefined ? {} : { files }) },
    schema: {
      operationId: id,
      tags: [tag],
      summary: says,
      ...(more === undefined ? {} : { description: more }),
      ...(files === undefined ? {} : { consumes: ['multipart/form-data'] }),
      ...(produces === undefined ? {} : { produces: [...produces.types] }),
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { querystring: query }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
      response: {
        [status]: answer,
        ...(produces?.inParts === true && { 206: answer }),
        ...refusals(operation),
      },
    },
    handler: async (request, reply) => handler(request as OperationRequest<Id>, reply),
  });
}

/** An error that replaces a file must not have the file's headers. */
export function dropFileHeaders(reply: FastifyReply): void {
  for (const name of ['content-disposition', 'content-range', 'accept-ranges', 'content-length']) {
    void reply.removeHeader(name);
    // A started stream has written them already.
    if (!reply.raw.headersSent) reply.raw.removeHeader(name);
  }
}

function refusals({ kind, route, files, refuses = [] }: Operation): Record<number, typeof problemSchema> {
  const statuses = [
    400,
    401,
    403,
    500,
    503,
    ...(route.includes(':') ? [404] : []),
    ...(kind === 'change' ? [409, 422] : []),
    ...(files === undefined ? [] : [413, 415]),
    ...refuses,
  ];
  return Object.fromEntries(statuses.map((status) => [status, problemSchema]));
}

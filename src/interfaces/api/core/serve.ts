import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { operations, type OperationId } from '../../../operations/list.ts';
import { shapes, type Answer, type Read, type Shape } from '../../../operations/schemas/all.ts';
import type { Api } from './app.ts';
import { problemSchema } from './problem.ts';

type Shapes = typeof shapes;

/** The request of an operation: what its schemas have read. */
export type Asked<Id extends OperationId> = FastifyRequest & {
  params: Read<Shapes[Id], 'params'>;
  query: Read<Shapes[Id], 'query'>;
  body: Read<Shapes[Id], 'body'>;
};

/** Of a change: the key under which it is done once. */
const keyHeaders = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .meta({
      description:
        'A text of your own, new for each change. The same key for the same request is answered again and changes nothing ' +
        '(`idempotent-replayed: true`); for another request it is refused.',
      examples: ['4f7c2f0e-reminders-pause'],
    }),
});

/** Serves an operation: method, path, role, schemas and words are those of the list, and `handler` carries it out. */
export function serve<Id extends OperationId>(
  app: Api,
  id: Id,
  handler: (request: Asked<Id>, reply: FastifyReply) => Promise<Answer<Id>>,
): void {
  const { kind, route, role, tag, says, more } = operations[id];
  const shape: Shape = shapes[id];
  const { params, query, body, files, produces } = shape;
  const headers = shape.headers ?? (kind === 'change' ? keyHeaders : undefined);
  const answer = shape.answer ?? produces?.content ?? z.any();
  const [method, url] = route.split(' ') as ['GET' | 'POST' | 'DELETE', string];
  app.route({
    method,
    url,
    config: { role, ...(files === undefined ? {} : { files }) },
    schema: {
      operationId: id,
      tags: [tag],
      summary: says,
      ...(more === '' ? {} : { description: more }),
      ...(files === undefined ? {} : { consumes: ['multipart/form-data'] }),
      ...(produces === undefined ? {} : { produces: [...produces.types] }),
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { querystring: query }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
      response: {
        [shape.status ?? 200]: answer,
        ...(produces?.inParts === true && { 206: answer }),
        ...refusals(id, shape),
      },
    },
    handler: async (request, reply) => handler(request as Asked<Id>, reply),
  });
}

function refusals(id: OperationId, { files, refuses = [] }: Shape): Record<number, typeof problemSchema> {
  const { kind, route } = operations[id];
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

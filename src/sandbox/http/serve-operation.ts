import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { faultableRoute, operations, type FurtherRoute, type OperationName } from '../core/operations.ts';
import { ServiceError } from '../core/service-error.ts';
import { validate } from '../schemas/validate.ts';

type First = (request: FastifyRequest) => unknown;
type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** Serves one operation at the path of the contract, under its name, and at further paths (gaps A.1). */
export function serveOperation(
  app: FastifyInstance,
  name: OperationName,
  handler: Handler,
  aliases: readonly FurtherRoute[] = [],
  first?: First,
): void {
  const { method, path } = operations[name];
  for (const route of [{ method, path }, ...aliases])
    app.route({
      method: route.method,
      url: route.path,
      config: { operation: name, ...(first === undefined ? {} : { first }) },
      handler: async (request, reply) => handler(request, reply),
    });
}

/** Serves what is no operation of the contract, to callers with an API key. What `first` throws comes before what is said of the key. */
export function serveKeyed(app: FastifyInstance, route: FurtherRoute, handler: Handler, first?: First): void {
  const { method, path } = route;
  const config = { keyed: true, fault: faultableRoute(route), ...(first === undefined ? {} : { first }) };
  app.route({ method, url: path, config, handler: async (request, reply) => handler(request, reply) });
}

/** The query. Throws `InvalidRequest`. A loose sandbox lets unknown parameters pass, and names them, for they filter nothing. */
export function readQuery<Schema extends z.ZodObject>(request: FastifyRequest, schema: Schema): z.output<Schema> {
  const query = validate(schema as unknown as z.ZodType<z.output<Schema>>, 'query', request.query);
  const unknown = Object.keys(request.query as object).filter((name) => !Object.hasOwn(schema.shape, name));
  request.exchange.ignored = unknown.map((name) => `query.${encodeURIComponent(name).slice(0, 100)}`);
  return query;
}

/** Throws 404 where a path ends in a slash instead of the parameter. */
export function pathParameter(request: FastifyRequest, name: string): string {
  const value = (request.params as Record<string, string>)[name] ?? '';
  if (value !== '') return value;
  const message = `The path has no ${name}. Give one, or leave the last slash out.`;
  throw new ServiceError(404, message, { code: 'route_not_found' });
}

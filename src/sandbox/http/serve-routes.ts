import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { routesOf, type RouteName, type routes, type ServedRoute } from '../core/operations.ts';
import { ServiceError } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { schemaOf, type RequestSchemas } from '../schemas/request-schemas.ts';
import { validate } from '../schemas/validate.ts';

type SchemaOf<Name extends RouteName, Part extends 'query' | 'body'> = (typeof routes)[Name] extends {
  [each in Part]: infer Schema extends keyof RequestSchemas;
}
  ? Schema
  : 'noQuery';

/** The query is validated already, the body on access, so that a handler decides what to refuse first. */
export interface RouteRequest<Name extends RouteName> {
  request: FastifyRequest;
  reply: FastifyReply;
  query: z.output<RequestSchemas[SchemaOf<Name, 'query'>]>;
  /** Throws 422. */
  body: () => z.output<RequestSchemas[SchemaOf<Name, 'body'>]>;
  id: (parameter: string) => string;
}

export type Handlers = { [Name in RouteName]: (request: RouteRequest<Name>) => unknown };

/** Serves a dialect's routes under their names and aliases. */
export function serveRoutes(app: FastifyInstance, service: Service, handlers: Partial<Handlers>): void {
  for (const served of routesOf(service.settings.dialect)) {
    const handler = handlers[served.name];
    if (handler === undefined) continue;
    app.route({
      method: served.method,
      url: served.path,
      config: { served },
      handler: async (request, reply) =>
        handler({
          request,
          reply,
          query: request.exchange.query as never,
          body: () => readBody(request, served, service.schemas) as never,
          id: (parameter) => pathParameter(request, parameter),
        }),
    });
  }
}

export function readBody(request: FastifyRequest, { body }: ServedRoute, schemas: RequestSchemas): unknown {
  return validate(schemaOf(schemas, body), 'body', request.body);
}

/** Throws `InvalidRequest`. A loose sandbox drops unknown parameters and names them, since they filter nothing. */
export function readQuery<Schema extends z.ZodObject>(request: FastifyRequest, schema: Schema): z.output<Schema> {
  const query = validate(schema as unknown as z.ZodType<z.output<Schema>>, 'query', request.query);
  const isKnown = (name: string): boolean => Object.hasOwn(schema.shape, name);
  const unknown = Object.keys(request.query as object).filter((name) => !isKnown(name));
  request.exchange.ignored = unknown.map((name) => `query.${encodeURIComponent(name).slice(0, 100)}`);
  return Object.fromEntries(Object.entries(query).filter(([name]) => isKnown(name))) as z.output<Schema>;
}

/** Throws 404 when the path ends in a slash instead of the parameter. */
export function pathParameter(request: FastifyRequest, name: string): string {
  const value = (request.params as Record<string, string>)[name] ?? '';
  if (value !== '') return value;
  const message = `The path has no ${name}. Give one, or leave the last slash out.`;
  throw new ServiceError(404, message, { code: 'route_not_found' });
}

import fastify, { type FastifyReply } from 'fastify';
import multipart from '@fastify/multipart';
import swagger from '@fastify/swagger';
import { jsonSchemaTransformObject, serializerCompiler, type ZodTypeProvider, jsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { operations } from '../../operations/list.ts';
import { tags } from '../../operations/operation.ts';
import { countAdds } from './core/adds.ts';
import type { Api, ApiContext } from './core/app.ts';
import { authenticate, refuseForeignHosts } from './core/authentication.ts';
import { createHttpServer, usualLimits, type ServerLimits, type Tls } from './core/http-server.ts';
import { LogTail } from './core/log-tail.ts';
import { refuseUnknownQuery } from './core/query.ts';
import { dropFileHeaders } from './core/serve.ts';
import {
  errorFacts,
  nothingHere,
  ProblemError,
  problem,
  problemOf,
  readPart,
  refuseFaultyText,
  type Problem,
} from '../../operations/runs/problem.ts';
import { callRoutes, rowRoutes } from './routes/rows.ts';
import { refuseLongUploads } from './core/uploads.ts';
import { campaignRoutes } from './routes/campaigns.ts';
import { eventRoutes } from './routes/events.ts';
import { handOnRoutes } from './routes/exports.ts';
import { sentEventRoutes } from './routes/sent-events.ts';
import { runRoutes } from './routes/runs.ts';
import { isIPv6 } from 'node:net';
import { isLoopback } from '../../rules/service-api.ts';

const mostBodyBytes = 1_000_000;
/** Longer than any address: the schema reports what is too long. */
const longestParam = 20_000;
const notFound = problem(404, 'not_found', nothingHere);

interface ServerOptions {
  tls?: Tls | null;
  /** True: only this machine may connect, by loopback names. */
  isOwn?: boolean;
  /** True if a proxy in front terminates TLS. */
  behindProxy?: boolean;
  limits?: ServerLimits;
}

function sendProblem(reply: FastifyReply, refusal: Problem): FastifyReply {
  return reply.code(refusal.status).type('application/problem+json').serializer(JSON.stringify).send(refusal);
}

/** Not listening yet. Closing it leaves the database open. */
export async function buildApi(
  context: ApiContext,
  { tls = null, isOwn = false, behindProxy = false, limits = usualLimits }: ServerOptions = {},
): Promise<Api> {
  const app: Api = fastify({
    bodyLimit: mostBodyBytes,
    // The address seen by the proxy; a client can forge the rest of the header.
    trustProxy: behindProxy && ((_address, hop) => hop === 0),
    routerOptions: { maxParamLength: longestParam },
    serverFactory: (handler) => createHttpServer(handler, tls, limits),
    frameworkErrors: (error, _request, reply) => void sendProblem(reply, problemOf(error)),
  })
    .withTypeProvider<ZodTypeProvider>()
    .setValidatorCompiler<z.ZodType>(
      ({ schema, httpPart = '' }) =>
        (sent: unknown) =>
          readAs(httpPart, schema, sent),
    )
    .setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = problemOf(error);
    if (error instanceof ProblemError && error.replayed) void reply.header('idempotent-replayed', 'true');
    if (refusal.code === 'under_way') void reply.header('retry-after', '2');
    if (refusal.status === 429) void reply.header('retry-after', '1');
    if (refusal.status === 503 && !reply.hasHeader('retry-after')) void reply.header('retry-after', '5');
    const facts = { ...errorFacts(error), route: request.routeOptions.url };
    if (refusal.status === 500) context.logger.error(facts, 'a request failed');
    if (refusal.code === 'unavailable') context.logger.warn(facts, 'the database or Temporal did not answer');
    dropFileHeaders(reply);
    return sendProblem(reply, refusal);
  });
  app.setNotFoundHandler(async (_request, reply) => sendProblem(reply, notFound));
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Carillon',
        version: '1',
        description: 'Campaigns of a database: start, watch, steer, and export their results.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    },
    transform: describeRoute,
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(multipart, { limits: { fileSize: limits.fileBytes, files: 3, fields: 0 } });
  app.decorate('tail', new LogTail(context.store, context.logger));
  app.decorate('downloads', new Map());
  app.decorate('isBehindTls', tls !== null || behindProxy);
  if (isOwn) refuseForeignHosts(app);
  app.addHook('onResponse', async () => void context.cache.beginLater());
  app.decorate('beginAdd', countAdds());
  app.addHook('onRequest', async ({ method, routeOptions: { url } }, reply) => {
    if (`${method} ${url}` === operations.addRows.route) reply.raw.once('close', app.beginAdd());
  });
  authenticate(app, context);
  refuseLongUploads(app, limits);
  app.addHook('preValidation', async ({ params, query, body }) => {
    // Webhook records are bytes; console forms are checked once they are JSON.
    refuseFaultyText({ params, query, body: isJson(body) ? body : null });
  });
  app.get('/api/v1/openapi.json', { config: { role: 'anybody' }, schema: { hide: true } }, async (_request, reply) =>
    reply.serializer(JSON.stringify).type('application/json').send(describeApi(app)),
  );
  context.install?.(app, context);
  sentEventRoutes(app, context);
  await app.register(async (routes: Api) => {
    routes.addHook('preValidation', refuseUnknownQuery);
    campaignRoutes(routes, context);
    runRoutes(routes, context);
    rowRoutes(routes, context);
    callRoutes(routes, context);
    handOnRoutes(routes, context);
    eventRoutes(routes, context, limits);
  });
  return app;
}

function readAs(part: string, schema: z.ZodType, sent: unknown) {
  try {
    return { value: readPart(part, schema, sent) };
  } catch (error) {
    return { error: error as ProblemError };
  }
}

function isJson(body: unknown): boolean {
  return typeof body === 'object' && !(body instanceof Uint8Array || body instanceof URLSearchParams);
}

interface Described {
  paths?: Record<string, Record<string, { responses?: Record<string, { content?: Record<string, unknown> }> }>>;
  components?: { schemas?: Record<string, unknown> };
}

/** Without unused schemas: each exists twice, for input and output. */
function describeApi(app: Api): object {
  const document = structuredClone(app.swagger() as Described);
  describeRefusals(document);
  const schemas = document.components?.schemas ?? {};
  let kept = Object.entries(schemas);
  for (;;) {
    const text = JSON.stringify({
      ...document,
      components: { ...document.components, schemas: Object.fromEntries(kept) },
    });
    const used = kept.filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
    if (used.length === kept.length) return JSON.parse(text) as object;
    kept = used;
  }
}

/** Refusals are problem documents, whichever type the route declares. */
function describeRefusals({ paths = {} }: Described): void {
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path)))
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      const schema = Object.values(response.content ?? {})[0];
      if (Number(status) >= 400 && schema !== undefined) response.content = { 'application/problem+json': schema };
    }
}

/** Adds the role, and the files, which are streamed and thus missing from the body schema. */
const describeRoute: typeof jsonSchemaTransform = (route) => {
  const described = jsonSchemaTransform(route);
  const { role, files } = route.route.config ?? {};
  if (described.schema.hide === true) return described;
  const paragraphs = [described.schema.description, `Takes the role ${role}.`].filter((text) => text !== undefined);
  const schema = { ...described.schema, description: paragraphs.join('\n\n') };
  if (files === undefined) return { ...described, schema };
  const properties = Object.fromEntries(files.map((name) => [name, { type: 'string', format: 'binary' }]));
  return { ...described, schema: { ...schema, body: { type: 'object', required: files, properties } } };
};

export interface ApiAddress {
  /** Address or name of this machine. */
  host: string;
  /** 0: any free port. */
  port: number;
  /** Null: plain HTTP, for this machine only or behind a proxy. */
  tls: Tls | null;
  /** True if a proxy in front forwards other machines' requests, under names that it checks. */
  behindProxy?: boolean;
}

export interface RunningApi {
  url: string;
  /** Completes open requests, and ends streams at once. */
  close(): Promise<void>;
}

/** Never closes the database. Throws when the port is taken or the certificate is unusable. */
export async function startApi(context: ApiContext, { host, port, tls, behindProxy = false }: ApiAddress): Promise<RunningApi> {
  const isOwn = !behindProxy && isLoopback({ hostname: isIPv6(host) ? `[${host}]` : host });
  const app = await buildApi(context, { tls, isOwn, behindProxy });
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw error;
  }
  const address = app.server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return {
    url: `${tls === null ? 'http' : 'https'}://${isIPv6(name) ? `[${name}]` : name}:${listening}`,
    close: () => app.close(),
  };
}

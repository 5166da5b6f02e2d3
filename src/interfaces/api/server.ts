import fastify, { type FastifyReply } from 'fastify';
import multipart from '@fastify/multipart';
import swagger from '@fastify/swagger';
import { jsonSchemaTransformObject, serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { didYouMean } from '../../rules/nearest-name.ts';
import { installConsole } from '../console/install-console.ts';
import { tags } from '../../operations/operation.ts';
import type { Api } from './core/app.ts';
import { authenticate, refuseForeignHosts } from './core/authentication.ts';
import { describeApi, describeRoute } from './description.ts';
import type { ApiContext } from './core/context.ts';
import { createHttpServer, usualLimits, type ServerLimits, type Tls } from './core/http-server.ts';
import { LogTail } from './core/log-tail.ts';
import { errorFacts, ProblemError, problem, problemOf, type Problem } from './core/problem.ts';
import { callRoutes } from './routes/calls.ts';
import { refuseLongUploads } from './core/uploads.ts';
import { campaignRoutes } from './routes/campaigns.ts';
import { createRoutes } from './routes/create.ts';
import { eventRoutes } from './routes/events.ts';
import { handOnRoutes } from './routes/exports.ts';
import { rowRoutes } from './routes/rows.ts';
import { runRoutes } from './routes/runs.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { suppressionRoutes } from './routes/suppressions.ts';

const mostBodyBytes = 1_000_000;
/** Longer than an address may be: its schema says what is too long. */
const longestParam = 20_000;
const notFound = problem(404, 'not_found', 'There is nothing here: /api/v1/openapi.json says what is.');

interface ServerOptions {
  tls?: Tls | null;
  /** Whether only this machine may ask, under its own names. */
  isOwn?: boolean;
  /** Whether a proxy before it speaks TLS. */
  behindProxy?: boolean;
  limits?: ServerLimits;
}

function sendProblem(reply: FastifyReply, refusal: Problem): FastifyReply {
  return reply.code(refusal.status).type('application/problem+json').serializer(JSON.stringify).send(refusal);
}

/** The HTTP API over an open database; not listening yet. Closing it leaves the database open. */
export async function buildApi(
  context: ApiContext,
  { tls = null, isOwn = false, behindProxy = false, limits = usualLimits }: ServerOptions = {},
): Promise<Api> {
  const app: Api = fastify({
    bodyLimit: mostBodyBytes,
    // The address that the proxy has seen; what stands before it in the header anybody may have written.
    trustProxy: behindProxy && ((_address, hop) => hop === 0),
    routerOptions: { maxParamLength: longestParam },
    serverFactory: (handler) => createHttpServer(handler, tls, limits),
    frameworkErrors: (error, _request, reply) => void sendProblem(reply, problemOf(error)),
  })
    .withTypeProvider<ZodTypeProvider>()
    .setValidatorCompiler(validatorCompiler)
    .setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = problemOf(error);
    if (refusal.status === 500) context.logger.error({ ...errorFacts(error), route: request.routeOptions.url }, 'a request failed');
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
  app.decorate('isBehindTls', tls !== null || behindProxy);
  if (isOwn) refuseForeignHosts(app);
  app.addHook('onResponse', async () => void context.cache.beginLater());
  authenticate(app, context);
  refuseLongUploads(app, limits);
  app.get('/api/v1/openapi.json', { config: { role: 'anybody' }, schema: { hide: true } }, async (_request, reply) =>
    reply.serializer(JSON.stringify).type('application/json').send(describeApi(app)),
  );
  installConsole(app, context);
  await app.register(async (routes: Api) => {
    // One that is misspelt would be ignored in silence.
    routes.addHook('preValidation', async ({ routeOptions, query }) => {
      const schema: unknown = routeOptions.schema?.querystring;
      const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
      const name = Object.keys(query as object).find((each) => !known.includes(each));
      if (name === undefined) return;
      const detail = `The query has no parameter ${JSON.stringify(name)} here.${didYouMean(name, known)}`;
      throw new ProblemError(400, 'invalid', detail);
    });
    campaignRoutes(routes, context);
    createRoutes(routes, context);
    runRoutes(routes, context);
    rowRoutes(routes, context);
    callRoutes(routes, context);
    handOnRoutes(routes, context);
    eventRoutes(routes, context, limits);
    suppressionRoutes(routes, context);
    scheduleRoutes(routes, context);
  });
  return app;
}

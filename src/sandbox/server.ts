import { fastify, type FastifyInstance } from 'fastify';
import { installAudio } from './audio/install-audio.ts';
import { installLive } from './live/serve-sockets.ts';
import { createModelTalks } from './llm/model-talks.ts';
import { installPage } from './page/install-page.ts';
import { installPersistence } from './persistence/install-persistence.ts';
import { installWebhooks } from './webhooks/webhooks.ts';
import { registerConvai } from './convai/register.ts';
import { installControl } from './control/install-control.ts';
import type { Service } from './core/service/service.ts';
import { answerErrors, answerUnreadable, answerUnroutable } from './http/error-replies.ts';
import { acceptJsonOnly } from './http/json-text.ts';
import { installPipeline } from './http/pipeline.ts';

const longestParameter = 16_384;
const minuteMs = 60_000;
/** Headers' share of the request time limit: they are small, a body may be megabytes. */
const shareOfHeaders = 1 / 4;
const bodyLimitBytes = 5 * 1024 * 1024;

export function createServer(service: Service, longestRequestMs = minuteMs): FastifyInstance {
  const app = createCoreServer(service, longestRequestMs);
  installAudio(app, service);
  const talks = createModelTalks(service.settings);
  service.live = talks;
  service.features.push({ leave: () => talks.stop() });
  const webhooks = installWebhooks(app, service);
  installLive(app, service);
  installPersistence(app, service);
  installPage(app, service, webhooks);
  return app;
}

/** Without features, not yet listening. A request must arrive within `longestRequestMs` of real time. */
export function createCoreServer(service: Service, longestRequestMs = minuteMs): FastifyInstance {
  const app = fastify({
    http: { headersTimeout: longestRequestMs * shareOfHeaders, connectionsCheckingInterval: (longestRequestMs * shareOfHeaders) / 2 },
    bodyLimit: bodyLimitBytes,
    forceCloseConnections: true,
    requestTimeout: longestRequestMs,
    // So that an id of any length is unknown, not too long.
    routerOptions: { maxParamLength: longestParameter },
    frameworkErrors: answerUnroutable,
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, service.settings.dialect),
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noRouteSchemas, buildSerializer: noRouteSchemas } },
  });
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  acceptJsonOnly(app);
  answerErrors(app, service.settings.dialect);
  installPipeline(app, service, closing.signal);
  installControl(app, service);
  registerConvai(app, service);
  return app;
}

/** Zod validates, so fastify's schema compilers are not loaded: a faster start. */
function noRouteSchemas(): never {
  throw new Error('Routes of the sandbox have no fastify schemas; check requests with src/sandbox/schemas.');
}

import { fastify, type FastifyInstance } from 'fastify';
import { installControl } from './control/install-control.ts';
import { serveOpenApi } from './openapi/serve-openapi.ts';
import { servePage } from './page/serve-page.ts';
import { serveSockets } from './live/upgrade.ts';
import { serveAgents } from './routes/agents.ts';
import { serveBatchCalling } from './routes/batch-calling.ts';
import { serveBatchCalls } from './routes/batch-calls.ts';
import { serveDeleteNumber } from './routes/delete-number.ts';
import { serveConversationAudio } from './routes/conversation-audio.ts';
import { serveConversations } from './routes/conversations.ts';
import { serveCredentials } from './routes/credentials.ts';
import { serveNumberPages } from './routes/number-pages.ts';
import { servePhoneNumbers } from './routes/phone-numbers.ts';
import type { Service } from './core/service/service.ts';
import { answerErrors, answerUnreadable, answerUnroutable } from './http/error-replies.ts';
import { acceptJsonOnly } from './http/json-bodies.ts';
import { installPipeline } from './http/pipeline.ts';

const longestParameter = 16_384;
const minuteMs = 60_000;
const bodyLimitBytes = 5 * 1024 * 1024;

/**
 * The service over HTTP, not yet listening. A request has to be there, its body included, within `longestRequestMs` of real time; a
 * slower one is cut off no later than after half as long again.
 */
export function createServer(service: Service, longestRequestMs = minuteMs): FastifyInstance {
  const app = fastify({
    http: { headersTimeout: longestRequestMs, connectionsCheckingInterval: longestRequestMs / 2 },
    bodyLimit: bodyLimitBytes,
    forceCloseConnections: true,
    requestTimeout: longestRequestMs,
    // An id of any length that a request line can hold is unknown, not too long.
    routerOptions: { maxParamLength: longestParameter },
    frameworkErrors: answerUnroutable,
    clientErrorHandler: answerUnreadable,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noRouteSchemas, buildSerializer: noRouteSchemas } },
  });
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  acceptJsonOnly(app);
  answerErrors(app);
  installPipeline(app, service, closing.signal);
  installControl(app, service);
  serveOpenApi(app, service.settings);
  servePage(app, service);
  serveAgents(app, service);
  serveConversations(app, service);
  serveConversationAudio(app, service);
  serveCredentials(app, service);
  servePhoneNumbers(app, service);
  serveBatchCalls(app, service);
  serveSockets(app, service);
  if (service.settings.dialect === 'extended') {
    serveDeleteNumber(app, service);
    serveNumberPages(app, service);
    serveBatchCalling(app, service);
  }
  return app;
}

/** Zod checks requests, so the compilers that fastify would load for schemas of its own are left out: it starts the sooner. */
function noRouteSchemas(): never {
  throw new Error('Routes of the sandbox have no fastify schemas; check requests with src/sandbox/schemas.');
}

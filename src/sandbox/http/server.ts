import { fastify, type FastifyInstance } from 'fastify';
import { installControl } from '../control/install-control.ts';
import { serveAgents } from '../routes/agents.ts';
import { serveBatchCalls } from '../routes/batch-calls.ts';
import { serveConversations } from '../routes/conversations.ts';
import { serveCredentials } from '../routes/credentials.ts';
import { servePhoneNumbers } from '../routes/phone-numbers.ts';
import type { Service } from '../service.ts';
import { answerErrors, answerUnreadable, answerUnroutable } from './error-replies.ts';
import { installPipeline } from './pipeline.ts';

const longestParameter = 16_384;
const bodyLimitBytes = 5 * 1024 * 1024;

/** The service over HTTP, not yet listening. */
export function createServer(service: Service): FastifyInstance {
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    forceCloseConnections: true,
    // An id of any length that a request line can hold is unknown, not too long.
    routerOptions: { maxParamLength: longestParameter },
    frameworkErrors: answerUnroutable,
    clientErrorHandler: answerUnreadable,
    exposeHeadRoutes: false,
  });
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  acceptJsonOnly(app);
  answerErrors(app);
  installPipeline(app, service, closing.signal);
  installControl(app, service);
  serveAgents(app, service);
  serveConversations(app, service);
  serveCredentials(app, service);
  servePhoneNumbers(app, service);
  serveBatchCalls(app, service);
  return app;
}

/** JSON or nothing; an empty body counts as none, whatever its content type says. */
function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parseJson(request, body.toString(), done);
  });
}

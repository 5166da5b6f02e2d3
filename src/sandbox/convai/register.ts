import type { FastifyInstance } from 'fastify';
import type { Service } from '../core/service/service.ts';
import { serveRoutes } from '../http/serve-routes.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { createOpenApiDocument } from './openapi/service-document.ts';
import { agentRoutes } from './routes/agents.ts';
import { batchRoutes } from './routes/batch-calling.ts';
import { callRoutes } from './routes/batch-calls.ts';
import { conversationRoutes } from './routes/conversations.ts';
import { leadRoutes } from './routes/outbound-campaign-leads.ts';
import { campaignRoutes } from './routes/outbound-campaigns.ts';
import { numberRoutes } from './routes/phone-numbers.ts';

export function registerConvai(app: FastifyInstance, service: Service): void {
  serveRoutes(app, service, {
    ...agentRoutes(service),
    ...conversationRoutes(service),
    ...numberRoutes(service),
    ...callRoutes(service),
    ...batchRoutes(service),
    ...campaignRoutes(service),
    ...leadRoutes(service),
  });
  // Built on first use, since it is slow.
  let document: OpenApiDocument | undefined;
  app.get('/openapi.json', async () => (document ??= createOpenApiDocument(service.settings)));
}

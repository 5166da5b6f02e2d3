import type { FastifyInstance } from 'fastify';
import type { Service } from '../core/service/service.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { createOpenApiDocument } from './openapi/service-document.ts';
import { serveAgents } from './routes/agents.ts';
import { serveBatchCalling } from './routes/batch-calling.ts';
import { serveBatchCalls } from './routes/batch-calls.ts';
import { serveConversations } from './routes/conversations.ts';
import { serveOutboundCampaigns } from './routes/outbound-campaigns.ts';
import { serveOutboundCall } from './routes/outbound-call.ts';
import { serveFurtherNumbers, servePhoneNumbers } from './routes/phone-numbers.ts';

/** The API of the contract, with its description: one way to reach the service, which another folder may serve in another way. */
export function registerConvai(app: FastifyInstance, service: Service): void {
  serveAgents(app, service);
  serveConversations(app, service);
  servePhoneNumbers(app, service);
  const { dialect } = service.settings;
  if (dialect !== 'published') serveBatchCalls(app, service);
  if (dialect !== 'spec') {
    serveFurtherNumbers(app, service);
    serveBatchCalling(app, service);
    serveOutboundCall(app, service);
    serveOutboundCampaigns(app, service);
  }
  // Made when it is first asked for, for it costs time.
  let document: OpenApiDocument | undefined;
  app.get('/openapi.json', async () => (document ??= createOpenApiDocument(service.settings)));
}

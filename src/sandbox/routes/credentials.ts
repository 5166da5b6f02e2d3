import type { FastifyInstance } from 'fastify';
import { validate } from '../schemas/validate.ts';
import type { Service } from '../service.ts';
import { findAgent } from './agents.ts';
import { serveOperation } from './serve-operation.ts';

export function serveCredentials(app: FastifyInstance, service: Service): void {
  const { schemas, clock, settings } = service;

  serveOperation(app, 'get_signed_url', (request) => {
    const { agent_id: agentId } = validate(schemas.credentialQuery, 'query', request.query);
    findAgent(service, agentId, 'agent_id');
    // The contract promises wss; the sandbox itself speaks no TLS, so the extended dialect gives the address as it is.
    const address = new URL(`${settings.dialect === 'spec' ? 'wss' : 'ws'}://${request.host}/v1/convai/conversation`);
    address.searchParams.set('agent_id', agentId);
    address.searchParams.set(
      'conversation_signature',
      service.state.credentials.issue('signed_url', agentId, clock.now()),
    );
    return { signed_url: address.href };
  });

  serveOperation(app, 'get_token', (request) => {
    const { agent_id: agentId } = validate(schemas.credentialQuery, 'query', request.query);
    findAgent(service, agentId, 'agent_id');
    return { token: service.state.credentials.issue('token', agentId, clock.now()) };
  });
}

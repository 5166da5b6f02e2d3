import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { readCursor, writeCursor } from '../../http/cursor.ts';
import { furtherRoutes } from '../../core/operations.ts';
import { deriveId } from '../../core/random.ts';
import { describeAgent, describeAgentSummary } from '../records/agent-record.ts';
import { completeAgent } from '../../schemas/complete-agent.ts';
import { validate } from '../../schemas/validate.ts';
import { findAgent, missingAgent } from '../../core/service/found.ts';
import type { Service } from '../../core/service/service.ts';
import type { Agent } from '../../core/state/agent.ts';
import { settingsOf, changeAgent, keepMasked } from '../../core/state/change-agent.ts';
import { listAgents, type AgentListing } from '../../core/state/list-agents.ts';
import { pathParameter, serveOperation, readQuery } from '../../http/serve-operation.ts';

export function serveAgents(app: FastifyInstance, service: Service): void {
  const { schemas, clock, settings } = service;
  const describe = (agent: Agent): Record<string, unknown> => describeAgent(agent, service.state.numbers.values(), settings.dialect);

  serveOperation(
    app,
    'create_agent',
    (request) => {
      const input = completeAgent(validate(schemas.createAgent, 'body', request.body));
      keepMasked({}, input.conversation_config);
      const agentId = deriveId('agent', settings.seed, service.state.count('agents'));
      const now = clock.now();
      service.state.addAgent({ agentId, ...settingsOf(input), createdAt: now, updatedAt: now });
      return { agent_id: agentId };
    },
    settings.dialect === 'extended' ? [furtherRoutes.create_agent] : [],
  );

  serveOperation(app, 'list_agents', (request) => {
    const query = readQuery(request, schemas.agentPage);
    const listing: AgentListing = {
      search: query.search ?? null,
      tags: query.tags ?? [],
      archived: query.archived ?? null,
      sortBy: query.sort_by ?? 'created_at',
      descending: query.sort_direction !== 'asc',
    };
    const filter = createHash('sha256').update(JSON.stringify(listing)).digest('base64url').slice(0, 12);
    const list = { list: `agents ${filter}`, generation: service.generation };
    const cursor = readCursor(query.cursor, list);
    const after = cursor === null ? null : { position: cursor.position, name: cursor.key ?? '' };
    const { agents, next } = listAgents(service.state, listing, { after, size: query.page_size });
    return {
      agents: agents.map((agent) => describeAgentSummary(agent, settings.dialect)),
      has_more: next !== null,
      next_cursor: next === null ? null : writeCursor({ ...list, position: next.position, key: next.name }),
    };
  });

  serveOperation(app, 'get_agent', (request) => describe(findAgent(service, pathParameter(request, 'agent_id'))));

  serveOperation(app, 'update_agent', (request) => {
    const agent = findAgent(service, pathParameter(request, 'agent_id'));
    const change = validate(schemas.updateAgent, 'body', request.body);
    // The whole has to be what could have been created, for no single field can tell.
    const whole = validate(schemas.createAgent, 'body', changeAgent(agent, change));
    const updated: Agent = { ...agent, ...settingsOf(completeAgent(whole), agent), updatedAt: clock.now() };
    service.state.agents.set(agent.agentId, updated);
    return describe(updated);
  });

  serveOperation(app, 'delete_agent', (request, reply) => {
    const id = pathParameter(request, 'agent_id');
    if (!service.state.deleteAgent(id)) throw missingAgent(service, id);
    return settings.dialect === 'spec' ? reply.code(204).send() : {};
  });
}

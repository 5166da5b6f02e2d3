import { createHash } from 'node:crypto';
import { factsOf } from '../../core/dialects.ts';
import { deriveId } from '../../core/random.ts';
import { findAgent, missingAgent } from '../../core/service/found.ts';
import type { Service } from '../../core/service/service.ts';
import { type Agent, settingsOf, changeAgent, keepMasked } from '../../core/state/agent.ts';
import { pageOf } from '../../http/cursor.ts';
import type { Handlers } from '../../http/serve-routes.ts';
import { completeAgent } from '../../schemas/complete-agent.ts';
import { validate } from '../../schemas/validate.ts';
import { describeAgent, describeAgentSummary } from '../records/agent-record.ts';
import { confirm } from './conversations.ts';

export function agentRoutes(service: Service): Partial<Handlers> {
  const { schemas, clock, settings } = service;
  const facts = factsOf(settings);
  const describe = (agent: Agent): Record<string, unknown> => describeAgent(agent, service.state.numbers.values(), facts);
  return {
    create_agent: ({ body }) => {
      const input = completeAgent(body());
      keepMasked({}, input.conversation_config);
      const agentId = deriveId('agent', settings.seed, service.state.count('agents'));
      const now = clock.now();
      service.state.addAgent({ agentId, ...settingsOf(input), createdAt: now, updatedAt: now });
      return { agent_id: agentId };
    },

    list_agents: ({ query }) => {
      const { search = null, tags = [], archived = null } = query;
      const descending = query.sort_direction !== 'asc';
      const listing = JSON.stringify({ search, tags, archived, sortBy: query.sort_by, descending });
      const filter = createHash('sha256').update(listing).digest('base64url').slice(0, 12);
      const { items, cursor } = pageOf(
        service.state.agentOrder.map((id) => service.state.agents.get(id)),
        {
          list: { list: `agents ${filter}`, generation: service.generation },
          cursor: query.cursor,
          size: query.page_size,
          ascending: !descending,
          ...(query.sort_by === 'name' && { keyOf: ({ name }: Agent) => name }),
          isWanted: (agent) =>
            agent.name.toLowerCase().includes((search ?? '').toLowerCase()) &&
            (tags.length === 0 || tags.some((tag) => agent.tags.includes(tag))) &&
            (archived === null || (agent.platform.archived === true) === archived),
        },
      );
      return { agents: items.map((agent) => describeAgentSummary(agent, facts)), has_more: cursor !== null, next_cursor: cursor };
    },

    get_agent: ({ id }) => describe(findAgent(service, id('agent_id'))),

    update_agent: ({ id, body }) => {
      const agent = findAgent(service, id('agent_id'));
      // Validates the merged agent: some rules span several fields.
      const whole = validate(schemas.createAgent, 'body', changeAgent(agent, body()));
      const updated: Agent = { ...agent, ...settingsOf(completeAgent(whole), agent), updatedAt: clock.now() };
      service.state.agents.set(agent.agentId, updated);
      return describe(updated);
    },

    delete_agent: ({ id, reply }) => {
      const agentId = id('agent_id');
      if (!service.state.deleteAgent(agentId)) throw missingAgent(service, agentId);
      return confirm(reply, facts);
    },
  };
}

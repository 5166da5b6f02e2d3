import type { FastifyInstance } from 'fastify';
import { readCursor, writeCursor } from '../http/cursor.ts';
import { deriveId } from '../random.ts';
import { describeAgent, describeAgentSummary } from '../records/agent-record.ts';
import type { ConversationConfig } from '../schemas/agent-schemas.ts';
import { refuseField, validate } from '../schemas/validate.ts';
import { notFound, type ServiceError } from '../service-error.ts';
import type { Service } from '../service.ts';
import type { Agent } from '../state/agent.ts';
import { mergeDeep } from '../state/merge-deep.ts';
import { pathParameter, serveOperation } from './serve-operation.ts';

const defaultTtsModel = 'svc_flash_v2';

export function serveAgents(app: FastifyInstance, service: Service): void {
  const { schemas, clock, settings } = service;

  serveOperation(app, 'create_agent', (request) => {
    const input = validate(schemas.createAgent, 'body', request.body);
    const now = clock.now();
    const agent: Agent = {
      agentId: deriveId('agent', settings.seed, service.state.count('agents')),
      name: input.name,
      tags: input.tags ?? [],
      config: completeConfig(input.conversation_config ?? {}),
      platform: input.platform_settings ?? {},
      createdAt: now,
      updatedAt: now,
    };
    service.state.addAgent(agent);
    return { agent_id: agent.agentId };
  });

  serveOperation(app, 'list_agents', (request) => {
    const query = validate(schemas.agentPage, 'query', request.query);
    const start = readCursor(query.cursor, 'agents', service.generation);
    const { agents, next } = pageOfAgents(service, start, query.page_size);
    const cursor =
      next === null ? null : writeCursor({ list: 'agents', generation: service.generation, position: next });
    return {
      agents: agents.map((agent) => describeAgentSummary(agent, settings.dialect)),
      has_more: cursor !== null,
      next_cursor: cursor,
    };
  });

  serveOperation(app, 'get_agent', (request) => {
    const agent = findAgent(service, pathParameter(request, 'agent_id'));
    return describeAgent(agent, service.state.numbers.values(), settings.dialect);
  });

  serveOperation(app, 'update_agent', (request) => {
    const agent = findAgent(service, pathParameter(request, 'agent_id'));
    const input = validate(schemas.updateAgent, 'body', request.body);
    const updated: Agent = {
      ...agent,
      name: input.name ?? agent.name,
      tags: input.tags ?? agent.tags,
      config: completeConfig(mergeDeep(agent.config, input.conversation_config ?? {})),
      platform: mergeDeep(agent.platform, input.platform_settings ?? {}),
      updatedAt: clock.now(),
    };
    service.state.agents.set(agent.agentId, updated);
    return describeAgent(updated, service.state.numbers.values(), settings.dialect);
  });

  serveOperation(app, 'delete_agent', (request, reply) => {
    const id = pathParameter(request, 'agent_id');
    if (!service.state.deleteAgent(id)) throw missing(service, id);
    return settings.dialect === 'spec' ? reply.code(204).send() : {};
  });
}

/** The agent, or 404 naming `param` when the id came in a query or a body. */
export function findAgent(service: Service, id: string, param?: string): Agent {
  const agent = service.state.agents.get(id);
  if (agent === undefined) throw missing(service, id, param);
  return agent;
}

function missing(service: Service, id: string, param?: string): ServiceError {
  if (service.state.wasAgentDeleted(id)) service.conduct.noteDeletedUse('agent', id);
  return notFound('agent', id, param);
}

/** Fills in what the contract gives by default, and holds the whole to the rules that no single field can break. */
function completeConfig(config: ConversationConfig): ConversationConfig {
  const llm = config.agent?.llm;
  if (llm?.model_id === 'custom' && llm.custom_llm?.url === undefined) {
    const loc = ['body', 'conversation_config', 'agent', 'llm', 'custom_llm'];
    throw refuseField(loc, 'Required, with its url, when model_id is "custom".', 'missing');
  }
  return config.tts === undefined ? config : { ...config, tts: { model_id: defaultTtsModel, ...config.tts } };
}

/** Newest first. A position stays what it is while agents come and go. */
function pageOfAgents(
  { state }: Service,
  start: number | null,
  size: number,
): { agents: Agent[]; next: number | null } {
  const agents: Agent[] = [];
  for (let index = start ?? state.agentOrder.length - 1; index >= 0; index -= 1) {
    const agent = state.agents.get(state.agentOrder[index] ?? '');
    if (agent === undefined) continue;
    if (agents.length === size) return { agents, next: index };
    agents.push(agent);
  }
  return { agents, next: null };
}

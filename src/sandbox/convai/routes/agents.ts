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
import { type Agent, settingsOf, changeAgent, keepMasked } from '../../core/state/agent.ts';
import { pathParameter, serveOperation, readQuery } from '../../http/serve-operation.ts';
import type { ServiceState } from '../../core/state/service-state.ts';

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
    settings.dialect !== 'spec' ? [furtherRoutes.create_agent] : [],
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

export interface AgentListing {
  search: string | null;
  tags: readonly string[];
  /** Null for no matter. */
  archived: boolean | null;
  sortBy: 'created_at' | 'name';
  descending: boolean;
}

/** Where a page ended: the position of its last agent in the order of creation, and its name at that time. */
export interface AgentPlace {
  position: number;
  name: string;
}

/** The agents after a place, which may itself be gone: an unchanged agent appears on exactly one page. */
export function listAgents(
  state: ServiceState,
  listing: AgentListing,
  { after, size }: { after: AgentPlace | null; size: number },
): { agents: Agent[]; next: AgentPlace | null } {
  const sign = listing.descending ? -1 : 1;
  const compare = (a: AgentPlace, b: AgentPlace): number => {
    const byName = listing.sortBy === 'name' ? compareText(a.name, b.name) : 0;
    return sign * (byName === 0 ? a.position - b.position : byName);
  };
  const rows: { agent: Agent; place: AgentPlace }[] = [];
  for (const [position, id] of state.agentOrder.entries()) {
    const agent = state.agents.get(id);
    if (agent === undefined || !isWanted(agent, listing)) continue;
    const place = { position, name: agent.name };
    if (after === null || compare(place, after) > 0) rows.push({ agent, place });
  }
  rows.sort((a, b) => compare(a.place, b.place));
  const page = rows.slice(0, size);
  return { agents: page.map(({ agent }) => agent), next: rows.length > size ? (page.at(-1)?.place ?? null) : null };
}

/** The same everywhere, whatever the machine's language. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function isWanted(agent: Agent, { search, tags, archived }: AgentListing): boolean {
  if (search !== null && !agent.name.toLowerCase().includes(search.toLowerCase())) return false;
  if (tags.length > 0 && !tags.some((tag) => agent.tags.includes(tag))) return false;
  return archived === null || (agent.platform.archived === true) === archived;
}

import type { Agent } from './agent.ts';
import type { ServiceState } from './service-state.ts';

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

/**
 * The agents after a place. An agent that stays as it is appears on exactly one page, however many are created and deleted meanwhile:
 * the place is compared with, so it may itself be gone.
 */
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

import type { Call } from '../telephony/call.ts';
import type { Agent, PhoneNumber } from './agent.ts';
import { ConversationStore } from './conversation-store.ts';
import { CredentialStore } from './credential-store.ts';

/** Everything that the service knows; a reset replaces it whole. */
export class ServiceState {
  readonly agents = new Map<string, Agent>();
  /** Ids in the order of creation. Positions never move; ids of deleted agents stay. */
  readonly agentOrder: string[] = [];
  readonly numbers = new Map<string, PhoneNumber>();
  readonly conversations = new ConversationStore();
  readonly credentials = new CredentialStore();
  /** Accepted outbound calls, in the order accepted. */
  readonly calls: Call[] = [];
  readonly #counters = new Map<string, number>();
  readonly #deletedAgents = new Set<string>();

  addAgent(agent: Agent): void {
    this.agents.set(agent.agentId, agent);
    this.agentOrder.push(agent.agentId);
  }

  /** Deletes for good and frees the agent's numbers. False when there is no such agent. */
  deleteAgent(agentId: string): boolean {
    if (!this.agents.delete(agentId)) return false;
    this.#deletedAgents.add(agentId);
    for (const number of this.numbers.values()) {
      if (number.agentId === agentId) number.agentId = null;
    }
    return true;
  }

  wasAgentDeleted(agentId: string): boolean {
    return this.#deletedAgents.has(agentId);
  }

  /** The next number of a series, from 1. */
  count(series: string): number {
    const next = (this.#counters.get(series) ?? 0) + 1;
    this.#counters.set(series, next);
    return next;
  }
}

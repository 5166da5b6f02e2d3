import { completeAgent } from '../../schemas/complete-agent.ts';
import type { Service } from './service.ts';
import { defaultProvider } from '../state/add-number.ts';
import { settingsOf } from '../state/agent-settings.ts';
import type { Fixture } from '../../fixture/fixture.ts';

/** Adds the agents and numbers of a fixture that was checked. */
export function loadFixture({ state, clock }: Service, { agents, numbers }: Pick<Fixture, 'agents' | 'numbers'>): void {
  const now = clock.now();
  for (const { agent_id: agentId, ...input } of agents)
    state.addAgent({ agentId, ...settingsOf(completeAgent(input)), createdAt: now, updatedAt: now });
  for (const { phone_number_id: phoneNumberId, phone_number: phoneNumber, agent_id: agentId, ...facts } of numbers) {
    const outside = { provider: defaultProvider, accountSid: null, sealedToken: null };
    state.addNumber({ phoneNumberId, phoneNumber, agentId, ...facts, ...outside });
  }
}

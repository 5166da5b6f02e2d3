import { completeAgent } from '../../schemas/complete-agent.ts';
import type { AgentInput, PlatformSettings } from '../../schemas/agent-schemas.ts';
import type { Clock } from '../clock/clock.ts';
import type { SandboxSettings } from '../settings/settings.ts';
import type { ServiceState } from '../state/service-state.ts';
import { defaultProvider } from '../state/service-state.ts';
import { settingsOf } from '../state/agent.ts';
import type { Fixture } from '../../fixture/check-fixture.ts';

const optOutItem = { type: 'boolean', description: 'Whether the person asked not to be called again.' } as const;

function platformOf(goal: string, items: NonNullable<PlatformSettings['data_collection']>): PlatformSettings {
  return {
    evaluation: { criteria: [{ id: 'goal_reached', name: 'Goal reached', type: 'prompt', conversation_goal_prompt: goal }] },
    data_collection: { ...items, opt_out: optOutItem },
  };
}

function usualSettings(firstMessage: string, prompt: string): Omit<AgentInput, 'name'> {
  return {
    tags: ['sandbox'],
    conversation_config: {
      tts: { voice_id: 'voice_calm' },
      agent: { first_message: firstMessage, prompt: { prompt }, llm: { temperature: 0.5 } },
    },
  };
}

/** Numbers are from ranges reserved for fiction. */
const usual: Pick<Fixture, 'agents' | 'numbers'> = {
  agents: [
    {
      agent_id: 'agent_reminders',
      name: 'Appointment reminders',
      ...usualSettings(
        'Hello, I am calling about your appointment.',
        'You remind people of an appointment and ask whether they will come.',
      ),
      platform_settings: {
        ...platformOf('The person said whether they will come to the appointment.', {
          appointment: { type: 'string', description: 'Will you come to your appointment?', enum: ['confirmed', 'reschedule', 'declined'] },
        }),
        // The other agent permits no override.
        overrides: { conversation_config_override: { agent: { first_message: true } } },
      },
    },
    {
      agent_id: 'agent_callbacks',
      name: 'Call backs',
      ...usualSettings(
        'Hello, I am calling about your appointment.',
        'You ask whether the call suits the person now, and if not, when to call back.',
      ),
      platform_settings: {
        ...platformOf('The person said whether to call back.', {
          wants_callback: { type: 'boolean', description: 'Shall we call you back at another time?' },
          callback_in: { type: 'integer', description: 'In how many minutes, from 10 to 120, may we call you back?' },
        }),
        overrides: { conversation_config_override: { agent: { first_message: true } } },
      },
    },
    {
      agent_id: 'agent_survey',
      name: 'Satisfaction survey',
      ...usualSettings(
        'Hello, may I ask how satisfied you were with our service?',
        'You ask for a mark from one to five and for the reason.',
      ),
      platform_settings: platformOf('The person gave a mark.', {
        satisfaction: { type: 'integer', description: 'On a scale from one to five, how satisfied were you?' },
        reason: { type: 'string', description: 'What is the main reason for your answer?' },
      }),
    },
  ],
  numbers: [
    usualNumber('pn_main', '+12125550199', 'Main line', 'agent_reminders'),
    usualNumber('pn_second', '+13125550198', 'Second line', 'agent_survey'),
    usualNumber('pn_unverified', '+14155550197', 'Not yet verified', null),
  ],
};

function usualNumber(id: string, number: string, label: string, agentId: string | null): Fixture['numbers'][number] {
  return { phone_number_id: id, phone_number: number, label, type: 'purchased', agent_id: agentId, verified: agentId !== null };
}

interface Seeded {
  state: ServiceState;
  clock: Clock;
}

export function seedService(service: Seeded & { settings: SandboxSettings }): void {
  if (service.settings.seedData) loadFixture(service, usual);
  loadFixture(service, service.settings.fixture);
}

export function loadFixture({ state, clock }: Seeded, { agents, numbers }: Pick<Fixture, 'agents' | 'numbers'>): void {
  const now = clock.now();
  for (const { agent_id: agentId, ...input } of agents)
    state.addAgent({ agentId, ...settingsOf(completeAgent(input)), createdAt: now, updatedAt: now });
  for (const { phone_number_id: phoneNumberId, phone_number: phoneNumber, agent_id: agentId, ...facts } of numbers) {
    const outside = { provider: defaultProvider, accountSid: null };
    state.addNumber({ phoneNumberId, phoneNumber, agentId, ...facts, ...outside });
  }
}

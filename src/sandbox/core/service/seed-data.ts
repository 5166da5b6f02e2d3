import { loadFixture } from './load-fixture.ts';
import type { PlatformSettings } from '../../schemas/agent-schemas.ts';
import type { Service } from './service.ts';
import { defaultProvider } from '../state/add-number.ts';

const optOutItem = { type: 'boolean', description: 'Whether the person asked not to be called again.' } as const;

function platformOf(goal: string, items: NonNullable<PlatformSettings['data_collection']>): PlatformSettings {
  return {
    evaluation: {
      criteria: [{ id: 'goal_reached', name: 'Goal reached', type: 'prompt', conversation_goal_prompt: goal }],
    },
    data_collection: { ...items, opt_out: optOutItem },
  };
}

/** What is there at start. Numbers are from the ranges kept for fiction. */
const seedAgents = [
  {
    agentId: 'agent_reminders',
    name: 'Appointment reminders',
    firstMessage: 'Hello, I am calling about your appointment.',
    prompt: 'You remind people of an appointment and ask whether they will come.',
    platform: platformOf('The person said whether they will come to the appointment.', {
      appointment: {
        type: 'string',
        description: 'Will you come to your appointment?',
        enum: ['confirmed', 'reschedule', 'declined'],
      },
    }),
  },
  {
    agentId: 'agent_survey',
    name: 'Satisfaction survey',
    firstMessage: 'Hello, may I ask how satisfied you were with our service?',
    prompt: 'You ask for a mark from one to five and for the reason.',
    platform: platformOf('The person gave a mark.', {
      satisfaction: { type: 'integer', description: 'On a scale from one to five, how satisfied were you?' },
      reason: { type: 'string', description: 'What is the main reason for your answer?' },
    }),
  },
];

const seedNumbers = [
  {
    phoneNumberId: 'pn_main',
    phoneNumber: '+12125550199',
    label: 'Main line',
    agentId: 'agent_reminders',
    verified: true,
  },
  {
    phoneNumberId: 'pn_second',
    phoneNumber: '+13125550198',
    label: 'Second line',
    agentId: 'agent_survey',
    verified: true,
  },
  {
    phoneNumberId: 'pn_unverified',
    phoneNumber: '+14155550197',
    label: 'Not yet verified',
    agentId: null,
    verified: false,
  },
];

/** What is there at start and after a reset: the usual agents and numbers, or those of a fixture. */
export function seedService(service: Service): void {
  if (service.settings.seedData) addUsual(service);
  loadFixture(service, service.settings.fixture);
}

function addUsual({ state, clock }: Service): void {
  const now = clock.now();
  for (const { agentId, name, firstMessage, prompt, platform } of seedAgents) {
    state.addAgent({
      agentId,
      name,
      tags: ['sandbox'],
      config: {
        tts: { voice_id: 'voice_calm', model_id: 'svc_flash_v2' },
        agent: { first_message: firstMessage, prompt: { prompt }, llm: { temperature: 0.5 } },
      },
      platform,
      createdAt: now,
      updatedAt: now,
    });
  }
  for (const number of seedNumbers) {
    const owned = { type: 'purchased', provider: defaultProvider, accountSid: null, sealedToken: null } as const;
    state.addNumber({ ...number, ...owned });
  }
}

/** A body for each request that the sandbox accepts as it starts. Numbers are from the ranges kept for fiction. */
export const requestExamples = {
  CreateAgentRequest: {
    name: 'Appointment desk',
    tags: ['autumn'],
    conversation_config: {
      tts: { voice_id: 'voice_calm' },
      agent: {
        first_message: 'Hello, I am calling about your appointment.',
        prompt: { prompt: 'You remind people of an appointment and ask whether they will come.' },
        llm: { temperature: 0.3 },
      },
    },
  },
  UpdateAgentRequest: { conversation_config: { agent: { first_message: 'Good morning!' } } },
  ImportPhoneNumberRequest: {
    label: 'Front desk',
    phone_number: '+12125550123',
    telephony_account_sid: 'account-1',
    telephony_auth_token: 'not-a-real-token',
  },
  AssignPhoneNumberRequest: { agent_id: 'agent_reminders' },
  BatchCallsRequest: {
    agent_id: 'agent_reminders',
    from_phone_number_id: 'pn_main',
    calls: [
      {
        to_phone_number: '+12125550100',
        conversation_config_override: { agent: { first_message: 'Hello Ada, this is your reminder.' } },
      },
      { to_phone_number: '+442079460101' },
    ],
  },
};

export type RequestName = keyof typeof requestExamples;

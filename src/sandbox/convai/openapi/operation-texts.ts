import type { OperationName } from '../../core/operations.ts';
import type { ResponseName } from './response-schemas.ts';

export const tags = [
  { name: 'agents', description: 'Operations 1 to 5', last: 5 },
  { name: 'conversations', description: 'Operations 6 to 10', last: 10 },
  { name: 'numbers', description: 'Operations 11 to 14', last: 14 },
] as const;

interface OperationText {
  summary: string;
  description?: string;
  request?: RequestName;
  /** The schema that validates the query. */
  query?: 'agentPage' | 'conversationPage' | 'credentialQuery';
  /** Null: a confirmation. */
  response: ResponseName | null;
  /** Refusals of its own, besides those that every operation, or every one with a body, has. */
  refusals?: readonly (404 | 409)[];
}

const page = 'Newest first. Ask for the next page with `cursor`, from `next_cursor`, until `has_more` is false.';

export const operationTexts: Readonly<Record<OperationName, OperationText>> = {
  create_agent: {
    summary: 'Create an agent',
    description:
      '`conversation_config.tts` needs `voice_id`; its `model_id` defaults to `svc_flash_v2`. `model_id` `custom` of the language model needs `custom_llm`.',
    request: 'CreateAgentRequest',
    response: 'AgentCreated',
  },
  list_agents: { summary: 'List agents', description: page, query: 'agentPage', response: 'AgentList' },
  get_agent: { summary: 'Read an agent', response: 'Agent', refusals: [404] },
  update_agent: {
    summary: 'Change an agent',
    description: 'Only what is sent changes, at any depth. Null clears a field; a list replaces the list.',
    request: 'UpdateAgentRequest',
    response: 'Agent',
    refusals: [404],
  },
  delete_agent: {
    summary: 'Delete an agent',
    description: 'For good. Numbers lose it, and calls to them are not answered until another agent is assigned.',
    response: null,
    refusals: [404],
  },
  get_conversation: { summary: 'Read a conversation', response: 'ConversationRecord', refusals: [404] },
  list_conversations: { summary: 'List conversations', description: page, query: 'conversationPage', response: 'ConversationList' },
  delete_conversation: {
    summary: 'Delete a conversation',
    description: 'For good, with its recording, its transcript and all its data.',
    response: null,
    refusals: [404],
  },
  get_signed_url: {
    summary: 'Get a signed WebSocket address',
    description: 'One for each conversation: it works once, for a short time, and needs no key.',
    query: 'credentialQuery',
    response: 'SignedUrl',
    refusals: [404],
  },
  get_token: {
    summary: 'Get a token for WebRTC',
    description: 'Short-lived; the client passes it when it connects.',
    query: 'credentialQuery',
    response: 'ConversationToken',
    refusals: [404],
  },
  list_phone_numbers: { summary: 'List imported numbers', response: 'PhoneNumberList' },
  import_phone_number: {
    summary: 'Import a number',
    description: "The provider's webhook is configured by this. The auth token is stored encrypted and can never be read.",
    request: 'ImportPhoneNumberRequest',
    response: 'PhoneNumberImported',
    refusals: [409],
  },
  assign_phone_number: {
    summary: 'Assign an agent to a number',
    description: 'Applies to new calls at once.',
    request: 'AssignPhoneNumberRequest',
    response: 'PhoneNumber',
    refusals: [404],
  },
  batch_calls: {
    summary: 'Place a batch of calls',
    description:
      'Dials people, and is not idempotent: after an answer that was lost, the calls may have been placed. Each call makes a conversation of its own. From a number that is not imported and verified the batch is accepted and its calls fail.',
    request: 'BatchCallsRequest',
    response: 'BatchPlaced',
    refusals: [404],
  },
};

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
      { to_phone_number: '+12125550100', conversation_config_override: { agent: { first_message: 'Hello Ada, this is your reminder.' } } },
      { to_phone_number: '+442079460101' },
    ],
  },
};

export type RequestName = keyof typeof requestExamples;

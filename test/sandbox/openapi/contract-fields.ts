import type { OperationName } from '../../../src/sandbox/core/operations.ts';

/** By schema: the contract's tables of resources and of endpoints. Everything else is an assumption. `[]`: items of a list. */
export const contractFields: Readonly<Record<string, readonly string[]>> = {
  CreateAgentRequest: ['name', 'tags', 'conversation_config', ...below('conversation_config', configFields())],
  UpdateAgentRequest: ['conversation_config', ...below('conversation_config', configFields())],
  ImportPhoneNumberRequest: ['label', 'phone_number', 'telephony_account_sid', 'telephony_auth_token'],
  AssignPhoneNumberRequest: ['agent_id'],
  BatchCallsRequest: [
    'agent_id',
    'from_phone_number_id',
    'calls',
    'calls[].to_phone_number',
    'calls[].conversation_config_override',
    ...below('calls[].conversation_config_override', configFields()),
  ],
  AgentCreated: ['agent_id'],
  AgentList: ['agents', 'agents[].agent_id', 'agents[].name', 'agents[].tags', 'has_more'],
  Agent: ['agent_id', 'name', 'tags', 'conversation_config', ...below('conversation_config', configFields()), 'metadata'],
  ConversationRecord: ['conversation_id', 'transcript', 'audio', 'metadata', 'metadata.start_time', 'evaluation_results', 'collected_data'],
  ConversationList: ['conversations', 'conversations[].conversation_id', 'conversations[].metadata', 'conversations[].metadata.start_time'],
  SignedUrl: ['signed_url'],
  ConversationToken: ['token'],
  PhoneNumberList: ['[].phone_number_id', '[].phone_number', '[].label', '[].agent_id'],
  PhoneNumber: ['phone_number_id', 'phone_number', 'label', 'agent_id'],
  PhoneNumberImported: ['phone_number_id'],
  BatchPlaced: ['batch_id', 'calls_initiated'],
};

/** Query parameters that the contract names. */
export const contractParameters: Partial<Record<OperationName, readonly string[]>> = {
  list_conversations: ['agent_id'],
  get_signed_url: ['agent_id'],
  get_token: ['agent_id'],
};

function configFields(): string[] {
  return [
    'tts',
    'tts.voice_id',
    'tts.model_id',
    'agent',
    'agent.first_message',
    'agent.prompt',
    'agent.prompt.prompt',
    'agent.llm',
    'agent.llm.model_id',
    'agent.llm.custom_llm',
    'agent.llm.custom_llm.url',
    'agent.llm.custom_llm.extra_headers',
    'agent.llm.temperature',
  ];
}

function below(prefix: string, fields: readonly string[]): string[] {
  return fields.map((field) => `${prefix}.${field}`);
}

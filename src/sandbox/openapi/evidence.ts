/**
 * What an assumption rests on, where the contract is silent: the public documentation of comparable services (DOC), types that such
 * services publish (SDK), other people's public code (COMM), or nothing but a choice of our own (GUESS).
 */
export type Evidence = 'DOC' | 'SDK' | 'COMM' | 'GUESS';

const config: Readonly<Record<string, Evidence>> = {
  'tts.stability': 'SDK',
  'tts.speed': 'SDK',
  'tts.agent_output_audio_format': 'SDK',
  'agent.prompt.knowledge_base': 'SDK',
  'agent.prompt.tools': 'SDK',
  'agent.llm.custom_llm.model_id': 'SDK',
  'agent.llm.backup_llm_config': 'SDK',
  'agent.llm.backup_llm_config.model_id': 'GUESS',
  'agent.llm.thinking_budget': 'SDK',
  'agent.llm.reasoning_effort': 'SDK',
  'agent.llm.cascade_timeout_seconds': 'SDK',
  'agent.language': 'SDK',
  'agent.dynamic_variables': 'DOC',
  asr: 'SDK',
  turn: 'SDK',
  conversation: 'SDK',
  language_presets: 'SDK',
  vad: 'SDK',
};

const agentSettings: Readonly<Record<string, Evidence>> = {
  ...below('conversation_config.', config),
  platform_settings: 'SDK',
  'platform_settings.analysis': 'GUESS',
  workflow: 'SDK',
};

const phoneNumber: Readonly<Record<string, Evidence>> = {
  assigned_agent: 'SDK',
  provider: 'SDK',
  number_type: 'GUESS',
  supports_inbound: 'GUESS',
  supports_outbound: 'GUESS',
  verified: 'GUESS',
  verification_status: 'GUESS',
};

/**
 * By schema and field, as in the OpenAPI document; a field that is not named rests on what the field around it does. `[]` stands for the
 * items of a list, `{}` for the values of an object whose keys are free.
 */
export const evidence: Readonly<Record<string, Readonly<Record<string, Evidence>>>> = {
  CreateAgentRequest: agentSettings,
  UpdateAgentRequest: { ...agentSettings, name: 'SDK', tags: 'SDK' },
  BatchCallsRequest: {
    ...below('calls[].conversation_config_override.', config),
    'calls[].variables': 'GUESS',
    'calls[].dynamic_variables': 'GUESS',
  },
  AgentList: {
    'agents[].created_at': 'GUESS',
    'agents[].created_at_unix_secs': 'SDK',
    'agents[].voice_id': 'SDK',
    'agents[].archived': 'SDK',
    'agents[].access_info': 'SDK',
    next_cursor: 'DOC',
  },
  Agent: {
    'metadata.created_at': 'GUESS',
    'metadata.updated_at': 'GUESS',
    'metadata.temperature_band': 'GUESS',
    'metadata.created_at_unix_secs': 'SDK',
    'metadata.updated_at_unix_secs': 'SDK',
    knowledge_base: 'GUESS',
    tools: 'GUESS',
    platform_settings: 'SDK',
    workflow: 'SDK',
    phone_numbers: 'SDK',
    ...below('phone_numbers[].', phoneNumber),
    access_info: 'SDK',
  },
  ConversationRecord: {
    'transcript[].speaker': 'GUESS',
    'transcript[].timestamp': 'GUESS',
    'transcript[].text': 'GUESS',
    'transcript[].role': 'DOC',
    'transcript[].time_in_call_secs': 'DOC',
    'transcript[].message': 'DOC',
    'transcript[].interrupted': 'SDK',
    'transcript[].original_message': 'SDK',
    'transcript[].source_medium': 'SDK',
    'transcript[].tool_calls': 'SDK',
    'transcript[].tool_results': 'SDK',
    'transcript[].producing_llm': 'SDK',
    'transcript[].llm_usage': 'SDK',
    'transcript[].conversation_turn_metrics': 'SDK',
    'metadata.end_time': 'GUESS',
    'metadata.duration': 'GUESS',
    'metadata.agent_id': 'GUESS',
    'metadata.start_time_unix_secs': 'DOC',
    'metadata.call_duration_secs': 'DOC',
    'metadata.accepted_time_unix_secs': 'SDK',
    'metadata.queue_wait_secs': 'SDK',
    'metadata.termination_reason': 'SDK',
    'metadata.error': 'SDK',
    'metadata.main_language': 'SDK',
    'metadata.conversation_initiation_source': 'SDK',
    'metadata.usage': 'GUESS',
    'metadata.cost': 'SDK',
    'metadata.cost_fiat': 'SDK',
    'metadata.charging': 'SDK',
    'metadata.phone_call': 'SDK',
    'metadata.batch_call': 'SDK',
    evaluation_results: 'GUESS',
    collected_data: 'GUESS',
    agent_id: 'SDK',
    agent_name: 'SDK',
    status: 'DOC',
    has_audio: 'SDK',
    has_user_audio: 'SDK',
    has_response_audio: 'SDK',
    has_auxiliary_audio: 'SDK',
    message_count: 'GUESS',
    termination_reason: 'GUESS',
    conversation_initiation_client_data: 'SDK',
    analysis: 'DOC',
    'analysis.call_summary_title': 'SDK',
    'analysis.evaluation_criteria_results_list': 'SDK',
    'analysis.data_collection_results_list': 'SDK',
  },
  ConversationList: {
    'conversations[].metadata.end_time': 'GUESS',
    'conversations[].metadata.duration': 'GUESS',
    'conversations[].metadata.agent_id': 'GUESS',
    'conversations[].agent_id': 'SDK',
    'conversations[].agent_name': 'SDK',
    'conversations[].start_time_unix_secs': 'SDK',
    'conversations[].call_duration_secs': 'SDK',
    'conversations[].message_count': 'SDK',
    'conversations[].status': 'DOC',
    'conversations[].call_successful': 'SDK',
    'conversations[].direction': 'SDK',
    'conversations[].termination_reason': 'SDK',
    has_more: 'DOC',
    next_cursor: 'DOC',
  },
  ConversationToken: { conversation_id: 'SDK' },
  PhoneNumberList: below('[].', phoneNumber),
  PhoneNumber: phoneNumber,
  Error: { detail: 'DOC' },
  ValidationError: { detail: 'SDK', 'detail[].input': 'COMM' },
};

/** Of parameters in the query, by operation. */
export const queryEvidence: Readonly<Record<string, Readonly<Record<string, Evidence>>>> = {
  list_agents: {
    cursor: 'DOC',
    page_size: 'DOC',
    search: 'SDK',
    tags: 'SDK',
    archived: 'SDK',
    sort_by: 'SDK',
    sort_direction: 'SDK',
  },
  list_conversations: { cursor: 'DOC', page_size: 'DOC' },
};

function below(prefix: string, fields: Readonly<Record<string, Evidence>>): Record<string, Evidence> {
  return Object.fromEntries(Object.entries(fields).map(([field, label]) => [prefix + field, label]));
}

import type { OperationName } from '../../../src/sandbox/core/operations.ts';

/** A test of the sandbox: its file in `test/sandbox`, and its title as it stands there. */
export type Citation = readonly [file: string, title: string];

const shape: Citation = [
  'openapi/openapi',
  'every answer of every operation fits the %s document, which describes all of it',
];
const example: Citation = [
  'openapi/openapi',
  'every example fits its schema, and the sandbox accepts it in the %s dialect',
];
const fuzzed: Citation = ['fuzz', 'no bent body breaks %s in the %s dialect, and a refused one changes nothing'];
const readBack: Citation = [
  'routes/operations',
  'an agent that was created can be read back, with the default model where tts names none',
];
const patch: Citation = ['routes/operations', 'a PATCH changes only what it sends, at every depth'];
const cleared: Citation = ['routes/agents', 'null takes a field out at any depth in the %s dialect'];
const attached: Citation = ['routes/agents', 'knowledge and tools attached to the prompt are shown with the agent'];
const backups: Citation = ['llm/faults', 'the service picks a backup when the model %s'];
const asked: Citation = [
  'llm/conversations',
  'the model is asked as the contract says: prompt with variables, what was said, temperature, tools and headers',
];
const override: Citation = [
  'llm/conversations',
  "a call's own settings choose the model, its address and its headers for that call alone",
];
const opening: Citation = [
  'core/telephony/phone-network',
  'the first agent turn is the line of the call, else of the agent, with variables filled in',
];
const summary: Citation = ['routes/agents', 'a summary has what upstream promises of it'];
const typed: Citation = [
  'http/typed-clients',
  'answers of the extended dialect have what clients with generated types require',
];
const inner: Citation = [
  'records/conversation-records',
  'the extended dialect serves the contract’s names and the inner fields beside them',
];
const cutOff: Citation = [
  'core/telephony/callees',
  'the transcript of an interrupted turn holds what was heard of it, and no word more',
];
const madeBy: Citation = [
  'records/conversation-records',
  'turns in the extended dialect tell who made them up, from what, and whether they were cut off',
];
const specRecord: Citation = [
  'records/conversation-records',
  'the spec dialect serves nothing but what the contract names',
];
const channels: Citation = [
  'audio/recordings',
  'a recording has the agent on the left, the callee on the right, each when they spoke',
];
const heard: Citation = [
  'core/conversation/talks',
  'thinking is heard as latency, and tokens and cost are told per model',
];
const whoAnswers: Citation = ['core/telephony/phone-network', 'a number ending in %s is %s'];
const token: Citation = ['routes/numbers', 'the provider token is encrypted, and nothing shows it'];
const credential: Citation = ['routes/operations', '%s gives a new credential each time, good once and not for long'];
const importedNumber: Citation = ['routes/numbers', 'an imported number is purchased, verified and without an agent'];
const fourFields: Citation = ['routes/numbers', 'in the spec dialect a number has the four fields of the contract'];
const collects: Citation = ['core/telephony/phone-network', 'an agent that collects other things fills those in'];
const assigned: Citation = [
  'routes/operations',
  'the answer to an assignment is the number as it is listed from then on',
];
const goals: Citation = [
  'core/conversation/assess',
  'a goal is judged by the items that share its words, with a share of them as its score',
];
const ownAssessment: Citation = [
  'llm/assessment',
  "an agent's own model evaluates and collects when the agent says so, asked once for JSON",
];

/** What shows that an operation keeps its rules. */
export const operationTests: Readonly<Record<OperationName, readonly Citation[]>> = {
  create_agent: [readBack, ['routes/agents', 'a temperature of %j is refused on creation']],
  list_agents: [
    ['routes/agents', 'whatever is created and deleted while a list is read, agents that stay are listed once'],
    ['routes/agents', 'a cursor belongs to one list with one filter, and to one life of the service'],
    ['routes/agents', 'the list can be searched, filtered and sorted'],
  ],
  get_agent: [readBack, attached],
  update_agent: [
    patch,
    cleared,
    ['routes/agents', 'two changes at once lose nothing'],
    ['routes/agents', 'lists are replaced whole'],
    ['routes/operations', 'changing to a custom model needs its address in the result'],
  ],
  delete_agent: [
    ['routes/operations', 'deleting an agent is for good and frees its numbers'],
    ['core/telephony/inbound', 'nobody answers where no agent is assigned, or where it was deleted'],
    ['core/telephony/phone-network', 'calls still queued when their agent is deleted fail'],
  ],
  get_conversation: [
    [
      'core/telephony/phone-network',
      'a record goes from initiated over in-progress and processing to done, and its transcript grows',
    ],
    inner,
    specRecord,
  ],
  list_conversations: [
    ['records/conversation-records', 'pages lose and repeat nothing while calls are placed'],
    [
      'records/conversation-records',
      'any mix of deleting, hiding and adding between pages shows every record that was listed throughout exactly once',
    ],
    ['records/conversation-records', 'a cursor of another filter, of before a reset, or of nothing is refused'],
  ],
  delete_conversation: [
    ['routes/operations', 'a deleted conversation is gone from every reading'],
    ['audio/recordings', 'a deleted conversation has no recording any more, also for whoever still has the address'],
  ],
  get_signed_url: [
    credential,
    ['live/sockets', 'a signed address can be opened as it is returned, in either dialect'],
    [
      'live/sockets',
      'a conversation over a signed address begins with metadata and the first message, in text and sound',
    ],
  ],
  get_token: [credential],
  list_phone_numbers: [importedNumber, fourFields],
  import_phone_number: [
    token,
    ['routes/numbers', 'a number can be imported once'],
    ['core/telephony/inbound', 'the webhook that import configures is there, and answers the provider alone'],
  ],
  assign_phone_number: [
    ['routes/operations', 'an imported number can be assigned and reassigned, and its token is nowhere to be read'],
    ['core/telephony/inbound', 'another agent answers from the moment it is assigned'],
  ],
  batch_calls: [
    ['routes/refusals', 'an unknown agent is 404 and queues nothing'],
    ['routes/refusals', 'more calls than a batch may hold are refused, and the limit is named'],
    ['core/telephony/phone-network', 'a batch from %s is accepted, and each of its calls leaves a failed record'],
    override,
    opening,
  ],
};

/** What every body of the name is held against. */
export const schemaTests: Readonly<Record<string, readonly Citation[]>> = {
  CreateAgentRequest: [example, fuzzed],
  UpdateAgentRequest: [example, fuzzed],
  ImportPhoneNumberRequest: [example, fuzzed],
  AssignPhoneNumberRequest: [example, fuzzed],
  BatchCallsRequest: [example, fuzzed],
  AgentCreated: [shape],
  AgentList: [shape],
  Agent: [shape],
  ConversationRecord: [shape],
  ConversationList: [shape],
  SignedUrl: [shape],
  ConversationToken: [shape],
  PhoneNumberList: [shape],
  PhoneNumber: [shape],
  PhoneNumberImported: [shape],
  BatchPlaced: [shape],
  Error: [shape],
  ValidationError: [shape],
};

const config: Readonly<Record<string, readonly Citation[]>> = {
  tts: [['routes/agents', 'a change that would leave %s is refused and changes nothing']],
  'tts.model_id': [readBack],
  'tts.voice_id': [
    ['audio/tones', 'an agent’s pitch depends on its voice_id alone, and nobody it calls sounds like it'],
  ],
  'tts.agent_output_audio_format': [
    ['live/sockets', 'the pieces of sound make up the whole sentence, and the alignment tells every character once'],
  ],
  'agent.first_message': [opening],
  'agent.prompt.prompt': [
    ['core/conversation/talks', 'an agent that collects nothing asks what its prompt tells it to ask'],
    asked,
  ],
  'agent.prompt.knowledge_base': [attached],
  'agent.prompt.tools': [
    attached,
    ['llm/tools', 'a tool with an address is posted to, and the model is given what it answers'],
  ],
  'agent.llm.model_id': [
    ['models/models', 'the refusal of an unknown model lists those there are; a loose sandbox takes any'],
  ],
  'agent.llm.custom_llm': [asked, override],
  'agent.llm.custom_llm.model_id': [
    ['llm/conversations', 'the endpoint is told the name of the model that the agent gives'],
  ],
  'agent.llm.temperature': [asked],
  'agent.llm.backup_llm_config': [backups],
  'agent.llm.thinking_budget': [
    ['llm/conversations', "a thinking budget is heard as a longer pause before the agent's words"],
  ],
  'agent.llm.reasoning_effort': [['models/models', 'a step of a workflow may reason only where it does not talk']],
  'agent.llm.cascade_timeout_seconds': [
    ['models/models', "the settings that count are the agent's under the call's, with defaults for the rest"],
  ],
  'agent.language': [['core/conversation/talks', 'the words that the agent has of its own are in its language']],
  'agent.dynamic_variables': [opening],
  turn: [
    ['live/sockets', 'the agent asks again whenever nobody answers within the turn timeout, but not who is active'],
  ],
  conversation: [['live/sockets', 'a conversation ends after its longest duration']],
  language_presets: [
    ['core/telephony/callees', '0111 speaks Spanish, which the agent says it cannot, unless it has a preset for it'],
  ],
};

const agentSettings: Readonly<Record<string, readonly Citation[]>> = {
  ...below('conversation_config.', config),
  platform_settings: [collects],
  'platform_settings.evaluation': [collects],
  'platform_settings.evaluation.criteria': [collects, goals],
  'platform_settings.analysis': [ownAssessment],
  'platform_settings.archived': [['routes/agents', 'the list can be searched, filtered and sorted']],
  workflow: [['models/models', 'a step of a workflow may reason only where it does not talk']],
};

const number: Readonly<Record<string, readonly Citation[]>> = {
  number_type: [importedNumber],
  supports_inbound: [importedNumber],
  supports_outbound: [importedNumber],
  verified: [importedNumber],
};

const names = { agent_id: [readBack], name: [readBack], tags: [readBack] };

/**
 * What shows that a field is felt, by schema and field; a field that is not named is covered as the one around it. Its name has to stand in
 * the file of the test.
 */
export const fieldTests: Readonly<Record<string, Readonly<Record<string, readonly Citation[]>>>> = {
  CreateAgentRequest: {
    name: [readBack],
    tags: [readBack],
    conversation_config: [readBack],
    ...agentSettings,
    'conversation_config.tts.model_id': [readBack],
  },
  UpdateAgentRequest: {
    conversation_config: [patch, cleared],
    'conversation_config.tts': [patch],
    ...agentSettings,
    tags: [['routes/agents', 'lists are replaced whole']],
  },
  ImportPhoneNumberRequest: {
    label: [['routes/numbers', 'an import without %s is refused']],
    phone_number: [['routes/numbers', 'a number can be imported once']],
    telephony_account_sid: [['routes/numbers', 'an import without %s is refused']],
    telephony_auth_token: [token],
  },
  AssignPhoneNumberRequest: { agent_id: operationTests.assign_phone_number },
  BatchCallsRequest: {
    agent_id: [['routes/refusals', 'an unknown agent is 404 and queues nothing']],
    from_phone_number_id: [
      ['routes/numbers', 'calls from a number that is not verified fail, and go through once it is'],
    ],
    calls: [['routes/refusals', 'a batch with %s is refused whole, naming the field']],
    'calls[].conversation_config_override': [override],
    ...below('calls[].conversation_config_override.', config),
    'calls[].variables': [opening],
    'calls[].dynamic_variables': [opening],
  },
  AgentCreated: { agent_id: [readBack] },
  AgentList: {
    agents: [['routes/operations', 'pages of agents neither lose nor repeat one while others come and go']],
    ...below('agents[].', {
      created_at: [summary],
      created_at_unix_secs: [summary],
      voice_id: [summary],
      archived: [summary],
      access_info: [summary],
    }),
    has_more: [['routes/operations', 'pages of agents neither lose nor repeat one while others come and go']],
    next_cursor: [['routes/operations', 'pages of agents neither lose nor repeat one while others come and go']],
  },
  Agent: {
    ...names,
    conversation_config: [readBack, patch],
    metadata: [['routes/agents', 'a temperature of %s is shown as %s']],
    'metadata.temperature_band': [['routes/agents', 'a temperature of %s is shown as %s']],
    knowledge_base: [attached],
    tools: [attached],
    platform_settings: [
      [
        'routes/agents',
        'what was read can be sent back as a change, and the credentials behind it stay what they were',
      ],
    ],
    workflow: [
      [
        'routes/agents',
        'what was read can be sent back as a change, and the credentials behind it stay what they were',
      ],
    ],
  },
  ConversationRecord: {
    conversation_id: [specRecord],
    transcript: [inner, specRecord],
    'transcript[].interrupted': [madeBy],
    'transcript[].original_message': [cutOff],
    'transcript[].source_medium': [madeBy],
    'transcript[].producing_llm': [madeBy],
    'transcript[].llm_usage': [madeBy],
    'transcript[].conversation_turn_metrics': [heard],
    audio: [channels, ['audio/recordings', 'a recording is there once the call is over, not before']],
    metadata: [inner, specRecord],
    'metadata.termination_reason': [
      ['core/telephony/callees', '0105 says hello and is gone after two seconds, in the middle of the opening line'],
    ],
    'metadata.error': [['llm/faults', 'with no backup a conversation fails when the model %s']],
    'metadata.main_language': [madeBy],
    'metadata.conversation_initiation_source': [madeBy],
    'metadata.usage': [heard],
    'metadata.cost': [heard],
    'metadata.cost_fiat': [heard],
    'metadata.charging': [madeBy],
    'metadata.phone_call': [inner],
    'metadata.phone_call.call_sid': [typed],
    'metadata.phone_call.stream_sid': [typed],
    'metadata.phone_call.call_result': [whoAnswers],
    'metadata.batch_call': [inner],
    evaluation_results: [collects, goals],
    collected_data: [
      collects,
      ['core/conversation/assess', 'whatever is said, the values have the type of their items'],
    ],
    status: [
      [
        'core/telephony/phone-network',
        'a record goes from initiated over in-progress and processing to done, and its transcript grows',
      ],
    ],
    has_audio: [channels],
    has_user_audio: [channels],
    has_response_audio: [channels],
    has_auxiliary_audio: [typed],
    conversation_initiation_client_data: [opening],
    analysis: [inner],
    'analysis.transcript_summary': [madeBy],
  },
  ConversationList: {
    conversations: [
      ['records/conversation-records', 'pages lose and repeat nothing while calls are placed'],
      ['records/conversation-records', 'a list in the spec dialect does not work out what was said'],
    ],
    'conversations[].metadata': [specRecord],
    has_more: [specRecord],
    next_cursor: [['records/conversation-records', 'pages lose and repeat nothing while calls are placed']],
  },
  SignedUrl: { signed_url: operationTests.get_signed_url },
  ConversationToken: { token: operationTests.get_token, conversation_id: [typed] },
  PhoneNumberList: below('[].', {
    phone_number_id: [fourFields],
    phone_number: [fourFields],
    label: [fourFields],
    agent_id: [fourFields],
    ...number,
  }),
  PhoneNumber: {
    phone_number_id: [assigned],
    phone_number: [assigned],
    label: [assigned],
    agent_id: operationTests.assign_phone_number,
    ...number,
  },
  PhoneNumberImported: { phone_number_id: [importedNumber] },
  BatchPlaced: {
    batch_id: [inner],
    calls_initiated: [
      ['faults/faults', 'a batch can be accepted in part: the first calls are queued, and the reply says how many'],
    ],
  },
  Error: {
    'detail.param': [['routes/refusals', 'an unknown agent is 404 and queues nothing']],
  },
  ValidationError: {
    detail: [['routes/refusals', 'a batch with %s is refused whole, naming the field']],
    'detail[].input': [
      ['models/models', 'the refusal of an unknown model lists those there are; a loose sandbox takes any'],
    ],
  },
};

function below(
  prefix: string,
  fields: Readonly<Record<string, readonly Citation[]>>,
): Record<string, readonly Citation[]> {
  return Object.fromEntries(Object.entries(fields).map(([field, tests]) => [prefix + field, tests]));
}

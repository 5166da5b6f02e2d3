/** Serving, OpenAPI, fault names and refusals derive from this table. */
export interface RouteFacts {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** Operation number in the contract; omitted for routes beyond it (gaps A). */
  number?: number;
  /** Served only in dialects with this part; omitted: everywhere. */
  part?: 'contract' | 'further';
  says: string;
  more?: string;
  /** Schema names, if any. */
  query?: string;
  body?: string;
  /** Response schema; omitted: a confirmation. */
  answer?: string;
  /** Alternative to status 200. */
  orStatus?: 201 | 202;
  /** Error statuses besides those of every route, or of every route with a body. */
  refuses?: readonly (404 | 409)[];
  /** Second path, in dialects with further routes. */
  alias?: string;
  /** Operation under which the journal, faults and conduct checks count it. */
  countsAs?: 'batch_calls';
  /** In the published API the request is validated before the key. */
  checkedBeforeKey?: true;
  /** Field of the answer that holds a list, for faults; `[]`: the answer itself. */
  list?: string;
  /** Exempt from faults. */
  unfaulted?: true;
  /** Checks access itself: a signature may replace the key. */
  checksCallers?: true;
}

const agents = '/v1/convai/agents';
const conversations = '/v1/convai/conversations';
const credentials = '/v1/convai/conversation';
const numbers = '/v1/convai/phone-numbers';
const batches = '/v1/convai/batch-calling';
const campaigns = '/v1/convai/outbound-campaigns/campaigns';
const campaign = `${campaigns}/:campaign_id` as const;
const reads = { method: 'GET', part: 'further', refuses: [404] } as const;
const acts = { ...reads, method: 'POST' } as const;
const removes = { ...reads, method: 'DELETE' } as const;
const page = 'Newest first. Ask for the next page with `cursor`, from `next_cursor`, until `has_more` is false.';

/** All routes, the contract's operations first. */
export const routes = {
  create_agent: {
    method: 'POST',
    path: agents,
    number: 1,
    says: 'Create an agent',
    more: '`conversation_config.tts` needs `voice_id`; its `model_id` defaults to `svc_flash_v2`. `model_id` `custom` of the language model needs `custom_llm`.',
    body: 'createAgent',
    answer: 'AgentCreated',
    alias: `${agents}/create`,
  },
  list_agents: {
    method: 'GET',
    path: agents,
    number: 2,
    says: 'List agents',
    more: page,
    query: 'agentPage',
    answer: 'AgentList',
    list: 'agents',
  },
  get_agent: { method: 'GET', path: `${agents}/:agent_id`, number: 3, says: 'Read an agent', answer: 'Agent', refuses: [404] },
  update_agent: {
    method: 'PATCH',
    path: `${agents}/:agent_id`,
    number: 4,
    says: 'Change an agent',
    more: 'Only what is sent changes, at any depth. Null clears a field; a list replaces the list.',
    body: 'updateAgent',
    answer: 'Agent',
    refuses: [404],
  },
  delete_agent: {
    method: 'DELETE',
    path: `${agents}/:agent_id`,
    number: 5,
    says: 'Delete an agent',
    more: 'For good. Numbers lose it, and calls to them are not answered until another agent is assigned.',
    refuses: [404],
  },
  get_conversation: {
    method: 'GET',
    path: `${conversations}/:conversation_id`,
    number: 6,
    says: 'Read a conversation',
    answer: 'ConversationRecord',
    refuses: [404],
  },
  list_conversations: {
    method: 'GET',
    path: conversations,
    number: 7,
    says: 'List conversations',
    more: page,
    query: 'conversationPage',
    answer: 'ConversationList',
    checkedBeforeKey: true,
    list: 'conversations',
  },
  delete_conversation: {
    method: 'DELETE',
    path: `${conversations}/:conversation_id`,
    number: 8,
    says: 'Delete a conversation',
    more: 'For good, with its recording, its transcript and all its data.',
    refuses: [404],
  },
  get_signed_url: {
    method: 'GET',
    path: `${credentials}/get-signed-url`,
    number: 9,
    says: 'Get a signed WebSocket address',
    more: 'One for each conversation: it works once, for a short time, and needs no key.',
    query: 'credentialQuery',
    answer: 'SignedUrl',
    refuses: [404],
    alias: `${credentials}/get_signed_url`,
  },
  get_token: {
    method: 'GET',
    path: `${credentials}/token`,
    number: 10,
    says: 'Get a token for WebRTC',
    more: 'Short-lived; the client passes it when it connects.',
    query: 'credentialQuery',
    answer: 'ConversationToken',
    refuses: [404],
  },
  list_phone_numbers: { method: 'GET', path: numbers, number: 11, says: 'List imported numbers', answer: 'PhoneNumberList', list: '[]' },
  import_phone_number: {
    method: 'POST',
    path: numbers,
    number: 12,
    says: 'Import a number',
    more: "The provider's webhook is configured by this. The auth token is stored encrypted and can never be read.",
    body: 'importPhoneNumber',
    answer: 'PhoneNumberImported',
    refuses: [409],
  },
  assign_phone_number: {
    method: 'PATCH',
    path: `${numbers}/:phone_number_id`,
    number: 13,
    says: 'Assign an agent to a number',
    more: 'Applies to new calls at once.',
    body: 'assignPhoneNumber',
    answer: 'PhoneNumber',
    refuses: [404],
  },
  batch_calls: {
    method: 'POST',
    path: `${numbers}/batch-calls`,
    number: 14,
    part: 'contract',
    says: 'Place a batch of calls',
    more: 'Dials people, and is not idempotent: after an answer that was lost, the calls may have been placed. Each call makes a conversation of its own. From a number that is not imported and verified the batch is accepted and its calls fail.',
    body: 'batchCalls',
    answer: 'BatchPlaced',
    refuses: [404],
  },

  // Served at the `audio` address that the contract has in records.
  recording: {
    method: 'GET',
    path: `${conversations}/:conversation_id/audio`,
    says: 'A recording',
    query: 'recording',
    refuses: [404],
    unfaulted: true,
    checksCallers: true,
  },
  delete_number: { ...removes, path: `${numbers}/:phone_number_id`, says: 'Delete a number', unfaulted: true },
  list_numbers: { ...reads, path: '/v1/convai/v2/phone-numbers', says: 'List numbers by pages', query: 'numberPage', unfaulted: true },
  get_number: { ...reads, path: `${numbers}/:phone_number_id`, says: 'Read a number', unfaulted: true },
  submit_batch: {
    ...acts,
    path: `${batches}/submit`,
    says: 'As operation 14',
    body: 'submitBatch',
    countsAs: 'batch_calls',
    checkedBeforeKey: true,
  },
  list_batches: {
    ...reads,
    path: `${batches}/workspace`,
    says: 'List batches',
    query: 'batchPage',
    checkedBeforeKey: true,
    list: 'batch_calls',
  },
  get_batch: { ...reads, path: `${batches}/:batch_id`, says: 'Read a batch', list: 'recipients' },
  delete_batch: { ...removes, path: `${batches}/:batch_id`, says: 'Cancel and delete a batch' },
  cancel_batch: { ...acts, path: `${batches}/:batch_id/cancel`, says: 'Withdraw calls that wait' },
  retry_batch: { ...acts, path: `${batches}/:batch_id/retry`, says: 'Redial who was not reached' },
  outbound_call: {
    ...acts,
    path: '/v1/convai/twilio/outbound-call',
    says: 'Call one person',
    body: 'outboundCall',
    checkedBeforeKey: true,
  },
  submit_campaign: {
    ...acts,
    path: `${campaigns}/submit`,
    says: 'Call each recipient once',
    body: 'submitCampaign',
    orStatus: 201,
    countsAs: 'batch_calls',
    checkedBeforeKey: true,
  },
  list_campaigns: { ...reads, path: campaigns, says: 'List campaigns', query: 'campaignPage', list: 'campaigns' },
  get_campaign: { ...reads, path: campaign, says: 'Read a campaign' },
  get_campaign_progress: { ...reads, path: `${campaign}/progress`, says: 'Count its leads and calls' },
  list_campaign_calls: { ...reads, path: `${campaign}/calls`, says: 'List its calls', query: 'campaignCallPage', list: 'calls' },
  list_leads: { ...reads, path: `${campaign}/leads`, says: 'List its leads', query: 'leadPage', list: 'leads' },
  get_lead: { ...reads, path: `${campaign}/leads/:lead_id`, says: 'Read a lead' },
  remove_lead: { ...removes, path: `${campaign}/leads/:lead_id`, says: 'Do not call a lead', orStatus: 202 },
  pause_campaign: { ...acts, path: `${campaign}/pause`, says: 'Hold back its calls' },
  resume_campaign: { ...acts, path: `${campaign}/resume`, says: 'Go on with its calls' },
  stop_campaign: { ...acts, path: `${campaign}/stop`, says: 'Withdraw its calls for good', orStatus: 202 },
  pause_campaigns: { ...acts, path: `${campaigns}/pause-all`, says: 'Pause all campaigns' },
  stop_campaigns: { ...acts, path: `${campaigns}/stop-all`, says: 'Stop all campaigns', orStatus: 202 },
} as const satisfies Record<string, RouteFacts>;

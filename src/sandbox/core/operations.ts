/** `spec`: the contract alone; `published`: the API that comparable services publish, alone; `extended`: both. */
export const dialects = ['spec', 'extended', 'published'] as const;
export type Dialect = (typeof dialects)[number];

/** The operations of the service by name, with their numbers in the contract. */
export const operations = {
  create_agent: { number: 1, method: 'POST', path: '/v1/convai/agents' },
  list_agents: { number: 2, method: 'GET', path: '/v1/convai/agents' },
  get_agent: { number: 3, method: 'GET', path: '/v1/convai/agents/:agent_id' },
  update_agent: { number: 4, method: 'PATCH', path: '/v1/convai/agents/:agent_id' },
  delete_agent: { number: 5, method: 'DELETE', path: '/v1/convai/agents/:agent_id' },
  get_conversation: { number: 6, method: 'GET', path: '/v1/convai/conversations/:conversation_id' },
  list_conversations: { number: 7, method: 'GET', path: '/v1/convai/conversations' },
  delete_conversation: { number: 8, method: 'DELETE', path: '/v1/convai/conversations/:conversation_id' },
  get_signed_url: { number: 9, method: 'GET', path: '/v1/convai/conversation/get-signed-url' },
  get_token: { number: 10, method: 'GET', path: '/v1/convai/conversation/token' },
  list_phone_numbers: { number: 11, method: 'GET', path: '/v1/convai/phone-numbers' },
  import_phone_number: { number: 12, method: 'POST', path: '/v1/convai/phone-numbers' },
  assign_phone_number: { number: 13, method: 'PATCH', path: '/v1/convai/phone-numbers/:phone_number_id' },
  batch_calls: { number: 14, method: 'POST', path: '/v1/convai/phone-numbers/batch-calls' },
} as const;

export type OperationName = keyof typeof operations;

export const operationNames = Object.keys(operations) as OperationName[];

export function operationByNumber(number: number): OperationName | undefined {
  return operationNames.find((name) => operations[name].number === number);
}

const batches = '/v1/convai/batch-calling';

const campaigns = '/v1/convai/outbound-campaigns/campaigns';
const campaign = `${campaigns}/:campaign_id`;

/** What is served beyond the contract (gaps A): the schema of the query, for POST of the body, and what it answers instead of 200. */
export const furtherRoutes = {
  recording: { method: 'GET', path: '/v1/convai/conversations/:conversation_id/audio', says: 'A recording', takes: 'recording' },
  create_agent: { method: 'POST', path: '/v1/convai/agents/create', says: 'As operation 1', takes: 'createAgent' },
  get_signed_url: { method: 'GET', path: '/v1/convai/conversation/get_signed_url', says: 'As operation 9', takes: 'credentialQuery' },
  delete_number: { method: 'DELETE', path: '/v1/convai/phone-numbers/:phone_number_id', says: 'Delete a number', takes: 'noQuery' },
  list_numbers: { method: 'GET', path: '/v1/convai/v2/phone-numbers', says: 'List numbers by pages', takes: 'numberPage' },
  get_number: { method: 'GET', path: '/v1/convai/phone-numbers/:phone_number_id', says: 'Read a number', takes: 'noQuery' },
  outbound_call: { method: 'POST', path: '/v1/convai/twilio/outbound-call', says: 'Call one person', takes: 'outboundCall' },
  submit_batch: { method: 'POST', path: `${batches}/submit`, says: 'As operation 14', takes: 'submitBatch' },
  list_batches: { method: 'GET', path: `${batches}/workspace`, says: 'List batches', takes: 'batchPage' },
  get_batch: { method: 'GET', path: `${batches}/:batch_id`, says: 'Read a batch', takes: 'noQuery' },
  delete_batch: { method: 'DELETE', path: `${batches}/:batch_id`, says: 'Cancel and delete a batch', takes: 'noQuery' },
  cancel_batch: { method: 'POST', path: `${batches}/:batch_id/cancel`, says: 'Withdraw calls that wait', takes: null },
  retry_batch: { method: 'POST', path: `${batches}/:batch_id/retry`, says: 'Redial who was not reached', takes: null },
  submit_campaign: { method: 'POST', path: `${campaigns}/submit`, says: 'Call each recipient once', takes: 'submitCampaign', also: 201 },
  list_campaigns: { method: 'GET', path: campaigns, says: 'List campaigns', takes: 'campaignPage' },
  pause_campaigns: { method: 'POST', path: `${campaigns}/pause-all`, says: 'Pause all campaigns', takes: null },
  stop_campaigns: { method: 'POST', path: `${campaigns}/stop-all`, says: 'Stop all campaigns', takes: null, also: 202 },
  get_campaign: { method: 'GET', path: campaign, says: 'Read a campaign', takes: 'noQuery' },
  get_campaign_progress: { method: 'GET', path: `${campaign}/progress`, says: 'Count its leads and calls', takes: 'noQuery' },
  list_campaign_calls: { method: 'GET', path: `${campaign}/calls`, says: 'List its calls', takes: 'campaignCallPage' },
  list_leads: { method: 'GET', path: `${campaign}/leads`, says: 'List its leads', takes: 'leadPage' },
  get_lead: { method: 'GET', path: `${campaign}/leads/:lead_id`, says: 'Read a lead', takes: 'noQuery' },
  remove_lead: { method: 'DELETE', path: `${campaign}/leads/:lead_id`, says: 'Do not call a lead', takes: 'noQuery', also: 202 },
  pause_campaign: { method: 'POST', path: `${campaign}/pause`, says: 'Hold back its calls', takes: null },
  resume_campaign: { method: 'POST', path: `${campaign}/resume`, says: 'Go on with its calls', takes: null },
  stop_campaign: { method: 'POST', path: `${campaign}/stop`, says: 'Withdraw its calls for good', takes: null, also: 202 },
} as const;

export type FurtherRoute = (typeof furtherRoutes)[keyof typeof furtherRoutes];

/** Routes of the published API that faults can be told apart by; what is an alias of an operation goes by the name of that. */
export const faultableRoutes = [
  'list_batches',
  'get_batch',
  'delete_batch',
  'cancel_batch',
  'retry_batch',
  'outbound_call',
  'list_campaigns',
  'get_campaign',
  'get_campaign_progress',
  'list_campaign_calls',
  'list_leads',
  'get_lead',
  'remove_lead',
  'pause_campaign',
  'resume_campaign',
  'stop_campaign',
  'pause_campaigns',
  'stop_campaigns',
] as const;
export type FaultableName = OperationName | (typeof faultableRoutes)[number];

export function faultableRoute(route: FurtherRoute): FaultableName | undefined {
  return faultableRoutes.find((name) => furtherRoutes[name] === route);
}

/** A recording is behind the address that the contract has in records. */
export function furtherRoutesOf(dialect: Dialect): readonly FurtherRoute[] {
  return dialect === 'spec' ? [furtherRoutes.recording] : Object.values(furtherRoutes);
}

/** The published API has no operation 14. */
export function operationsOf(dialect: Dialect): readonly OperationName[] {
  return dialect === 'published' ? operationNames.filter((name) => name !== 'batch_calls') : operationNames;
}

const served = { spec: servedIn('spec'), extended: servedIn('extended'), published: servedIn('published') };

function servedIn(dialect: Dialect) {
  return [...operationsOf(dialect).map((name) => operations[name]), ...furtherRoutesOf(dialect)].map(({ method, path }) => {
    return { method, path, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`) };
  });
}

/** Methods that a path of the service has in this dialect; empty when it does not know the path. */
export function allowedMethods(pathname: string, dialect: Dialect): string[] {
  // It is no phone number there, so that another method would not help.
  if (dialect === 'published' && pathname === operations.batch_calls.path) return [];
  const matching = served[dialect].filter(({ pattern }) => pattern.test(pathname));
  // Fixed paths win over those with a parameter: `DELETE …/batch-calls` means no number with the id `batch-calls`.
  const fixed = matching.filter(({ path }) => path === pathname);
  return [...new Set((fixed.length > 0 ? fixed : matching).map(({ method }) => method))];
}

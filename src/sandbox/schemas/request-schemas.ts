import { z } from 'zod';
import { createAgentSchemas, type ConversationConfig } from './agent-schemas.ts';
import { createCampaignSchemas } from './campaign-schemas.ts';
import { e164, extendedOnly, identifier, objectOf, sourced, variableValues, type SchemaMode } from './building-blocks.ts';

export type CallVariables = z.infer<typeof variableValues>;

export type CallTarget = z.infer<RequestSchemas['batchCalls']>['calls'][number] & {
  /** Upstream batches only: the recipient's id and data for the agent's own model. */
  recipient_id?: string | undefined;
  user_id?: string | undefined;
  custom_llm_extra_body?: Record<string, unknown> | undefined;
  campaign?: CampaignOfCall | undefined;
  client_data?: Record<string, unknown> | undefined;
};

export interface CampaignOfCall {
  readonly campaignId: string;
  readonly leadId: string;
}

export type BatchInput = Omit<z.infer<RequestSchemas['batchCalls']>, 'calls'> & { calls: CallTarget[] };

export interface RequestSettings extends SchemaMode {
  maxCallsPerBatch: number;
  batchCalling: { mostListed: number };
}

export function createRequestSchemas({ dialect, loose, maxCallsPerBatch, batchCalling: { mostListed } }: RequestSettings) {
  const mode = { dialect, loose };
  const agents = createAgentSchemas(mode);
  const target = objectOf(mode, {
    ...sourced('contract', { to_phone_number: e164, conversation_config_override: agents.conversationConfig.optional() }),
    ...sourced('GUESS', { variables: variableValues.optional() }),
    ...extendedOnly(mode, 'GUESS', { dynamic_variables: variableValues.optional() }),
  });
  const calls = z
    .array(target)
    .min(1, 'Must hold at least one call.')
    .max(maxCallsPerBatch, `Must hold at most ${maxCallsPerBatch} calls; send the rest in another batch.`);
  const page = sourced('DOC', {
    cursor: z.string().min(1).optional().describe('`next_cursor` of this list and filter; others are 422.'),
    page_size: z.coerce.number().int().min(1).max(100).default(30),
  });
  const ofAgent = sourced('contract', { agent_id: identifier });
  const text = z.string().min(1, 'Must not be empty.');
  const batchCalling = createBatchCallingSchemas(mode, agents.conversationConfig, maxCallsPerBatch, mostListed);
  const clientData = batchCalling.submitBatch.shape.recipients.element.shape.conversation_initiation_client_data;
  return {
    createAgent: agents.create,
    updateAgent: agents.update,
    noQuery: objectOf(mode, {}),
    agentPage: objectOf(mode, { ...page, ...extendedOnly(mode, 'SDK', agentFilters) }),
    conversationPage: objectOf(mode, {
      ...page,
      ...sourced('contract', { agent_id: identifier.optional() }),
      ...extendedOnly(mode, 'SDK', conversationFilters),
    }),
    numberPage: objectOf(mode, page),
    recording: objectOf(mode, { expires: z.coerce.number().int().optional(), signature: z.string().min(1).optional() }),
    credentialQuery: objectOf(mode, ofAgent),
    importPhoneNumber: objectOf(
      mode,
      sourced('contract', { label: text, phone_number: e164, telephony_account_sid: text, telephony_auth_token: text }),
    ),
    importNumberByAlias: objectOf(mode, {
      label: text,
      phone_number: e164,
      provider: identifier.optional(),
      sid: text,
      token: text,
      agent_id: identifier.nullish(),
      supports_inbound: z.boolean().optional(),
      supports_outbound: z.boolean().optional(),
    }),
    assignPhoneNumber: objectOf(mode, ofAgent),
    batchCalls: objectOf(mode, { ...ofAgent, ...sourced('contract', { from_phone_number_id: identifier, calls }) }),
    ...batchCalling,
    ...createCampaignSchemas(mode, { clientData, telephony: telephonySettings(mode), mostRecipients: maxCallsPerBatch, page }),
  };
}

const agentFilters = {
  search: z.string().max(500).optional(),
  tags: z
    .union([z.string(), z.array(z.string())])
    .transform((tags) => [tags].flat())
    .optional(),
  archived: z
    .enum(['true', 'false'])
    .transform((archived) => archived === 'true')
    .optional(),
  sort_by: z.enum(['created_at', 'name']).default('created_at'),
  sort_direction: z.enum(['asc', 'desc']).default('desc'),
};

function repeated<Item extends z.ZodType>(item: Item) {
  return z
    .union([item, z.array(item)])
    .transform((items) => [items].flat() as z.output<Item>[])
    .optional();
}

const wholeNumber = z.coerce.number().int().min(0).optional();
const phrase = z.string().min(1).max(500);

/** Upstream filters that this service can apply; others are refused, since an unfiltered list looks filtered. */
const conversationFilters = {
  call_start_after_unix: wholeNumber,
  call_start_before_unix: wholeNumber,
  call_duration_min_secs: wholeNumber,
  call_duration_max_secs: wholeNumber,
  call_successful: z.enum(['success', 'failure', 'unknown', 'error']).optional(),
  user_id: phrase.optional(),
  branch_id: phrase.optional(),
  phone_number_ids: repeated(phrase),
  main_languages: repeated(phrase),
  termination_reasons: repeated(phrase),
  exclude_statuses: repeated(z.enum(['initiated', 'in-progress', 'processing', 'done', 'failed'])),
  dynamic_variable_params: repeated(phrase),
  dynamic_variable_filter: phrase.optional(),
  search: phrase.optional(),
  summary_mode: z.enum(['exclude', 'include']).default('exclude'),
  sort_direction: z.enum(['asc', 'desc']).optional(),
};

export type RequestSchemas = ReturnType<typeof createRequestSchemas>;

export function schemaOf(schemas: RequestSchemas, name = 'noQuery'): z.ZodObject {
  return schemas[name as keyof RequestSchemas] as z.ZodObject;
}

const freeForm = z.record(z.string(), z.unknown());
const unixTime = z.number().int().min(0, 'Must be a time in whole seconds since 1970.');

/** How a call is made (gaps A.5); the provider's own settings are stored and shown. */
function telephonySettings(mode: SchemaMode) {
  return objectOf(mode, {
    ringing_timeout_secs: z.number().int().min(1).nullish(),
    twilio_call_recording_enabled: z.boolean().nullish(),
    twilio_machine_detection: z
      .looseObject({ mode: z.enum(['enable', 'detect_message_end']).optional(), actions: z.array(freeForm).optional() })
      .nullish(),
  });
}

/** Upstream's batches (gaps A.5). Fields without a use here are accepted and set aside. */
function createBatchCallingSchemas<Config extends z.ZodType>(
  mode: SchemaMode,
  config: Config,
  maxCallsPerBatch: number,
  mostListed: number,
) {
  const name = z.string().max(500).nullish();
  const names = z.array(identifier).max(100).nullish();
  const clientData = objectOf(mode, {
    dynamic_variables: variableValues.nullish(),
    conversation_config_override: config.nullish(),
    custom_llm_extra_body: freeForm.nullish(),
    user_id: name,
    source_info: objectOf(mode, { source: name, version: name }).nullish(),
    branch_id: name,
    environment: name,
    starting_workflow_node_id: name,
    procedure_ids: names,
    start_procedure_ids: names,
  });
  const recipient = objectOf(mode, {
    id: identifier.nullish(),
    phone_number: e164,
    conversation_initiation_client_data: clientData.nullish(),
  });
  const telephony = telephonySettings(mode).nullish();
  return {
    submitBatch: objectOf(mode, {
      call_name: z.string().min(1, 'Must not be empty.').max(500),
      agent_id: identifier,
      agent_phone_number_id: identifier,
      recipients: z
        .array(recipient)
        .min(1, 'Must hold at least one recipient.')
        .max(maxCallsPerBatch, `Must hold at most ${maxCallsPerBatch} recipients; send the rest in another batch.`),
      scheduled_time_unix: unixTime.nullish(),
      timezone: z.string().max(100).nullish(),
      branch_id: name,
      environment: name,
      telephony_call_config: telephony,
      target_concurrency_limit: z.number().int().min(1).nullish(),
    }),
    outboundCall: objectOf(mode, {
      agent_id: identifier,
      agent_phone_number_id: identifier,
      to_number: e164,
      conversation_initiation_client_data: clientData.nullish(),
      call_recording_enabled: z.boolean().nullish(),
      telephony_call_config: telephony,
    }),
    batchPage: objectOf(mode, {
      limit: z.coerce.number().int().min(1).max(mostListed, `Must be at most ${mostListed}.`).default(Math.min(30, mostListed)),
      last_doc: z.string().min(1).optional(),
      agent_id: identifier.optional(),
    }),
  };
}

export const concealed = '[redacted]';

export function concealHeaders(config: ConversationConfig): ConversationConfig {
  const headers = config.agent?.llm?.custom_llm?.extra_headers;
  if (headers == null) return config;
  const names = Object.fromEntries(Object.keys(headers).map((name) => [name, concealed]));
  const { agent } = config;
  return { ...config, agent: { ...agent, llm: { ...agent?.llm, custom_llm: { ...agent?.llm?.custom_llm, extra_headers: names } } } };
}

export function concealSecrets(variables: CallVariables): CallVariables {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, name.startsWith('secret__') ? concealed : value]));
}

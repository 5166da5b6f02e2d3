import { z } from 'zod';
import { extendedOnly, sourced, type SchemaMode } from '../../schemas/building-blocks.ts';

const id = z.string().min(1);
const instant = z.iso.datetime();
const unixSeconds = z.number().int();
const wholeSeconds = z.number().int().min(0);
const status = z.enum(['initiated', 'in-progress', 'processing', 'done', 'failed']);
const success = z.enum(['success', 'failure', 'unknown']);
const direction = z.enum(['inbound', 'outbound']);

export function createConversationSchemas(mode: SchemaMode) {
  const startTime = sourced('contract', { start_time: instant });
  const baseMetadata = {
    ...startTime,
    ...sourced('GUESS', {
      end_time: instant.optional().describe('There when the call is over.'),
      duration: wholeSeconds.optional().describe('Seconds; there when the call is over.'),
      agent_id: id,
    }),
  };
  const evaluated = {
    result: success,
    score: z.number().min(0).max(1).nullable(),
    feedback: z.string(),
    ...extendedOnly(mode, null, { criteria_id: z.string(), rationale: z.string() }),
  };
  const collected = {
    value: z.unknown(),
    ...extendedOnly(mode, null, { data_collection_id: z.string(), rationale: z.string() }),
  };
  const turn = z.object({
    ...sourced('GUESS', { speaker: z.enum(['agent', 'user']), timestamp: instant, text: z.string() }),
    ...extendedOnly(mode, 'DOC', {
      role: z.enum(['agent', 'user']),
      time_in_call_secs: wholeSeconds,
      message: z.string().nullable(),
    }),
    ...extendedOnly(mode, 'SDK', innerTurn),
  });
  const analysis = z.object({
    call_successful: success,
    transcript_summary: z.string(),
    evaluation_criteria_results: z.record(z.string(), z.object(evaluated)),
    data_collection_results: z.record(z.string(), z.object(collected)),
    ...sourced('SDK', {
      call_summary_title: z.string(),
      evaluation_criteria_results_list: z.array(z.object(evaluated)),
      data_collection_results_list: z.array(z.object(collected)),
    }),
  });
  return {
    record: z.object({
      ...sourced('contract', {
        conversation_id: id,
        transcript: z.array(turn),
        audio: z.string().nullable().describe('Address of the recording; null where there is none.'),
        metadata: z.object({ ...baseMetadata, ...extendedOnly(mode, null, innerMetadata) }),
        evaluation_results: z.record(z.string(), z.object(sourced('GUESS', evaluated))),
        collected_data: z.record(z.string(), z.object(sourced('GUESS', collected))),
      }),
      ...extendedOnly(mode, 'SDK', {
        agent_id: id,
        agent_name: z.string().nullable(),
        has_audio: z.boolean(),
        has_user_audio: z.boolean(),
        has_response_audio: z.boolean(),
        has_auxiliary_audio: z.boolean(),
        conversation_initiation_client_data: z.looseObject({
          dynamic_variables: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
          conversation_config_override: z.looseObject({}),
        }),
      }),
      ...extendedOnly(mode, 'GUESS', { message_count: z.number().int().min(0), termination_reason: z.string() }),
      ...extendedOnly(mode, 'DOC', { status, analysis: analysis.nullable() }),
    }),
    entry: z.object({
      ...sourced('contract', {
        conversation_id: id,
        metadata: z.object(mode.dialect === 'spec' ? startTime : baseMetadata),
      }),
      ...extendedOnly(mode, 'SDK', {
        agent_id: id,
        agent_name: z.string().nullable(),
        start_time_unix_secs: unixSeconds,
        call_duration_secs: wholeSeconds,
        message_count: z.number().int().min(0),
        call_successful: success,
        direction,
        termination_reason: z.string(),
      }),
      ...extendedOnly(mode, 'DOC', { status }),
    }),
  };
}

const tokens = z.object({ tokens: z.number().int().min(0) });
const modelUsage = z.record(z.string(), z.object({ input: tokens, input_cache_read: tokens, output_total: tokens }));

const innerTurn = {
  interrupted: z.boolean().describe('The other side cut in before it was over.'),
  original_message: z.string().optional().describe('Where it was cut off: what was to be said.'),
  source_medium: z.enum(['audio', 'text']),
  tool_calls: z.array(z.looseObject({ request_id: z.string(), tool_name: z.string(), params_as_json: z.string() })),
  tool_results: z.array(z.looseObject({ request_id: z.string(), tool_name: z.string(), is_error: z.boolean() })),
  producing_llm: z.string().nullable().describe('The model that made up the words; null where none did.'),
  llm_usage: z.object({ model_usage: modelUsage }).nullable(),
  conversation_turn_metrics: z
    .object({ metrics: z.record(z.string(), z.object({ elapsed_time: z.number().min(0).describe('Seconds.') })) })
    .nullable(),
};

const usage = z
  .object({
    models: z.record(
      z.string(),
      z.object({
        input_tokens: z.number().int().min(0),
        cached_input_tokens: z.number().int().min(0),
        output_tokens: z.number().int().min(0),
        turns: z.number().int().min(1),
        fallback: z.boolean(),
        billed: z.boolean(),
        cost_usd: z.number().min(0),
      }),
    ),
    cost_usd: z.number().min(0),
  })
  .describe('What the language models were used for so far.');

const innerMetadata = {
  ...sourced('DOC', { start_time_unix_secs: unixSeconds, call_duration_secs: wholeSeconds }),
  ...sourced('GUESS', { usage }),
  ...sourced('SDK', {
    accepted_time_unix_secs: unixSeconds,
    queue_wait_secs: wholeSeconds,
    termination_reason: z.string(),
    error: z.object({ code: z.number().int(), reason: z.string() }).nullable(),
    main_language: z.string(),
    conversation_initiation_source: z.enum(['telephony', 'websocket', 'webrtc']),
    cost: z.number().int().min(0).describe('Credits of a hundredth of a cent.'),
    cost_fiat: z.number().min(0).describe('USD.'),
    charging: z.object({ llm_price: z.number().min(0), llm_charge: z.number().int().min(0), llm_usage: modelUsage }),
    phone_call: z
      .object({
        type: z.string(),
        direction,
        phone_number_id: z.string().nullable(),
        agent_number: z.string().nullable(),
        external_number: z.string(),
        call_sid: id.describe("The telephony provider's id of the call."),
        stream_sid: id.describe("The telephony provider's id of its audio."),
        call_result: z.enum(['answered', 'voicemail', 'busy', 'no_answer', 'failed']).optional(),
      })
      .optional()
      .describe('There when the conversation was a phone call.'),
    batch_call: z.object({ batch_call_id: id, batch_call_recipient_id: id }).optional().describe('There when the call was of a batch.'),
  }),
};

import { z } from 'zod';
import { e164, identifier, objectOf, variableValues, type SchemaMode } from './building-blocks.ts';

const freeForm = z.record(z.string(), z.unknown());
const unixTime = z.number().int().min(0, 'Must be a time in whole seconds since 1970.');

/** Upstream's batches (gaps A.5). What the sandbox has no use for is accepted and kept out of the way. */
export function createBatchCallingSchemas<Config extends z.ZodType>(
  mode: SchemaMode,
  config: Config,
  maxCallsPerBatch: number,
) {
  const clientData = objectOf(mode, {
    dynamic_variables: variableValues.optional(),
    conversation_config_override: config.optional(),
    custom_llm_extra_body: freeForm.optional(),
    user_id: z.string().max(500).optional(),
    source_info: freeForm.optional(),
  });
  const recipient = objectOf(mode, {
    id: identifier.optional(),
    phone_number: e164,
    conversation_initiation_client_data: clientData.optional(),
  });
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
      telephony_call_config: freeForm.nullish(),
      target_concurrency_limit: z.number().int().min(1).nullish(),
    }),
    batchPage: objectOf(mode, {
      limit: z.coerce.number().int().min(1).max(100).default(30),
      last_doc: z.string().min(1).optional(),
      agent_id: identifier.optional(),
    }),
  };
}

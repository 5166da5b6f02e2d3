import { z } from 'zod';
import { createAgentSchemas, type ConversationConfig } from './agent-schemas.ts';
import { createBatchCallingSchemas } from './batch-calling-schemas.ts';
import { e164, extendedOnly, identifier, objectOf, variableValues, type SchemaMode } from './building-blocks.ts';

export type CallVariables = Record<string, string | number | boolean>;

export interface CallTarget {
  to_phone_number: string;
  conversation_config_override?: ConversationConfig | undefined;
  variables?: CallVariables | undefined;
  dynamic_variables?: CallVariables | undefined;
  /** Only of batches in upstream's form: told to the agent's own model. */
  user_id?: string | undefined;
  custom_llm_extra_body?: Record<string, unknown> | undefined;
}

export interface BatchInput {
  agent_id: string;
  from_phone_number_id: string;
  calls: CallTarget[];
}

/** Schemas of every request of the service, in one dialect. */
export function createRequestSchemas(mode: SchemaMode, maxCallsPerBatch: number) {
  const agents = createAgentSchemas(mode);
  const target = objectOf(mode, {
    to_phone_number: e164,
    conversation_config_override: agents.conversationConfig.optional(),
    variables: variableValues.optional(),
    ...extendedOnly(mode, { dynamic_variables: variableValues.optional() }),
  });
  const calls = z
    .array(target)
    .min(1, 'Must hold at least one call.')
    .max(maxCallsPerBatch, `Must hold at most ${maxCallsPerBatch} calls; send the rest in another batch.`);
  const page = { cursor: z.string().min(1).optional(), page_size: z.coerce.number().int().min(1).max(100).default(30) };
  const text = z.string().min(1, 'Must not be empty.');
  return {
    createAgent: agents.create,
    updateAgent: agents.update,
    noQuery: objectOf(mode, {}),
    agentPage: objectOf(mode, { ...page, ...extendedOnly(mode, agentFilters) }),
    conversationPage: objectOf(mode, { ...page, agent_id: identifier.optional() }),
    numberPage: objectOf(mode, page),
    credentialQuery: objectOf(mode, { agent_id: identifier }),
    importNumber: objectOf(mode, {
      label: text,
      phone_number: e164,
      telephony_account_sid: text,
      telephony_auth_token: text,
    }),
    importNumberByAlias: objectOf(mode, {
      label: text,
      phone_number: e164,
      provider: identifier.optional(),
      sid: text,
      token: text,
      agent_id: identifier.optional(),
    }),
    assignNumber: objectOf(mode, { agent_id: identifier }),
    batch: objectOf(mode, { agent_id: identifier, from_phone_number_id: identifier, calls }) as z.ZodType<BatchInput>,
    ...createBatchCallingSchemas(mode, agents.conversationConfig, maxCallsPerBatch),
  };
}

/** Of the list of agents, as upstream has them (gaps A.2). */
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

export type RequestSchemas = ReturnType<typeof createRequestSchemas>;

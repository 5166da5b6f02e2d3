import { z } from 'zod';
import { createAgentSchemas, type ConversationConfig } from './agent-schemas.ts';
import { e164, extendedOnly, identifier, objectOf, variableValues, type SchemaMode } from './building-blocks.ts';

export type CallVariables = Record<string, string | number | boolean>;

export interface CallTarget {
  to_phone_number: string;
  conversation_config_override?: ConversationConfig | undefined;
  variables?: CallVariables | undefined;
  dynamic_variables?: CallVariables | undefined;
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
  return {
    createAgent: agents.create,
    updateAgent: agents.update,
    noQuery: objectOf(mode, {}),
    agentPage: objectOf(mode, page),
    conversationPage: objectOf(mode, { ...page, agent_id: identifier.optional() }),
    credentialQuery: objectOf(mode, { agent_id: identifier }),
    importNumber: objectOf(mode, {
      label: z.string().min(1, 'Must not be empty.'),
      phone_number: e164,
      telephony_account_sid: z.string().min(1, 'Must not be empty.'),
      telephony_auth_token: z.string().min(1, 'Must not be empty.'),
    }),
    assignNumber: objectOf(mode, { agent_id: identifier }),
    batch: objectOf(mode, { agent_id: identifier, from_phone_number_id: identifier, calls }) as z.ZodType<BatchInput>,
  };
}

export type RequestSchemas = ReturnType<typeof createRequestSchemas>;

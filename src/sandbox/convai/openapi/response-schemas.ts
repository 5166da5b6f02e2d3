import { z } from 'zod';
import { createAgentSchemas } from '../../schemas/agent-schemas.ts';
import { extendedOnly, sourced, type Dialect, type SchemaMode } from '../../schemas/building-blocks.ts';
import { createConversationSchemas } from './conversation-schemas.ts';

const id = z.string().min(1);
const seconds = z.number().int();

/**
 * Schemas of every answer, in one dialect. An object stands for all that the sandbox sends there, `looseObject` for what callers fill
 * themselves; readers of either should bear further fields.
 */
export function createResponseSchemas(dialect: Dialect) {
  const mode: SchemaMode = { dialect, loose: false };
  const phoneNumber = createPhoneNumberSchema(mode);
  const agent = createAgentAnswers(mode, phoneNumber);
  const { record, entry } = createConversationSchemas(mode);
  return {
    AgentCreated: z.object(sourced('contract', { agent_id: id })),
    AgentList: z.object({
      ...sourced('contract', { agents: z.array(agent.summary), has_more: z.boolean() }),
      ...sourced('DOC', { next_cursor: z.string().nullable() }),
    }),
    Agent: agent.full,
    ConversationRecord: record,
    ConversationList: z.object({
      ...sourced('contract', { conversations: z.array(entry) }),
      ...sourced('DOC', { has_more: z.boolean(), next_cursor: z.string().nullable() }),
    }),
    SignedUrl: z.object(
      sourced('contract', {
        signed_url: z
          .string()
          .regex(/^wss?:\/\//)
          .describe('Single-use and short-lived: a credential. `ws` where the sandbox is reached without TLS.'),
      }),
    ),
    ConversationToken: z.object({
      ...sourced('contract', { token: z.string().min(1).describe('Short-lived: a credential.') }),
      ...extendedOnly(mode, 'SDK', { conversation_id: id.describe('Of the conversation that the token opens.') }),
    }),
    PhoneNumberList: z.array(phoneNumber),
    PhoneNumber: phoneNumber,
    PhoneNumberImported: z.object(sourced('contract', { phone_number_id: id })),
    BatchPlaced: z.object(
      sourced('contract', {
        batch_id: id,
        calls_initiated: z.number().int().min(0).describe('Calls that were queued.'),
      }),
    ),
    Confirmation: z.object({}),
    Error: errorSchema,
    ValidationError: validationErrorSchema,
  };
}

export type ResponseName = keyof ReturnType<typeof createResponseSchemas>;

/** As it was sent, with whatever else it has. */
const { conversationConfig } = createAgentSchemas({ dialect: 'spec', loose: true });

function createAgentAnswers(mode: SchemaMode, phoneNumber: z.ZodType) {
  const names = sourced('contract', { agent_id: id, name: z.string(), tags: z.array(z.string()) });
  const instant = z.iso.datetime();
  return {
    summary: z.object({
      ...names,
      ...sourced('GUESS', { created_at: instant }),
      ...extendedOnly(mode, 'SDK', {
        created_at_unix_secs: seconds,
        voice_id: z.string().describe('Empty where none is set.'),
        archived: z.boolean(),
        access_info: accessInfo,
      }),
    }),
    full: z.object({
      ...names,
      ...sourced('contract', {
        conversation_config: conversationConfig,
        metadata: z.looseObject({
          ...sourced('GUESS', {
            created_at: instant,
            updated_at: instant,
            temperature_band: z.enum(['Low', 'Medium', 'High']).describe('Of the temperature that counts, 0.5 where none is set.'),
          }),
          ...extendedOnly(mode, 'SDK', { created_at_unix_secs: seconds, updated_at_unix_secs: seconds }),
        }),
      }),
      ...sourced('GUESS', { knowledge_base: z.array(z.looseObject({})), tools: z.array(z.looseObject({})) }),
      ...extendedOnly(mode, 'SDK', {
        platform_settings: z.looseObject({}),
        workflow: z
          .looseObject({
            edges: z.looseObject({}),
            nodes: z.looseObject({}),
            prevent_subagent_loops: z.boolean(),
          })
          .optional()
          .describe('There when one is set.'),
        phone_numbers: z.array(phoneNumber),
        access_info: accessInfo,
      }),
    }),
  };
}

const accessInfo = z.object({
  is_creator: z.boolean(),
  creator_name: z.string(),
  creator_email: z.string(),
  role: z.string(),
});

function createPhoneNumberSchema(mode: SchemaMode) {
  return z.object({
    ...sourced('contract', {
      phone_number_id: id,
      phone_number: z.string(),
      label: z.string(),
      agent_id: z.string().nullable().describe('Null when no agent is assigned.'),
    }),
    ...extendedOnly(mode, 'SDK', {
      assigned_agent: z.object({ agent_id: id, agent_name: z.string() }).nullable(),
      provider: z.string(),
    }),
    ...extendedOnly(mode, 'GUESS', {
      number_type: z.enum(['purchased', 'verified_caller_id']),
      supports_inbound: z.boolean(),
      supports_outbound: z.boolean(),
      verified: z.boolean(),
      verification_status: z.enum(['verified', 'unverified']),
    }),
  });
}

const errorSchema = z.object(
  sourced('DOC', {
    detail: z.object({
      type: z.string(),
      code: z.string().describe('For programs.'),
      message: z.string().describe('For people: what is wrong and what to do.'),
      status: z.string().describe('Repeats code, for older clients.'),
      request_id: z.string(),
      param: z.string().optional(),
    }),
  }),
);

const validationErrorSchema = z.object(
  sourced('SDK', {
    detail: z
      .array(
        z.object({
          loc: z.array(z.union([z.string(), z.number()])).describe('Where in the request, such as ["body", "name"].'),
          msg: z.string(),
          type: z.string(),
          ...sourced('COMM', {
            input: z.unknown().optional().describe('What was received there, unless it is a secret.'),
          }),
        }),
      )
      .min(1),
  }),
);

import { z } from 'zod';
import { createAgentSchemas } from '../../schemas/agent-schemas.ts';
import { factsOf } from '../../core/dialects.ts';
import { extendedOnly, sourced, type SchemaMode } from '../../schemas/building-blocks.ts';

const id = z.string().min(1);
const instant = z.iso.datetime();
const seconds = z.number().int();
const names = sourced('contract', { agent_id: id, name: z.string(), tags: z.array(z.string()) });

/** Response schemas of one dialect; extra record fields of comparable services stay open. */
export function createResponseSchemas(mode: SchemaMode) {
  const { further } = factsOf(mode);
  const open = (shape: z.ZodRawShape) => (further ? z.looseObject(shape) : z.object(shape));
  const phoneNumber = open({
    ...sourced('contract', { phone_number_id: id, phone_number: z.string(), label: z.string() }),
    ...sourced('contract', { agent_id: z.string().nullable().describe('Null when no agent is assigned.') }),
    ...extendedOnly(mode, 'GUESS', { number_type: z.enum(['purchased', 'verified_caller_id']), verified: z.boolean() }),
  });
  return {
    AgentCreated: z.object(sourced('contract', { agent_id: id })),
    AgentList: z.object({
      ...sourced('contract', { agents: z.array(open({ ...names, ...sourced('GUESS', { created_at: instant }) })), has_more: z.boolean() }),
      ...sourced('DOC', { next_cursor: z.string().nullable() }),
    }),
    Agent: open({
      ...names,
      ...sourced('contract', { conversation_config: conversationConfig, metadata: agentMetadata }),
      ...sourced('GUESS', { knowledge_base: z.array(z.looseObject({})), tools: z.array(z.looseObject({})) }),
      ...extendedOnly(mode, 'SDK', { platform_settings: z.looseObject({}), phone_numbers: z.array(phoneNumber) }),
    }),
    ...createConversationSchemas(mode, open),
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
      sourced('contract', { batch_id: id, calls_initiated: z.number().int().min(0).describe('Calls that were queued.') }),
    ),
    Confirmation: z.object({}),
    Error: errorSchema,
    ValidationError: validationErrorSchema,
  };
}

const { conversationConfig } = createAgentSchemas({ dialect: 'spec', loose: true });

const agentMetadata = z.looseObject(
  sourced('GUESS', {
    created_at: instant,
    updated_at: instant,
    temperature_band: z.enum(['Low', 'Medium', 'High']).describe('Of the temperature that counts, 0.5 where none is set.'),
  }),
);

/** A conversation as read (operation 6) and as listed (operation 7). */
function createConversationSchemas(mode: SchemaMode, open: (shape: z.ZodRawShape) => z.ZodType) {
  const startTime = sourced('contract', { start_time: instant });
  const metadata = {
    ...startTime,
    ...sourced('GUESS', {
      end_time: instant.optional().describe('There when the call is over.'),
      duration: seconds.min(0).optional().describe('Seconds; there when the call is over.'),
      agent_id: id,
    }),
  };
  const evaluated = { result: z.enum(['success', 'failure', 'unknown']), score: z.number().min(0).max(1).nullable(), feedback: z.string() };
  const turn = open(sourced('GUESS', { speaker: z.enum(['agent', 'user']), timestamp: instant, text: z.string() }));
  const status = extendedOnly(mode, 'DOC', { status: z.enum(['initiated', 'in-progress', 'processing', 'done', 'failed']) });
  const entry = sourced('contract', { conversation_id: id, metadata: open(factsOf(mode).further ? metadata : startTime) });
  return {
    ConversationRecord: open({
      ...sourced('contract', {
        conversation_id: id,
        transcript: z.array(turn),
        audio: z.string().nullable().describe('Address of the recording; null where there is none.'),
        metadata: open(metadata),
        evaluation_results: z.record(z.string(), open(sourced('GUESS', evaluated))),
        collected_data: z.record(z.string(), open(sourced('GUESS', { value: z.unknown() }))),
      }),
      ...status,
    }),
    ConversationList: z.object({
      ...sourced('contract', { conversations: z.array(open({ ...entry, ...status })) }),
      ...sourced('DOC', { has_more: z.boolean(), next_cursor: z.string().nullable() }),
    }),
  };
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
          ...sourced('COMM', { input: z.unknown().optional().describe('What was received there, unless it is a secret.') }),
        }),
      )
      .min(1),
  }),
);

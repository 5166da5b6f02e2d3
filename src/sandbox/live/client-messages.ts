import { z } from 'zod';
import { isNestedDeeper, mostLevels } from '../http/json-text.ts';
import { createAgentSchemas } from '../schemas/agent-schemas.ts';
import { objectOf, variableValues, type SchemaMode } from '../schemas/building-blocks.ts';

/** Why a socket conversation ends: codes of `error` events and close frames (gaps A.9). */
export type MistakeKind =
  | 'invalid_message'
  | 'missing_fields'
  | 'unknown_message_type'
  | 'override_error'
  | 'missing_dynamic_variable'
  | 'rate_limit_exceeded'
  | 'concurrency_limit_exceeded'
  | 'agent_not_found';

/** Closes with 1008. The message never contains a secret. */
export class ClientMistake extends Error {
  override readonly name = 'ClientMistake' as const;
  readonly kind: MistakeKind;

  constructor(kind: MistakeKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

const longestText = 20_000;
const text = z.string().max(longestText);
const freeForm = z.record(z.string(), z.unknown());

/** Client messages (gaps A.9) by `type`; audio has none. */
function createSchemas(mode: SchemaMode) {
  const of = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
    objectOf(mode, { type: z.literal(type), ...shape });
  return {
    conversation_initiation_client_data: of('conversation_initiation_client_data', {
      // The published Python client sends `text_only` here; it is ignored.
      conversation_config_override: createAgentSchemas(mode).conversationConfig.extend({ text_only: z.boolean().optional() }).optional(),
      custom_llm_extra_body: freeForm.optional(),
      dynamic_variables: variableValues.optional(),
      user_id: z.string().max(500).nullish(),
      source_info: freeForm.nullish(),
      // Accepted and ignored: tools are never mocked here.
      tool_mock_config: z.unknown().optional(),
    }),
    pong: of('pong', { event_id: z.number().int() }),
    user_message: of('user_message', { text: text.min(1, 'Must not be empty.') }),
    user_activity: of('user_activity', {}),
    contextual_update: of('contextual_update', { text, context_id: z.string().max(500).nullish() }),
    feedback: of('feedback', { event_id: z.number().int().nullish(), score: z.enum(['like', 'dislike']) }),
    client_tool_result: of('client_tool_result', {
      tool_call_id: z.string().min(1),
      result: z.unknown(),
      is_error: z.boolean().default(false),
    }),
    multimodal_message: of('multimodal_message', { text: text.min(1, 'Files are not taken: give a text.') }),
    user_audio_chunk: objectOf(mode, { user_audio_chunk: z.base64('Must be base64.') }).transform((chunk) => ({
      type: 'user_audio_chunk' as const,
      ...chunk,
    })),
  };
}

type Schemas = ReturnType<typeof createSchemas>;
type MessageType = keyof Schemas;
export type ClientMessage = { [Type in MessageType]: z.output<Schemas[Type]> }[MessageType];
export type Initiation = z.output<Schemas['conversation_initiation_client_data']>;

/** The reader throws `ClientMistake`; null: an unknown type that is let pass. */
export function createMessageReader(mode: SchemaMode): (frame: string) => ClientMessage | null {
  const schemas = createSchemas(mode);
  return (frame) => {
    const value = readObject(frame);
    const type = typeOf(value);
    if (!Object.hasOwn(schemas, type)) {
      if (mode.loose) return null;
      const known = Object.keys(schemas).join(', ');
      throw new ClientMistake('unknown_message_type', `type is "${shorten(type)}"; it must be one of ${known}.`);
    }
    const parsed = schemas[type as MessageType].safeParse(value, { reportInput: true });
    if (parsed.success) return parsed.data;
    throw mistakeIn(type, parsed.error.issues);
  };
}

function readObject(frame: string): Record<string, unknown> {
  if (isNestedDeeper(frame, mostLevels))
    throw new ClientMistake('invalid_message', `The message is nested more than ${mostLevels} levels deep.`);
  let value: unknown;
  try {
    value = JSON.parse(frame, refuseProto);
  } catch (error) {
    if (error instanceof ClientMistake) throw error;
    throw new ClientMistake('invalid_message', 'The message is not JSON.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ClientMistake('invalid_message', 'The message is not a JSON object.');
}

function refuseProto(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new ClientMistake('invalid_message', 'The message has a field __proto__; leave it out.');
  return value;
}

function typeOf(value: Record<string, unknown>): string {
  if (typeof value.type === 'string') return value.type;
  if (value.type === undefined && Object.hasOwn(value, 'user_audio_chunk')) return 'user_audio_chunk';
  throw new ClientMistake('missing_fields', 'type is missing; only a message with user_audio_chunk has none.');
}

/** Values are omitted: some are audio, some secrets. */
function mistakeIn(type: string, issues: readonly z.core.$ZodIssue[]): ClientMistake {
  const [issue] = issues;
  const field = issue?.path.map(String).join('.') ?? '';
  if (issue !== undefined && issue.code !== 'unrecognized_keys' && issue.input === undefined)
    return new ClientMistake('missing_fields', `${type}: ${field} is missing.`);
  const kind = field.startsWith('conversation_config_override') ? 'override_error' : 'invalid_message';
  if (issue?.code === 'unrecognized_keys') {
    const path = [...issue.path.map(String), issue.keys[0]].join('.');
    return new ClientMistake(kind, `${type}: ${shorten(path)} is not known here; leave it out.`);
  }
  return new ClientMistake(kind, `${type}: ${field}: ${issue?.message ?? 'not acceptable'}`);
}

function shorten(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}

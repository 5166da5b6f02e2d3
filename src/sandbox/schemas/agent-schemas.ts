import { z } from 'zod';
import { extendedOnly, identifier, objectOf, sourced, type SchemaMode } from './building-blocks.ts';
import { llmSettings, workflowSettings } from './llm-settings.ts';

/** Audio formats (gaps A.9): little-endian 16-bit PCM at the named rate, or µ-law at 8 kHz; one channel. */
export const audioFormats = ['pcm_8000', 'pcm_16000', 'pcm_22050', 'pcm_24000', 'pcm_44100', 'pcm_48000', 'ulaw_8000'] as const;

export type AudioFormat = (typeof audioFormats)[number];

export function rateOf(format: AudioFormat): number {
  return Number(format.slice(format.indexOf('_') + 1));
}

/** A knowledge document: stored and shown, but the sandbox does not know its content. */
export const knowledgeDocument = z.looseObject({
  id: identifier,
  type: z.enum(['file', 'url', 'text', 'folder']).optional(),
  name: z.string().max(500).optional(),
  usage_mode: z.enum(['auto', 'prompt']).optional(),
});

/** A tool of the agent's model. Fields of one tool kind only are stored as they are. */
const tool = z.looseObject({
  type: z.enum(['client', 'webhook', 'system'], { error: 'Must be client, webhook or system.' }),
  name: z.string().regex(/^[\w-]{1,64}$/, 'Must be 1 to 64 letters, digits, underscores or hyphens.'),
  description: z.string().max(10_000).optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
});

export const agentTools = z.array(tool).superRefine((tools, context) => {
  const seen = new Set<string>();
  for (const [index, { name }] of tools.entries()) {
    if (seen.has(name)) context.addIssue({ code: 'custom', path: [index, 'name'], message: 'Another tool has this name.', input: name });
    seen.add(name);
  }
});

const freeForm = z.record(z.string(), z.unknown());

/** Stored and shown; `agent.llm` names the model in use. */
function keptOfModel() {
  return {
    llm: identifier.nullish(),
    temperature: z.number().min(0).max(1).nullish(),
    max_tokens: z.number().int().nullish(),
    reasoning_effort: identifier.nullish(),
    thinking_budget: z.number().int().nullish(),
    tool_ids: z.array(identifier).nullish(),
    built_in_tools: freeForm.nullish(),
    mcp_server_ids: z.array(identifier).nullish(),
    native_mcp_server_ids: z.array(identifier).nullish(),
    ignore_default_personality: z.boolean().nullish(),
    rag: freeForm.nullish(),
    timezone: z.string().max(100).nullish(),
  };
}

function configSettings(mode: SchemaMode) {
  const prompt = objectOf(mode, {
    ...sourced('contract', { prompt: z.string().optional() }),
    ...extendedOnly(mode, 'SDK', {
      knowledge_base: z.array(knowledgeDocument).optional(),
      tools: agentTools.optional(),
      ...keptOfModel(),
    }),
  });
  const agent = objectOf(mode, {
    ...sourced('contract', { first_message: z.string().optional(), prompt: prompt.optional(), llm: llmSettings(mode).optional() }),
    ...extendedOnly(mode, 'SDK', { language: z.string().optional() }),
    ...extendedOnly(mode, 'DOC', { dynamic_variables: freeForm.optional() }),
  });
  const tts = objectOf(mode, {
    ...sourced('contract', { voice_id: identifier.optional(), model_id: identifier.optional() }),
    ...extendedOnly(mode, 'SDK', {
      stability: z.number().optional(),
      speed: z.number().optional(),
      agent_output_audio_format: z.enum(audioFormats).optional(),
    }),
  });
  return objectOf(mode, {
    ...sourced('contract', { tts: tts.optional(), agent: agent.optional() }),
    ...extendedOnly(mode, 'SDK', {
      asr: freeForm.optional(),
      turn: freeForm.optional(),
      conversation: freeForm.optional(),
      language_presets: freeForm.optional(),
      vad: freeForm.optional(),
    }),
  });
}

export type ConversationConfig = z.infer<ReturnType<typeof configSettings>>;

const evaluationCriterion = z.looseObject({ id: identifier, name: z.string().optional(), conversation_goal_prompt: z.string().optional() });
const collectionItem = z.looseObject({
  type: z.enum(['string', 'boolean', 'integer', 'number']),
  description: z.string().optional(),
  enum: z.array(z.string()).min(1).optional(),
});

const platformSettings = z.looseObject({
  evaluation: z.looseObject({ criteria: z.array(evaluationCriterion).optional() }).optional(),
  data_collection: z.record(identifier, collectionItem).optional(),
  archived: z.boolean().optional(),
});
export type PlatformSettings = z.infer<typeof platformSettings>;
export type CollectionItem = z.infer<typeof collectionItem>;
export type Workflow = z.infer<ReturnType<typeof workflowSettings>>;

export type AgentInput = z.infer<ReturnType<typeof createAgentSchemas>['create']>;

export interface AgentChange {
  name?: string | undefined;
  tags?: string[] | null | undefined;
  conversation_config?: object | null | undefined;
  platform_settings?: object | null | undefined;
  workflow?: object | null | undefined;
}

export function createAgentSchemas(mode: SchemaMode) {
  const config = configSettings(mode);
  const name = z.string().min(1, 'Must not be empty.').max(500);
  const tags = z.array(z.string().max(200)).max(100);
  const workflow = workflowSettings(mode);
  const create = objectOf(mode, {
    ...sourced('contract', { name, tags: tags.optional(), conversation_config: config.optional() }),
    ...extendedOnly(mode, 'SDK', { platform_settings: platformSettings.optional(), workflow: workflow.optional() }),
  });
  const change = objectOf(mode, {
    ...sourced('contract', { conversation_config: clearable(config).nullish() }),
    ...extendedOnly(mode, 'SDK', {
      name: name.optional(),
      tags: tags.nullish(),
      platform_settings: clearable(platformSettings).nullish(),
      workflow: clearable(workflow).nullish(),
    }),
  });
  return {
    conversationConfig: config,
    create,
    createWithId: create.extend({ agent_id: identifier }),
    update: change as z.ZodType<AgentChange>,
  };
}

/** Every field at any depth may be omitted or null; lists are given whole. */
function clearable(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return clearable(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries<z.ZodType>(schema.shape);
    const cleared = shape.map(([name, field]) => [name, z.nullish(clearable(field)).meta({ ...field.meta() })]);
    // Whole-object rules apply to the merged result.
    return new z.ZodObject({ ...schema.def, shape: Object.fromEntries(cleared), checks: [] });
  }
  if (schema instanceof z.ZodRecord) return z.record(schema.keyType as z.ZodString, clearable(schema.valueType as z.ZodType).nullable());
  return schema;
}

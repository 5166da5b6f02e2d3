import { z } from 'zod';
import { audioFormats } from '../core/audio-format.ts';
import { agentTools, knowledgeDocument } from './attachments.ts';
import { extendedOnly, identifier, objectOf, type SchemaMode } from './building-blocks.ts';
import { llmSettings, workflowSettings } from './llm-settings.ts';

const freeForm = z.record(z.string(), z.unknown());

/** How an agent behaves. Every field may be left out: a call may override any of them alone. */
function configSettings(mode: SchemaMode) {
  const prompt = objectOf(mode, {
    prompt: z.string().optional(),
    ...extendedOnly(mode, {
      knowledge_base: z.array(knowledgeDocument).optional(),
      tools: agentTools.optional(),
    }),
  });
  const agent = objectOf(mode, {
    first_message: z.string().optional(),
    prompt: prompt.optional(),
    llm: llmSettings(mode).optional(),
    ...extendedOnly(mode, { language: z.string().optional(), dynamic_variables: freeForm.optional() }),
  });
  const tts = objectOf(mode, {
    voice_id: identifier.optional(),
    model_id: identifier.optional(),
    ...extendedOnly(mode, {
      stability: z.number().optional(),
      speed: z.number().optional(),
      agent_output_audio_format: z.enum(audioFormats).optional(),
    }),
  });
  return objectOf(mode, {
    tts: tts.optional(),
    agent: agent.optional(),
    ...extendedOnly(mode, {
      asr: freeForm.optional(),
      turn: freeForm.optional(),
      conversation: freeForm.optional(),
      language_presets: freeForm.optional(),
      vad: freeForm.optional(),
    }),
  });
}

export type ConversationConfig = z.infer<ReturnType<typeof configSettings>>;

const evaluationCriterion = z.looseObject({
  id: identifier,
  name: z.string().optional(),
  conversation_goal_prompt: z.string().optional(),
});
const collectionItem = z.looseObject({
  type: z.enum(['string', 'boolean', 'integer', 'number']),
  description: z.string().optional(),
  enum: z.array(z.string()).min(1).optional(),
});

/** What an agent evaluates and collects. */
const platformSettings = z.looseObject({
  evaluation: z.looseObject({ criteria: z.array(evaluationCriterion).optional() }).optional(),
  data_collection: z.record(identifier, collectionItem).optional(),
  /** Who evaluates and collects: deterministic rules (the default), or the agent's own model. */
  analysis: z.looseObject({ model: z.enum(['rules', 'own']).optional() }).optional(),
  archived: z.boolean().optional(),
});
export type PlatformSettings = z.infer<typeof platformSettings>;
export type CollectionItem = z.infer<typeof collectionItem>;
export type Workflow = z.infer<ReturnType<typeof workflowSettings>>;

/** What a caller may set of an agent. */
export interface AgentInput {
  name: string;
  tags?: string[] | undefined;
  conversation_config?: ConversationConfig | undefined;
  platform_settings?: PlatformSettings | undefined;
  workflow?: Workflow | undefined;
}

/** Parts of an agent's input, at any depth. Null clears a field. */
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
  const beyondContract = {
    platform_settings: platformSettings.optional(),
    workflow: workflowSettings(mode).optional(),
  };
  const create = objectOf(mode, {
    name,
    tags: tags.optional(),
    conversation_config: config.optional(),
    ...extendedOnly(mode, beyondContract),
  });
  const change = objectOf(mode, {
    conversation_config: clearable(config).nullish(),
    ...extendedOnly(mode, {
      name: name.optional(),
      tags: tags.nullish(),
      platform_settings: clearable(platformSettings).nullish(),
      workflow: clearable(beyondContract.workflow).nullish(),
    }),
  });
  return {
    conversationConfig: config,
    create: create as z.ZodType<AgentInput>,
    createWithId: create.extend({ agent_id: identifier }) as z.ZodType<AgentInput & { agent_id: string }>,
    update: change as z.ZodType<AgentChange>,
  };
}

/** The schema of a change: every field, at every depth of objects, may be left out or be null. Lists are given whole. */
function clearable(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return clearable(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries<z.ZodType>(schema.shape);
    return schema.extend(Object.fromEntries(shape.map(([name, field]) => [name, clearable(field).nullish()])));
  }
  if (schema instanceof z.ZodRecord)
    return z.record(schema.keyType as z.ZodString, clearable(schema.valueType as z.ZodType).nullable());
  return schema;
}

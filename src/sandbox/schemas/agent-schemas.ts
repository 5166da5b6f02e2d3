import { z } from 'zod';
import { extendedOnly, identifier, objectOf, type SchemaMode } from './building-blocks.ts';

const freeForm = z.record(z.string(), z.unknown());
const httpUrl = z.url({ protocol: /^https?$/, error: 'Must be an http or https address.' });

/** Deep-partial settings: what a PATCH sends and what a call may override. */
function configPatch(mode: SchemaMode) {
  const customLlm = objectOf(mode, {
    url: httpUrl.optional(),
    extra_headers: z.record(z.string(), z.string()).optional(),
  });
  const llm = objectOf(mode, {
    model_id: identifier.optional(),
    custom_llm: customLlm.optional(),
    temperature: z.number().min(0, 'Must be between 0.0 and 1.0.').max(1, 'Must be between 0.0 and 1.0.').optional(),
    ...extendedOnly(mode, {
      backup_llm_config: freeForm.optional(),
      thinking_budget: z.number().int().min(0).optional(),
      reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
      cascade_timeout_seconds: z.number().min(2).max(15).optional(),
    }),
  });
  const prompt = objectOf(mode, { prompt: z.string().optional() });
  const agent = objectOf(mode, {
    first_message: z.string().optional(),
    prompt: prompt.optional(),
    llm: llm.optional(),
    ...extendedOnly(mode, { language: z.string().optional(), dynamic_variables: freeForm.optional() }),
  });
  const tts = objectOf(mode, {
    voice_id: identifier.optional(),
    model_id: identifier.optional(),
    ...extendedOnly(mode, { stability: z.number().optional(), speed: z.number().optional() }),
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

export type ConversationConfig = z.infer<ReturnType<typeof configPatch>>;

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
});
export type PlatformSettings = z.infer<typeof platformSettings>;
export type CollectionItem = z.infer<typeof collectionItem>;

export function createAgentSchemas(mode: SchemaMode) {
  const name = z.string().min(1, 'Must not be empty.').max(500);
  const tags = z.array(z.string());
  const config = configPatch(mode);
  const createConfig = config.superRefine((value, context) => {
    if (value.tts !== undefined && value.tts.voice_id === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['tts', 'voice_id'],
        message: 'Required when tts is given.',
        input: null,
      });
    }
  });
  return {
    conversationConfig: config,
    create: objectOf(mode, {
      name,
      tags: tags.optional(),
      conversation_config: createConfig.optional(),
      ...extendedOnly(mode, { platform_settings: platformSettings.optional() }),
    }) as z.ZodType<AgentInput & { name: string }>,
    update: objectOf(mode, {
      conversation_config: config.optional(),
      ...extendedOnly(mode, {
        name: name.optional(),
        tags: tags.optional(),
        platform_settings: platformSettings.optional(),
      }),
    }) as z.ZodType<AgentInput>,
  };
}

export interface AgentInput {
  name?: string | undefined;
  tags?: string[] | undefined;
  conversation_config?: ConversationConfig | undefined;
  platform_settings?: PlatformSettings | undefined;
}

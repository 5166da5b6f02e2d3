import { z } from 'zod';
import { catalogue, customModelId } from '../models/catalogue.ts';
import { reasoningEfforts } from '../models/llm-labels.ts';
import { extendedOnly, identifier, objectOf, sourced, type SchemaMode } from './building-blocks.ts';

const hostedIds = catalogue.map(({ modelId }) => modelId);
const temperatureError = 'Must be between 0.0 and 1.0.';
const stepEfforts = `Must be one of: ${reasoningEfforts.join(', ')}.`;
const noReasoning =
  'Must be none: an agent speaks in real time, and reasoning would hold up every reply. Other efforts are for steps of workflow with real_time false.';

const endpointUrl = z
  .url({ protocol: /^https?$/, error: 'Must be an http or https address.' })
  .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), 'Must hold no user name or password; send credentials in extra_headers.');

const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'Must be the name of an HTTP header.');
const headerValue = z.string().regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/, 'Must be text that fits in one line of an HTTP header.');

function modelIdOf(mode: SchemaMode, allowed: readonly string[]): z.ZodType<string> {
  return mode.loose ? identifier : z.enum(allowed as [string, ...string[]], { error: `Must be one of: ${allowed.join(', ')}.` });
}

/**
 * The contract's Default, Custom and Disabled under upstream's names (gaps A.4). `custom` with `model_id` equals `override` with an `order`
 * of one.
 */
function backupConfig(mode: SchemaMode) {
  const hosted = modelIdOf(mode, hostedIds);
  const fix = 'Must be default, disabled, override (with order) or custom (with model_id).';
  return objectOf(mode, {
    preference: z.string().regex(anyCase('default|disabled|override|custom'), fix).optional(),
    order: z.array(hosted).min(1, 'Must name at least one model.').max(10).optional(),
    ...sourced('GUESS', { model_id: hosted.optional() }),
  })
    .superRefine(({ preference = 'none', order, model_id: modelId }, context) => {
      const [field, message] = missingOfBackup[preference.toLowerCase()] ?? [];
      if (field !== undefined && order === undefined && modelId === undefined)
        context.addIssue({ code: 'custom', path: [field], message, input: undefined });
    })
    .meta({ anyOf: completeBackups });
}

/** What a backup choice requires when no model is named. */
const missingOfBackup: Readonly<Record<string, [field: string, message: string]>> = {
  none: ['preference', 'Required: default, disabled, override or custom.'],
  override: ['order', 'Required when preference is override: which models, in which order.'],
  custom: ['model_id', 'Required when preference is custom: which model.'],
};

/** The same for documents: a model is named, or the choice needs none. */
const completeBackups = [
  { required: ['order'] },
  { required: ['model_id'] },
  { required: ['preference'], not: { properties: { preference: { pattern: anyCase('override|custom').source } } } },
];

function anyCase(words: string): RegExp {
  return new RegExp(`^(${words.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)})$`);
}

export function llmSettings(mode: SchemaMode) {
  const customLlm = objectOf(mode, {
    ...sourced('contract', { url: endpointUrl.optional(), extra_headers: z.record(headerName, headerValue).optional() }),
    ...extendedOnly(mode, 'SDK', { model_id: identifier.optional() }),
  });
  return objectOf(mode, {
    ...sourced('contract', {
      model_id: modelIdOf(mode, [...hostedIds, customModelId]).optional(),
      custom_llm: customLlm.optional(),
      temperature: z.number(temperatureError).min(0, temperatureError).max(1, temperatureError).optional(),
    }),
    ...extendedOnly(mode, 'SDK', {
      backup_llm_config: backupConfig(mode).optional(),
      thinking_budget: z
        .union([z.number().int().min(0), z.string().regex(anyCase('disabled|low|medium|high'))], {
          error: 'Must be disabled, low, medium or high, or a whole number of tokens of at least 0.',
        })
        .optional(),
      reasoning_effort: z.string().regex(anyCase('none'), noReasoning).optional(),
      cascade_timeout_seconds: z.number().min(2, 'Must be 2 to 15.').max(15, 'Must be 2 to 15.').optional(),
    }),
  });
}

/** Workflow steps of an agent; real-time by default. */
export function workflowSettings(mode: SchemaMode) {
  const node = z.looseObject({
    type: identifier.optional(),
    real_time: z.boolean().optional(),
    reasoning_effort: z
      .string()
      .regex(anyCase(reasoningEfforts.join('|')), stepEfforts)
      .optional(),
  });
  return objectOf(mode, { nodes: z.record(identifier, node).optional(), edges: z.record(identifier, z.unknown()).optional() });
}

import { z } from 'zod';
import { settingDescriptions } from './descriptions.ts';
import { campaignSchema } from './schema.ts';

export type JsonSchema = { [key: string]: unknown };

const duration: JsonSchema = { type: 'string', pattern: '^\\s*\\d{1,9}(\\.\\d{1,3})?\\s?[smhd]\\s*$' };
const window: JsonSchema = { type: 'string', pattern: '^\\s*\\d\\d?:\\d\\d\\s*[-–]\\s*\\d\\d?:\\d\\d\\s*$' };
const template: JsonSchema = { type: ['string', 'number', 'boolean'] };
const scalar: JsonSchema = { type: ['string', 'number', 'boolean'] };
const oneOrMore = (items: JsonSchema): JsonSchema => ({ anyOf: [items, { type: 'array', items, minItems: 1 }] });
const delay: JsonSchema = { anyOf: [{ const: 'next_day' }, duration] };
const delays: JsonSchema = {
  anyOf: [{ enum: ['never', 'next_day'] }, duration, { type: 'array', items: delay, minItems: 1, maxItems: 20 }],
};
const hookUrl: JsonSchema = { type: 'string', pattern: '^https?://' };

/** Shapes of what the program reads by code of its own, which its schema shows as anything. */
const shapes: Readonly<Record<string, JsonSchema>> = {
  first_message: template,
  conversation_config_override: { type: 'object' },
  'variables.values.*': template,
  'list.fallback_timezone': { type: 'string' },
  'list.default_region': { type: 'string', pattern: '^[A-Za-z]{2}$' },
  'holidays[]': { type: 'string' },
  starts_at: { type: 'string', format: 'date-time' },
  ends_at: { type: 'string', format: 'date-time' },
  'caps[].within': duration,
  'caps[].after_talk': duration,
  'opt_out[].equals': oneOrMore(scalar),
  'dispositions[].when.equals': oneOrMore(scalar),
  'hours.*': oneOrMore(window),
  'retry.reset_after': duration,
  'retry.jitter': duration,
  'pacing.warm_up': duration,
  'breaker.failure_share': { type: 'string', pattern: '^\\s*\\d{1,3}(\\.\\d)?\\s?%\\s*$' },
  'breaker.window': duration,
  'breaker.cool_down': duration,
  'pre_dial.url': hookUrl,
  'pre_dial.timeout': duration,
  'on_completion.url': hookUrl,
  'on_pause.url': hookUrl,
  'retry.*': delays,
  'advanced.*': duration,
};

/** The JSON Schema (draft 2020-12) of the campaign file: the program's own schema, with a description of every setting. */
export function campaignJsonSchema(): JsonSchema {
  const generated = z.toJSONSchema(campaignSchema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' });
  // Settings that share a schema share an object here, and each is to get its own description.
  const schema = JSON.parse(JSON.stringify(generated)) as JsonSchema;
  describe(schema, '');
  return { ...schema, title: 'Carillon campaign' };
}

function describe(schema: JsonSchema, path: string): void {
  const description = settingDescriptions[path];
  if (description !== undefined) schema['description'] = description;
  const shape = shapes[path] ?? shapes[path.replace(/[^.[\]]+$/, '*')];
  if (shape !== undefined && isAnything(schema)) Object.assign(schema, shape);
  for (const [key, inner] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)) {
    describe(inner, path === '' ? key : `${path}.${key}`);
  }
  if (isSchema(schema['items'])) describe(schema['items'], `${path}[]`);
  if (isSchema(schema['additionalProperties'])) describe(schema['additionalProperties'], `${path}.*`);
  for (const branch of (schema['anyOf'] ?? []) as JsonSchema[]) if (shape === undefined) describeBranch(branch, path);
}

/** A branch of a choice is described where the choice is. */
function describeBranch(branch: JsonSchema, path: string): void {
  describe(branch, path);
  delete branch['description'];
}

function isAnything(schema: JsonSchema): boolean {
  return Object.keys(schema).every((key) => key === 'description' || key === 'default');
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { z } from 'zod';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { templateVariables } from '../../../rules/personalisation.ts';
import { isJsonObject, splitOpeningLine, type Json, type JsonObject } from '../../../rules/conversation-override.ts';
import { readBy, scalarShape, shapeOf, type SettingGroup, type Written } from '../../../shared/input/setting.ts';

/** The service sets no limit; a longer template is a quoting mistake. */
const longestTemplate = 10_000;
const longestOverride = 200_000;
const deepestOverride = 20;

const templateFix = `write text of at most ${String(longestTemplate)} characters, such as "Hello {{ first_name }}", in quotes`;
const template = readBy((value) => {
  const written = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof written === 'string' && written.length <= longestTemplate ? written : null;
}, templateFix).meta(scalarShape);

const overrideFix =
  'write a mapping of settings of the conversation, such as { agent: { prompt: { prompt: "You call {{ first_name }}." } } }';
const override = readBy(readOverride, overrideFix).meta({ type: 'object' });

/** Plain JSON of bounded depth and size; an opening line in it must be text. */
function readOverride(value: unknown): JsonObject | null {
  const parsed = z.json().safeParse(value);
  if (!parsed.success || !isJsonObject(parsed.data) || depthOf(parsed.data) > deepestOverride) return null;
  const { line } = splitOpeningLine(parsed.data);
  const isLine = line === undefined || (typeof line === 'string' && line.length <= longestTemplate);
  return isLine && JSON.stringify(parsed.data).length <= longestOverride ? parsed.data : null;
}

function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const nameFix = 'write a name of letters, digits, "_" or "-", at most 64 characters';
const name = z.string({ error: nameFix }).regex(/^[A-Za-z0-9_-]{1,64}$/, { error: nameFix });
const referenceFix = `${nameFix}, or null to send none`;
// prettier-ignore
const variable = {
  key: { schema: name.default('variables'), help: 'Name under which the variables stand in each call of the request.' },
  reference: { schema: z.union([name, z.null(), z.literal(false)], { error: referenceFix }).default('carillon_ref'),
    help: 'Name of a further variable that identifies the attempt; null sends none.' },
  values: { schema: z.record(name, template, { error: 'write a mapping of variable names to templates' }).default({}),
    help: 'Names and Liquid templates.' },
} as const satisfies SettingGroup;
const variables = z
  .strictObject(shapeOf(variable), { error: 'write a mapping with values:' })
  .refine(({ reference, values }) => reference === null || reference === false || !Object.hasOwn(values, reference), {
    path: ['reference'],
    error: 'choose a name that is not among the values, so that neither overwrites the other',
  });

// prettier-ignore
export const wordSettings = {
  first_message: { schema: template.optional(), label: 'Opening line', help: 'Liquid template of the opening line.',
    form: { part: 'words',
      hint: "Empty: the agent's own line. One that names what differs, such as a name and a time, tells calls apart in the service's records." } },
  conversation_config_override: { schema: override.optional(),
    help: 'Settings of the conversation for each call; every text in it is a Liquid template.' },
  variables: { schema: variables.optional(), help: 'Variables sent with each call.' },
} as const satisfies SettingGroup;

/** Frozen form. The opening line may be written in either place; stored separately because it distinguishes calls. */
export function wordRules(written: Written<typeof wordSettings>): Pick<CampaignRules, 'firstMessage' | 'override' | 'variables'> {
  const { first_message: own, conversation_config_override: settings, variables: sent } = written;
  const { line = own, rest = null } = settings === undefined ? {} : splitOpeningLine(settings);
  return {
    firstMessage: typeof line === 'string' ? line : null,
    ...(rest === null ? {} : { override: rest }),
    variables: sent === undefined ? null : { key: sent.key, values: sent.values, reference: sent.reference || null },
  };
}

interface SettingTemplate {
  path: PropertyKey[];
  template: string;
}

export function listTemplates(settings: Written<typeof wordSettings>): SettingTemplate[] {
  const { first_message: line, conversation_config_override: override, variables } = settings;
  return [
    ...textsIn(line, ['first_message']),
    ...textsIn(override, ['conversation_config_override']),
    ...textsIn(variables?.values, ['variables', 'values']),
  ].map(({ path, text }) => ({ path, template: text }));
}

export function* textsIn(value: unknown, path: PropertyKey[]): Generator<{ path: PropertyKey[]; text: string }> {
  if (typeof value === 'string') yield { path, text: value };
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* textsIn(inner, [...path, Array.isArray(value) ? Number(key) : key]);
}

export function readTemplate(template: string): { variables: string[] } | { fault: string } {
  try {
    return { variables: templateVariables(template) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

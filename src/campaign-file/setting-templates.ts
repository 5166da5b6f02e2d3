import { templateVariables } from '../domain/personalisation.ts';
import type { CampaignSettings } from './schema.ts';

/** A template of the campaign file, and where in it. */
export interface SettingTemplate {
  path: PropertyKey[];
  template: string;
}

/** All templates of a campaign file, in the order in which a row fills them. */
export function listTemplates(settings: CampaignSettings): SettingTemplate[] {
  const { first_message: line, conversation_config_override: override, variables } = settings;
  return [
    ...textsIn(line, ['first_message']),
    ...textsIn(override, ['conversation_config_override']),
    ...textsIn(variables?.values, ['variables', 'values']),
  ].map(({ path, text }) => ({ path, template: text }));
}

/** Every text in a value, and where. */
export function* textsIn(value: unknown, path: PropertyKey[]): Generator<{ path: PropertyKey[]; text: string }> {
  if (typeof value === 'string') yield { path, text: value };
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    yield* textsIn(inner, [...path, Array.isArray(value) ? Number(key) : key]);
}

/** The names that a template reads, or why it is no template. */
export function readTemplate(template: string): { variables: string[] } | { fault: string } {
  try {
    return { variables: templateVariables(template) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

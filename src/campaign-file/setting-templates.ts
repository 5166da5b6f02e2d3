import { templateVariables } from '../domain/personalisation.ts';
import type { CampaignSettings } from './schema.ts';

/** A template of the campaign file, and where in it. */
export interface SettingTemplate {
  path: PropertyKey[];
  template: string;
}

/** All templates of a campaign file, in the order in which a row fills them. */
export function listTemplates(settings: CampaignSettings): SettingTemplate[] {
  const templates: SettingTemplate[] = [];
  if (settings.first_message !== undefined) {
    templates.push({ path: ['first_message'], template: settings.first_message });
  }
  collect(settings.conversation_config_override, ['conversation_config_override'], templates);
  for (const [name, template] of Object.entries(settings.variables?.values ?? {})) {
    templates.push({ path: ['variables', 'values', name], template });
  }
  return templates;
}

/** The names that a template reads, or why it is no template. */
export function readTemplate(template: string): { variables: string[] } | { fault: string } {
  try {
    return { variables: templateVariables(template) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

function collect(value: unknown, path: PropertyKey[], templates: SettingTemplate[]): void {
  if (typeof value === 'string') {
    templates.push({ path, template: value });
  } else if (Array.isArray(value)) {
    value.forEach((inner, index) => collect(inner, [...path, index], templates));
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) collect(inner, [...path, key], templates);
  }
}

import { z } from 'zod';
import { settingDescriptions } from './descriptions.ts';
import { campaignSchema } from './schema.ts';
import type { JsonShape } from './settings/kinds.ts';

/** The JSON Schema (draft 2020-12) of the campaign file: the program's own schema, with a description of every setting. */
export function campaignJsonSchema(): JsonShape {
  const generated = z.toJSONSchema(campaignSchema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' });
  // Settings that share a schema share an object here, and each is to get its own description.
  const schema = JSON.parse(JSON.stringify(generated)) as JsonShape;
  describe(schema, '');
  return { ...schema, title: 'Carillon campaign' };
}

function describe(schema: JsonShape, path: string): void {
  const description = settingDescriptions[path];
  if (description !== undefined) schema['description'] = description;
  for (const [key, inner] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonShape>)) {
    describe(inner, path === '' ? key : `${path}.${key}`);
  }
  if (isSchema(schema['items'])) describe(schema['items'], `${path}[]`);
  if (isSchema(schema['additionalProperties'])) describe(schema['additionalProperties'], `${path}.*`);
  for (const branch of (schema['anyOf'] ?? []) as JsonShape[]) describeBranch(branch, path);
}

/** A branch of a choice is described where the choice is. */
function describeBranch(branch: JsonShape, path: string): void {
  describe(branch, path);
  delete branch['description'];
}

function isSchema(value: unknown): value is JsonShape {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

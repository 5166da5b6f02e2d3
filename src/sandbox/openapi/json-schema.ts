import { z } from 'zod';
import type { Source } from '../schemas/building-blocks.ts';

export type JsonSchema = Record<string, unknown>;

export function pathParameters(path: string) {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

/** Object fields as query parameters, with each field's source beside it. */
export function queryParameters({ properties = {}, required = [] }: ObjectSchema): JsonSchema[] {
  return Object.entries(properties).map(([name, { 'x-source': source, 'x-basis': basis, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
    'x-source': source,
    'x-basis': basis,
  }));
}

export interface ObjectSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

/** As `name` in a document, where its references point. `x-source`: what a field rests on. */
function sourcedJsonSchema(schema: z.ZodType, name: string): JsonSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return relocate(described, `#/components/schemas/${name}`) as JsonSchema;
}

const bases: Readonly<Record<Exclude<Source, 'contract'>, string>> = { DOC: 'documentation', SDK: 'types', COMM: 'code', GUESS: 'choice' };

/** Adds `x-source` (contract or assumption) and `x-basis` (grounds) to every field. */
export function describeSchema(schema: z.ZodType, name: string): JsonSchema {
  const described = sourcedJsonSchema(schema, name);
  for (const { inner, source } of fieldsOf(described)) {
    inner['x-source'] = source === 'contract' ? source : 'assumption';
    if (source !== undefined && source !== 'contract') inner['x-basis'] = bases[source];
  }
  return described;
}

export function toJsonSchema(schema: z.ZodType, name: string): JsonSchema {
  const described = sourcedJsonSchema(schema, name);
  for (const { inner } of fieldsOf(described)) delete inner['x-source'];
  return described;
}

interface Field {
  /** `[]`: items of a list; `{}`: values of an object with free keys. */
  field: string;
  inner: JsonSchema;
  /** Undefined: assumed without grounds. */
  source: Source | undefined;
}

/** A field without a source inherits its parent's; nothing inside an assumption is from the contract. */
function* fieldsOf(schema: unknown, path = '', outer?: Source): Generator<Field> {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema as Record<string, JsonSchema>;
  for (const [name, inner] of Object.entries((properties ?? {}) as Record<string, JsonSchema>)) {
    const field = path === '' ? name : `${path}.${name}`;
    const own = inner['x-source'] as Source | undefined;
    const assumed = own === undefined || own === 'contract' ? outer : own;
    yield { field, inner, source: assumed ?? own };
    yield* fieldsOf(inner, field, assumed);
  }
  yield* fieldsOf(items, `${path}[]`, outer);
  yield* fieldsOf(additionalProperties, `${path}{}`, outer);
  for (const parts of [anyOf, oneOf, allOf]) for (const part of Object.values(parts ?? {})) yield* fieldsOf(part, path, outer);
}

/** Otherwise `#` and `#/$defs/…` would point elsewhere in a larger document. */
function relocate(value: unknown, place: string): unknown {
  if (Array.isArray(value)) return value.map((item) => relocate(item, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isOwn = key === '$ref' && typeof inner === 'string' && inner.startsWith('#');
      return [key, isOwn ? place + inner.slice(1) : relocate(inner, place)];
    }),
  );
}

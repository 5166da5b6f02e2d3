import { z } from 'zod';
import type { Source } from '../schemas/building-blocks.ts';

export type JsonSchema = Record<string, unknown>;

export function pathParameters(path: string) {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

/** The fields of an object as parameters in the query; what is said of where one comes from stands beside it. */
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

/** The JSON Schema of an exchanged value, as `name` in a document, where its references lead. `x-source`: what a field rests on. */
function sourcedJsonSchema(schema: z.ZodType, name: string): JsonSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return relocate(described, `#/components/schemas/${name}`) as JsonSchema;
}

const bases: Readonly<Record<Exclude<Source, 'contract'>, string>> = { DOC: 'documentation', SDK: 'types', COMM: 'code', GUESS: 'choice' };

/** The same where every field says in `x-source` whether the contract names it or it is an assumption, and in `x-basis` on what grounds. */
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
  /** `[]` stands for the items of a list, `{}` for the values of an object whose keys are free. */
  field: string;
  inner: JsonSchema;
  /** Undefined for what is assumed on no grounds. */
  source: Source | undefined;
}

/**
 * Every field at any depth. One that does not say what it rests on rests on what the field around it does, and in an assumption nothing
 * is of the contract.
 */
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

/** References within the schema alone, `#` and `#/$defs/…`, would lead elsewhere in a larger document. */
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

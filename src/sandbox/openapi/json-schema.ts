import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** A path with its parameters in braces, as documents have it. */
export function openApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** A schema with what is said of it as a parameter in the path. */
export function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

/** The fields of an object as parameters in the query; what is said of where one comes from stands beside it. */
export function queryParameters({ properties = {}, required = [] }: ObjectSchema): JsonSchema[] {
  return Object.entries(properties).map(([name, { 'x-source': source, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
    ...(source === undefined ? {} : { 'x-source': source }),
  }));
}

interface ObjectSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

/** Where a field comes from: named by the contract, or assumed where the contract is silent. */
export type Source = 'contract' | 'assumption';

/**
 * The JSON Schema of what a caller may send, or gets, as it stands in the document under `name`: references of its own lead there, and
 * every field says in `x-source` where it comes from.
 */
export function describeSchema(schema: z.ZodType, name: string, contract: readonly string[]): JsonSchema {
  return markSources(toJsonSchema(schema, name), '', new Set(contract)) as JsonSchema;
}

/** The same without a word on where fields come from. */
export function toJsonSchema(schema: z.ZodType, name: string): JsonSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return relocate(described, `#/components/schemas/${name}`) as JsonSchema;
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

function markSources(value: unknown, path: string, contract: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => markSources(item, path, contract));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === 'properties') return [key, markProperties(inner as JsonSchema, path, contract)];
      if (key === 'items') return [key, markSources(inner, `${path}[]`, contract)];
      if (key === 'additionalProperties') return [key, markSources(inner, `${path}{}`, contract)];
      return [key, combining.has(key) ? markSources(inner, path, contract) : inner];
    }),
  );
}

/** Keywords whose schemas speak of the same place. */
const combining = new Set(['anyOf', 'oneOf', 'allOf']);

function markProperties(properties: JsonSchema, path: string, contract: ReadonlySet<string>): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const place = path === '' ? name : `${path}.${name}`;
      const source: Source = contract.has(place) ? 'contract' : 'assumption';
      return [name, { ...(markSources(schema, place, contract) as JsonSchema), 'x-source': source }];
    }),
  );
}

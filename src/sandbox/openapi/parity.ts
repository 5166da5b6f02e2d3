import { operationNames, operations, type OperationName } from '../core/operations.ts';
import type { Dialect } from '../schemas/building-blocks.ts';
import { createOpenApiDocument, type OpenApiDocument } from './document.ts';
import { evidence, queryEvidence, type Evidence } from './evidence.ts';
import type { JsonSchema } from './json-schema.ts';
import { operationTexts } from './operation-texts.ts';

export interface ParityField {
  field: string;
  /** `contract`, or what the assumption rests on. */
  source: 'contract' | Evidence;
  dialects: Dialect[];
}

/** A body by the name of its schema. */
export interface ParityBody {
  schema: string;
  fields: ParityField[];
}

export interface ParityOperation {
  name: OperationName;
  number: number;
  method: string;
  path: string;
  summary: string;
  parameters: (ParityField & { in: string })[];
  request: ParityBody | null;
  /** Null for a confirmation, which has no fields. */
  answer: ParityBody | null;
}

export interface Parity {
  operations: ParityOperation[];
  /** Bodies of refusals, the same for every operation. */
  refusals: ParityBody[];
  /** What is served differently from, or less than, what the contract speaks of. */
  leftOut: string[];
}

const leftOut = [
  'No LiveKit room is joined: a conversation token is signed as a LiveKit server accepts it and can be verified, but no media flow over WebRTC.',
  'Sound that a client sends over a socket is not understood: that somebody speaks is heard, and for how long, but not what. Words come as text messages.',
  'Nothing is dialled and no SIP is spoken: trunks are kept and limited by the plan, calls are simulated.',
  'The hosted language models are a built-in speaker that keeps to the agent’s goals; what a real model would say is not imitated. A model of your own is really asked.',
];

/** Every operation and field of the service with where it comes from, in both dialects. Throws when an assumption rests on nothing. */
export function createParity(): Parity {
  const documents = { extended: documentOf('extended'), spec: documentOf('spec') };
  const body = (schema: string | null): ParityBody | null =>
    schema === null ? null : { schema, fields: describeFields(documents, schema) };
  return {
    operations: operationNames.map((name) => {
      const { number, method, path } = operations[name];
      const { summary, request, response } = operationTexts[name];
      return {
        name,
        number,
        method,
        path: path.replaceAll(/:(\w+)/g, '{$1}'),
        summary,
        parameters: describeParameters(documents, name),
        request: body(request ?? null),
        answer: body(response),
      };
    }),
    refusals: ['Error', 'ValidationError'].map((schema) => ({ schema, fields: describeFields(documents, schema) })),
    leftOut,
  };
}

type Documents = Record<Dialect, OpenApiDocument>;

function documentOf(dialect: Dialect): OpenApiDocument {
  return createOpenApiDocument({ dialect, loose: false, maxCallsPerBatch: 1000 });
}

function describeFields({ extended, spec }: Documents, schema: string): ParityField[] {
  const inSpec = new Set([...fieldsOf(spec.components.schemas[schema])].map(({ field }) => field));
  const seen = new Map([...fieldsOf(extended.components.schemas[schema])].map(({ field, source }) => [field, source]));
  return [...seen].map(([field, source]) => ({
    field,
    source: source === 'contract' ? source : labelOf(schema, field),
    dialects: inSpec.has(field) ? ['spec', 'extended'] : ['extended'],
  }));
}

function labelOf(schema: string, field: string): Evidence {
  const labels = evidence[schema] ?? {};
  for (let place = field; place !== ''; place = place.replace(/(^|\.|\[\]|\{\})[^.[\]{}]*(\[\]|\{\})?$/, '')) {
    const label = labels[place] ?? labels[place.replace(/(\[\]|\{\})$/, '')];
    if (label !== undefined) return label;
  }
  throw new Error(`${schema} ${field} is assumed, and src/sandbox/openapi/evidence.ts does not say on what grounds.`);
}

function describeParameters({ extended, spec }: Documents, name: OperationName): ParityOperation['parameters'] {
  const inSpec = new Set(parametersOf(spec, name).map((parameter) => parameter['name']));
  return parametersOf(extended, name).map((parameter) => {
    const field = String(parameter['name']);
    const label = parameter['x-source'] === 'contract' ? 'contract' : queryEvidence[name]?.[field];
    if (label === undefined) throw new Error(`The parameter ${field} of ${name} is assumed on no grounds.`);
    const dialects: Dialect[] = inSpec.has(field) ? ['spec', 'extended'] : ['extended'];
    return { in: String(parameter['in']), field, source: label, dialects };
  });
}

function parametersOf({ paths }: OpenApiDocument, name: OperationName): JsonSchema[] {
  const { path, method } = operations[name];
  const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  return (operation?.['parameters'] ?? []) as JsonSchema[];
}

function* fieldsOf(schema: unknown, path = ''): Generator<{ field: string; source: unknown }> {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema as Record<string, JsonSchema>;
  for (const [name, inner] of Object.entries(properties ?? {})) {
    const field = path === '' ? name : `${path}.${name}`;
    yield { field, source: (inner as JsonSchema)['x-source'] };
    yield* fieldsOf(inner, field);
  }
  yield* fieldsOf(items, `${path}[]`);
  yield* fieldsOf(additionalProperties, `${path}{}`);
  for (const parts of [anyOf, oneOf, allOf]) for (const part of Object.values(parts ?? {})) yield* fieldsOf(part, path);
}

import { operationNames, operations, type OperationName } from '../core/operations.ts';
import type { Dialect } from '../schemas/building-blocks.ts';
import { createOpenApiDocument, type OpenApiDocument } from './document.ts';
import { evidence, queryEvidence, type Evidence } from './evidence.ts';
import { openApiPath, type JsonSchema } from './json-schema.ts';
import { operationTexts } from './operation-texts.ts';

export interface ParityField {
  field: string;
  /** `contract`, or what the assumption rests on. */
  source: 'contract' | Evidence;
  dialects: Dialect[];
}

const leftOut = [
  'No LiveKit room is joined: conversation tokens have the form a LiveKit server accepts and can be verified, but there is no media over WebRTC.',
  'Audio from a socket client is not recognised, only its loudness and length; send text messages instead.',
  'No call is real and no SIP is spoken; trunks are stored and limited by the plan.',
  'Hosted language models are replaced by the built-in agent; your own model is called.',
];

/**
 * Every operation and field of the service with where it comes from, in both dialects, and the bodies of refusals, which are the same for
 * every operation. Throws when an assumption rests on nothing.
 */
export function createParity() {
  const documents = { extended: documentOf('extended'), spec: documentOf('spec') };
  const describeBody = (schema: string) => ({ schema, fields: describeFields(documents, schema) });
  return {
    operations: operationNames.map((name) => {
      const { number, method, path } = operations[name];
      const { summary, request, response } = operationTexts[name];
      return {
        name,
        number,
        method,
        path: openApiPath(path),
        summary,
        parameters: describeParameters(documents, name),
        request: request === undefined ? null : describeBody(request),
        /** Null for a confirmation, which has no fields. */
        answer: response === null ? null : describeBody(response),
      };
    }),
    refusals: ['Error', 'ValidationError'].map(describeBody),
    /** What is served differently from, or less than, what the contract speaks of. */
    leftOut,
  };
}

export type Parity = ReturnType<typeof createParity>;
export type ParityBody = Parity['refusals'][number];

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

function describeParameters({ extended, spec }: Documents, name: OperationName): (ParityField & { in: string })[] {
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
  const operation = paths[openApiPath(path)]?.[method.toLowerCase()];
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

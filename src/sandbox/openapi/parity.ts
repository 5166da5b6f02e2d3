import type { z } from 'zod';
import { operationNames, operations } from '../core/operations.ts';
import type { Dialect, Source } from '../schemas/building-blocks.ts';
import { createRequestSchemas } from '../schemas/request-schemas.ts';
import { bodySchemas } from './document.ts';
import { fieldsOf, openApiPath, pathParameters, sourcedJsonSchema } from './json-schema.ts';
import type { RequestName } from './examples.ts';
import { operationTexts } from './operation-texts.ts';
import type { ResponseName } from './response-schemas.ts';

export interface ParityField {
  field: string;
  source: Source;
  dialects: Dialect[];
}

const leftOut = [
  'A signed address begins with `ws://`, so that it can be opened as it is returned; with `wss://` behind a server that terminates TLS.',
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
  const extended = schemasOf('extended');
  const spec = schemasOf('spec');
  const fields = (schema: keyof typeof extended) => describeFields(extended[schema], spec[schema], schema);
  const describeBody = (schema: RequestName | ResponseName) => ({ schema, fields: fields(schema) });
  return {
    operations: operationNames.map((name) => {
      const { number, method, path } = operations[name];
      const { summary, query, request, response } = operationTexts[name];
      return {
        name,
        number,
        method,
        path: openApiPath(path),
        summary,
        parameters: [
          ...pathParameters(path).map((parameter) => ({ in: 'path', ...inContract(parameter.name) })),
          ...(query === undefined ? [] : fields(query).map((field) => ({ in: 'query', ...field }))),
        ],
        request: request === undefined ? null : describeBody(request),
        /** Null for a confirmation, which has no fields. */
        answer: response === null ? null : describeBody(response),
      };
    }),
    refusals: [describeBody('Error'), describeBody('ValidationError')],
    /** What is served differently from, or less than, what the contract speaks of. */
    leftOut,
  };
}

export type Parity = ReturnType<typeof createParity>;
export type ParityBody = Parity['refusals'][number];

function schemasOf(dialect: Dialect) {
  const requests = createRequestSchemas({ dialect, loose: false }, 1000);
  return { ...requests, ...bodySchemas(requests, dialect) };
}

function describeFields(extended: z.ZodType, spec: z.ZodType, name: string): ParityField[] {
  const inSpec = new Set([...fieldsOf(sourcedJsonSchema(spec, name))].map(({ field }) => field));
  const sources = new Map([...fieldsOf(sourcedJsonSchema(extended, name))].map(({ field, source }) => [field, source]));
  return [...sources].map(([field, source]) => {
    if (source === undefined)
      throw new Error(`${name} ${field} is assumed, and its schema does not say on what grounds.`);
    return { field, source, dialects: inSpec.has(field) ? ['spec', 'extended'] : ['extended'] };
  });
}

function inContract(field: string): ParityField {
  return { field, source: 'contract', dialects: ['spec', 'extended'] };
}

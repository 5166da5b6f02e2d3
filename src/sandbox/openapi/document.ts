import type { z } from 'zod';
import {
  furtherRoutesOf,
  operationNames,
  operations,
  type FurtherRoute,
  type OperationName,
} from '../core/operations.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { Dialect } from '../schemas/building-blocks.ts';
import { createRequestSchemas, type RequestSchemas } from '../schemas/request-schemas.ts';
import { sandboxVersion } from '../core/version.ts';
import { requestExamples, type RequestName } from './examples.ts';
import { describeSchema, openApiPath, pathParameters, queryParameters, type JsonSchema } from './json-schema.ts';
import { operationTexts, tags } from './operation-texts.ts';
import { refusalAnswers, refusalsOf } from './refusals.ts';
import { createResponseSchemas, type ResponseName } from './response-schemas.ts';

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: JsonSchema;
  servers: { url: string; description: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  /** By path and method in small letters. */
  paths: Record<string, Record<string, JsonSchema>>;
  components: Record<'schemas' | 'responses' | 'headers' | 'securitySchemes', Record<string, JsonSchema>>;
}

type DocumentSettings = Pick<SandboxSettings, 'dialect' | 'loose' | 'maxCallsPerBatch'>;

const dialectTexts: Readonly<Record<Dialect, string>> = {
  spec: 'This is the `spec` dialect: nothing beyond the contract is accepted, and only the gaps that must be filled are.',
  extended: 'This is the `extended` dialect: the contract, and beside it what comparable services are known to have.',
};

/** The service in OpenAPI 3.1, from the schemas that validate its requests. `x-source` says of each field where it comes from. */
export function createOpenApiDocument({ dialect, loose, maxCallsPerBatch }: DocumentSettings): OpenApiDocument {
  const schemas = createRequestSchemas({ dialect, loose }, maxCallsPerBatch);
  const paths: OpenApiDocument['paths'] = {};
  const add = ({ method, path }: { method: string; path: string }, operation: JsonSchema): void => {
    const key = openApiPath(path);
    paths[key] = { ...paths[key], [method.toLowerCase()]: operation };
  };
  for (const name of operationNames) add(operations[name], describeOperation(name, schemas, dialect));
  for (const route of furtherRoutesOf(dialect)) add(route, describeFurther(route, schemas));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Conversational voice agent service, as the Carillon sandbox serves it',
      version: sandboxVersion,
      description: `${dialectTexts[dialect]} Fields marked \`x-source: contract\` are named by the contract, all others are assumptions.`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The sandbox that served this document' }],
    security: [{ apiKey: [] }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(bodySchemas(schemas, dialect)).map(([name, schema]) => [name, describeSchema(schema, name)]),
      ),
      responses: refusalAnswers,
      headers: {
        RequestId: {
          description: 'The `x-request-id` of the request, or one made for it.',
          schema: { type: 'string' },
        },
        RetryAfter: { description: 'Seconds to wait, or a date.', schema: { type: 'string' } },
      },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'Read nowhere else.' },
      },
    },
  };
}

/** The schemas of all bodies, by their names in the document. */
export function bodySchemas(requests: RequestSchemas, dialect: Dialect): Record<RequestName | ResponseName, z.ZodType> {
  return {
    CreateAgentRequest: requests.createAgent,
    UpdateAgentRequest: requests.updateAgent,
    ImportPhoneNumberRequest: requests.importNumber,
    AssignPhoneNumberRequest: requests.assignNumber,
    BatchCallsRequest: requests.batch,
    ...createResponseSchemas(dialect),
  };
}

function describeOperation(name: OperationName, schemas: RequestSchemas, dialect: Dialect): JsonSchema {
  const { summary, description, request, query, response } = operationTexts[name];
  const { number, path } = operations[name];
  const parameters = [
    ...pathParameters(path).map((parameter) => ({ ...parameter, 'x-source': 'contract' })),
    ...(query === undefined ? [] : queryParameters(describeSchema(schemas[query], name))),
  ];
  return {
    operationId: name,
    tags: [tags.find(({ last }) => number <= last)?.name],
    summary,
    ...(description === undefined ? {} : { description }),
    'x-operation-number': number,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined ? {} : { requestBody: describeBody(request) }),
    responses: { ...describeAnswer(response, dialect), ...refusalsOf(name) },
  };
}

/** What it takes is what the sandbox checks; but for a recording, it answers with an object as comparable services do. */
function describeFurther({ method, path, says, takes }: FurtherRoute, schemas: RequestSchemas): JsonSchema {
  const operationId = [method, ...path.split(/\W+/).slice(2)].join('_').toLowerCase();
  const isRecording = takes === 'recording';
  const schema = takes === null ? {} : describeSchema(schemas[takes], operationId);
  const parameters = [...pathParameters(path), ...(method === 'POST' ? [] : queryParameters(schema))];
  const requestBody = { required: true, content: { 'application/json': { schema } } };
  return {
    operationId,
    summary: says,
    'x-source': 'assumption',
    parameters,
    ...(method === 'POST' && takes !== null ? { requestBody } : {}),
    ...(isRecording ? { security: [{ apiKey: [] }, {}] } : {}),
    responses: {
      ...(isRecording ? recording : describeAnswer(null, 'extended')),
      ...refusalsOf('assign_phone_number'),
    },
  };
}

const recording = { 200: { description: 'Done', content: { 'audio/wav': {} } } };

function describeBody(request: RequestName): JsonSchema {
  const content = { schema: refTo(request), example: requestExamples[request] };
  return { required: true, content: { 'application/json': content } };
}

/** A deletion is confirmed without a body, or with an empty one. */
function describeAnswer(response: string | null, dialect: Dialect): JsonSchema {
  const headers = { 'x-request-id': { $ref: '#/components/headers/RequestId' } };
  if (response === null && dialect === 'spec') return { 204: { description: 'Done', headers } };
  const content = { 'application/json': { schema: refTo(response ?? 'Confirmation') } };
  return { 200: { description: 'Done', headers, content } };
}

function refTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

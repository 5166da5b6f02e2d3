import type { z } from 'zod';
import { furtherRoutesOf, operationsOf, operations, type FurtherRoute, type OperationName } from '../../core/operations.ts';
import type { SandboxSettings } from '../../core/settings/settings.ts';
import type { Dialect } from '../../schemas/building-blocks.ts';
import { createRequestSchemas, type RequestSchemas } from '../../schemas/request-schemas.ts';
import { createDocument, jsonContent, parametersOf, refTo, type OpenApiDocument } from '../../openapi/document.ts';
import { requestExamples, type RequestName, operationTexts, tags } from './operation-texts.ts';
import { describeSchema, type JsonSchema } from '../../openapi/json-schema.ts';
import { createResponseSchemas, type ResponseName } from './response-schemas.ts';

type DocumentSettings = Pick<SandboxSettings, 'dialect' | 'loose' | 'maxCallsPerBatch'>;

const dialectTexts: Readonly<Record<Dialect, string>> = {
  spec: 'This is the `spec` dialect: nothing beyond the contract is accepted, and only the gaps that must be filled are.',
  extended: 'This is the `extended` dialect: the contract, and beside it what comparable services are known to have.',
  published: 'This is the `published` dialect: what comparable services are known to have, without the batches of the contract.',
};

/** The service in OpenAPI 3.1, from the schemas that validate its requests. Of each field it says where it comes from. */
export function createOpenApiDocument({ dialect, loose, maxCallsPerBatch }: DocumentSettings): OpenApiDocument {
  const schemas = createRequestSchemas({ dialect, loose }, maxCallsPerBatch);
  return createDocument({
    about: {
      title: 'Conversational voice agent service, as the Carillon sandbox serves it',
      description: `${dialectTexts[dialect]} Fields marked \`x-source: contract\` are named by the contract, all others are assumptions; \`x-basis\` says what these rest on.`,
    },
    security: [{ apiKey: [] }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    routes: [
      ...operationsOf(dialect).map((name) => ({ ...operations[name], operation: describeOperation(name, schemas, dialect) })),
      ...furtherRoutesOf(dialect).map((route) => ({ ...route, operation: describeFurther(route, schemas) })),
    ],
    components: {
      schemas: Object.fromEntries(
        Object.entries(bodySchemas(schemas, dialect)).map(([name, schema]) => [name, describeSchema(schema, name)]),
      ),
      responses: refusalAnswers,
      headers: {
        RequestId: { description: 'The `x-request-id` of the request, or one made for it.', schema: { type: 'string' } },
        RetryAfter: { description: 'Seconds to wait, or a date.', schema: { type: 'string' } },
      },
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: dialect === 'published' ? 'xi-api-key' : 'x-api-key',
          description: 'Read nowhere else.',
        },
      },
    },
  });
}

function bodySchemas(requests: RequestSchemas, dialect: Dialect): Record<RequestName | ResponseName, z.ZodType> {
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
  const taken = query === undefined ? undefined : describeSchema(schemas[query], name);
  return {
    operationId: name,
    tags: [tags.find(({ last }) => number <= last)?.name],
    summary,
    description,
    'x-operation-number': number,
    parameters: parametersOf(path, taken, { 'x-source': 'contract' }),
    requestBody: request && { required: true, content: jsonContent(refTo('schemas', request), { example: requestExamples[request] }) },
    responses: { ...describeAnswer(response, dialect), ...refusalsOf(name) },
  };
}

/** What it takes is what the sandbox checks; but for a recording, it answers with an object as comparable services do. */
function describeFurther(route: FurtherRoute, schemas: RequestSchemas): JsonSchema {
  const { method, path, says, takes } = route;
  const operationId = [method, ...path.split(/\W+/).slice(2)].join('_').toLowerCase();
  const isRecording = takes === 'recording';
  const taken = takes === null ? {} : describeSchema(schemas[takes], operationId);
  const isBody = method === 'POST' && takes !== null;
  const done = describeAnswer(null, 'extended');
  return {
    operationId,
    summary: says,
    'x-source': 'assumption',
    parameters: parametersOf(path, method === 'POST' ? undefined : taken),
    requestBody: isBody ? { required: true, content: jsonContent(taken) } : undefined,
    security: isRecording ? [{ apiKey: [] }, {}] : undefined,
    responses: {
      ...(isRecording ? recording : done),
      ...('also' in route ? { [route.also]: done[200] } : {}),
      ...refusalsOf('assign_phone_number'),
    },
  };
}

const recording = { 200: { description: 'Done', content: { 'audio/wav': {} } } };

/** A deletion is confirmed without a body, or with an empty one. */
function describeAnswer(response: string | null, dialect: Dialect): JsonSchema {
  const headers = { 'x-request-id': refTo('headers', 'RequestId') };
  if (response === null && dialect === 'spec') return { 204: { description: 'Done', headers } };
  return { 200: { description: 'Done', headers, content: jsonContent(refTo('schemas', response ?? 'Confirmation')) } };
}

/** The statuses by which every operation may refuse; the contract names 429 alone. */
const always = [400, 401, 403, 422, 429, 500] as const;

const ofBodies = [413, 415] as const;

const names = {
  400: ['BadRequest', 'It cannot be read, or has a key `__proto__`, or `constructor` with `prototype` in it.'],
  401: ['Unauthorized', 'The key is missing, wrong or revoked.'],
  403: ['Forbidden', 'The key may not do that.'],
  404: ['NotFound', 'There is no such thing, or it was deleted.'],
  409: ['Conflict', 'It is there already.'],
  413: ['TooLarge', 'The body is too large.'],
  415: ['UnsupportedMediaType', 'The body is not JSON.'],
  422: ['Invalid', 'Fields cannot be accepted; each is named.'],
  429: ['TooManyRequests', 'A limit of the plan is reached. Wait, then try again with growing pauses.'],
  500: ['Failed', 'The service failed. Whether it acted on the request is not known.'],
} as const;

export const refusalAnswers: Record<string, JsonSchema> = Object.fromEntries(
  Object.entries(names).map(([status, [name, description]]) => [name, describeRefusal(status, description)]),
);

export function refusalsOf(operation: OperationName): JsonSchema {
  const { request, refusals = [] } = operationTexts[operation];
  const statuses = [...always, ...refusals, ...(request === undefined ? [] : ofBodies)];
  return Object.fromEntries(statuses.map((status) => [status, refTo('responses', names[status][0])]));
}

function describeRefusal(status: string, description: string): JsonSchema {
  const headers = {
    'x-request-id': refTo('headers', 'RequestId'),
    'retry-after': status === '429' ? refTo('headers', 'RetryAfter') : undefined,
  };
  return { description, headers, content: jsonContent(refTo('schemas', status === '422' ? 'ValidationError' : 'Error')) };
}

import type { z } from 'zod';
import { furtherRoutesOf, operationNames, operations, type FurtherRoute, type OperationName } from '../../core/operations.ts';
import type { SandboxSettings } from '../../core/settings/settings.ts';
import type { Dialect } from '../../schemas/building-blocks.ts';
import { createRequestSchemas, type RequestSchemas } from '../../schemas/request-schemas.ts';
import { createDocument, jsonContent, parametersOf, refTo, type OpenApiDocument } from '../../openapi/document.ts';
import { requestExamples, type RequestName } from './examples.ts';
import { describeSchema, type JsonSchema } from '../../openapi/json-schema.ts';
import { operationTexts, tags } from './operation-texts.ts';
import { refusalAnswers, refusalsOf } from './refusals.ts';
import { createResponseSchemas, type ResponseName } from './response-schemas.ts';

type DocumentSettings = Pick<SandboxSettings, 'dialect' | 'loose' | 'maxCallsPerBatch'>;

const dialectTexts: Readonly<Record<Dialect, string>> = {
  spec: 'This is the `spec` dialect: nothing beyond the contract is accepted, and only the gaps that must be filled are.',
  extended: 'This is the `extended` dialect: the contract, and beside it what comparable services are known to have.',
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
      ...operationNames.map((name) => ({ ...operations[name], operation: describeOperation(name, schemas, dialect) })),
      ...furtherRoutesOf(dialect).map((route) => ({ ...route, operation: describeFurther(route, schemas) })),
    ],
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
    requestBody: request && {
      required: true,
      content: jsonContent(refTo('schemas', request), { example: requestExamples[request] }),
    },
    responses: { ...describeAnswer(response, dialect), ...refusalsOf(name) },
  };
}

/** What it takes is what the sandbox checks; but for a recording, it answers with an object as comparable services do. */
function describeFurther({ method, path, says, takes }: FurtherRoute, schemas: RequestSchemas): JsonSchema {
  const operationId = [method, ...path.split(/\W+/).slice(2)].join('_').toLowerCase();
  const isRecording = takes === 'recording';
  const taken = takes === null ? {} : describeSchema(schemas[takes], operationId);
  const isBody = method === 'POST' && takes !== null;
  return {
    operationId,
    summary: says,
    'x-source': 'assumption',
    parameters: parametersOf(path, method === 'POST' ? undefined : taken),
    requestBody: isBody ? { required: true, content: jsonContent(taken) } : undefined,
    security: isRecording ? [{ apiKey: [] }, {}] : undefined,
    responses: {
      ...(isRecording ? recording : describeAnswer(null, 'extended')),
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

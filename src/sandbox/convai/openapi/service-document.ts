import type { z } from 'zod';
import { factsOf, type DialectFacts } from '../../core/dialects.ts';
import { routesOf, type ServedRoute } from '../../core/operations.ts';
import { createDocument, jsonContent, parametersOf, refTo, type OpenApiDocument } from '../../openapi/document.ts';
import { describeSchema, type JsonSchema } from '../../openapi/json-schema.ts';
import { createRequestSchemas, schemaOf, type RequestSchemas, type RequestSettings } from '../../schemas/request-schemas.ts';
import { createResponseSchemas } from './response-schemas.ts';

const tags = [
  { name: 'agents', description: 'Operations 1 to 5', last: 5 },
  { name: 'conversations', description: 'Operations 6 to 10', last: 10 },
  { name: 'numbers', description: 'Operations 11 to 14', last: 14 },
];

/** OpenAPI 3.1 from the schemas that validate requests; every field names its source. */
export function createOpenApiDocument(settings: RequestSettings): OpenApiDocument {
  const facts = factsOf(settings);
  const requests = createRequestSchemas(settings);
  const bodies = Object.keys(examples).map((name): [string, z.ZodType] => [requestName(name), requests[name as keyof typeof examples]]);
  const schemas = [...bodies, ...Object.entries<z.ZodType>(createResponseSchemas(settings))];
  return createDocument({
    about: {
      title: 'Conversational voice agent service, as the Carillon sandbox serves it',
      description: `${facts.says} Fields marked \`x-source: contract\` are named by the contract, all others are assumptions; \`x-basis\` says what these rest on.`,
    },
    security: [{ apiKey: [] }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    routes: routesOf(settings.dialect).map((route) => ({ ...route, operation: describeRoute(route, requests, facts) })),
    components: {
      schemas: Object.fromEntries(schemas.map(([name, schema]) => [name, describeSchema(schema, name)])),
      responses: Object.fromEntries(
        Object.entries(refusals).map(([status, [name, description]]) => [name, describeRefusal(status, description)]),
      ),
      headers: {
        RequestId: { description: 'The `x-request-id` of the request, or one made for it.', schema: { type: 'string' } },
        RetryAfter: { description: 'Seconds to wait, or a date.', schema: { type: 'string' } },
      },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: facts.keyHeaders[0], description: 'Read nowhere else.' },
      },
    },
  });
}

/** `CreateAgentRequest` for the schema `createAgent`. */
function requestName(schema: string): string {
  return `${schema.charAt(0).toUpperCase()}${schema.slice(1)}Request`;
}

/** Input as validated; routes beyond the contract answer with an undescribed object. */
function describeRoute(route: ServedRoute, schemas: RequestSchemas, facts: DialectFacts): JsonSchema {
  const { name, method, path, number, says, more, query, body, answer, orStatus, refuses = [], isAlias, checksCallers } = route;
  const isOperation = number !== undefined && !isAlias;
  const operationId = isOperation ? name : [method, ...path.split(/\W+/).slice(2)].join('_').toLowerCase();
  const headers = { 'x-request-id': refTo('headers', 'RequestId') };
  const done = { description: 'Done', headers, content: jsonContent(refTo('schemas', answer ?? 'Confirmation')) };
  const statuses = [...always, ...refuses, ...(body === undefined && number !== undefined ? [] : ofBodies)];
  return {
    operationId,
    ...(isOperation
      ? { tags: [tags.find(({ last }) => number <= last)?.name], summary: says, description: more, 'x-operation-number': number }
      : { summary: isAlias ? `As operation ${number}` : says, 'x-source': 'assumption' }),
    parameters: parametersOf(
      path,
      query === undefined ? undefined : describeSchema(schemaOf(schemas, query), operationId),
      isOperation ? { 'x-source': 'contract' } : {},
    ),
    requestBody: body && { required: true, content: describeBody(body, schemas, operationId) },
    security: checksCallers && [{ apiKey: [] }, {}],
    responses: {
      ...(checksCallers
        ? { 200: { description: 'Done', content: { 'audio/wav': {} } } }
        : answer === undefined && !facts.further
          ? { 204: { description: 'Done', headers } }
          : { 200: done }),
      ...(orStatus && { [orStatus]: done }),
      ...Object.fromEntries(statuses.map((status) => [status, refTo('responses', refusals[status][0])])),
    },
  };
}

function describeBody(body: string, schemas: RequestSchemas, operationId: string): JsonSchema {
  if (!Object.hasOwn(examples, body)) return jsonContent(describeSchema(schemaOf(schemas, body), operationId));
  return jsonContent(refTo('schemas', requestName(body)), { example: examples[body as keyof typeof examples] });
}

/** Error statuses of every operation; the contract names only 429. */
const always = [400, 401, 403, 422, 429, 500] as const;

const ofBodies = [413, 415] as const;

const refusals = {
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

function describeRefusal(status: string, description: string): JsonSchema {
  const headers = {
    'x-request-id': refTo('headers', 'RequestId'),
    'retry-after': status === '429' ? refTo('headers', 'RetryAfter') : undefined,
  };
  return { description, headers, content: jsonContent(refTo('schemas', status === '422' ? 'ValidationError' : 'Error')) };
}

const examples = {
  createAgent: {
    name: 'Appointment desk',
    tags: ['autumn'],
    conversation_config: {
      tts: { voice_id: 'voice_calm' },
      agent: {
        first_message: 'Hello, I am calling about your appointment.',
        prompt: { prompt: 'You remind people of an appointment and ask whether they will come.' },
        llm: { temperature: 0.3 },
      },
    },
  },
  updateAgent: { conversation_config: { agent: { first_message: 'Good morning!' } } },
  importPhoneNumber: {
    label: 'Front desk',
    phone_number: '+12125550123',
    telephony_account_sid: 'account-1',
    telephony_auth_token: 'not-a-real-token',
  },
  assignPhoneNumber: { agent_id: 'agent_reminders' },
  batchCalls: {
    agent_id: 'agent_reminders',
    from_phone_number_id: 'pn_main',
    calls: [
      { to_phone_number: '+12125550100', conversation_config_override: { agent: { first_message: 'Hello Ada, this is your reminder.' } } },
      { to_phone_number: '+442079460101' },
    ],
  },
} as const satisfies Partial<Record<keyof RequestSchemas, unknown>>;

import type { ControlRoute } from '../http/serve-control.ts';
import { sandboxVersion } from '../core/version.ts';
import type { OpenApiDocument } from './document.ts';
import { openApiPath, pathParameters, queryParameters, toJsonSchema, type JsonSchema } from './json-schema.ts';

const refusals = {
  Unauthorized: 'The control token is missing or wrong.',
  Forbidden: 'It was asked for by another site, or under a name that is not of this sandbox.',
  NotFound: 'There is no such thing.',
  Conflict: 'How things stand does not allow it.',
  Invalid: 'Query or body cannot be accepted; each field is named.',
} as const;
type Refusal = keyof typeof refusals;

/** The sandbox's own controls in OpenAPI 3.1, from their routes and the schemas that validate. */
export function createControlDocument(
  routes: readonly ControlRoute[],
  { needsToken }: { needsToken: boolean },
): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  const schemas: Record<string, JsonSchema> = { Refusal: refusalSchema };
  for (const route of routes) {
    const { method, path, about } = route;
    const key = openApiPath(path);
    if (about.body !== undefined) schemas[bodyName(route)] = toJsonSchema(about.body, bodyName(route));
    paths[key] = { ...paths[key], [method.toLowerCase()]: describeControl(route, needsToken) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Controls of the Carillon sandbox',
      version: sandboxVersion,
      description:
        'No part of the service: what no real service has. The service itself is described by `/openapi.json`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The sandbox that served this document' }],
    security: needsToken ? [{ controlToken: [] }] : [],
    tags: [],
    paths,
    components: {
      schemas,
      responses: Object.fromEntries(Object.entries(refusals).map(([name, text]) => [name, describeRefusal(text)])),
      headers: {},
      securitySchemes: { controlToken: { type: 'http', scheme: 'bearer', description: 'The control token.' } },
    },
  };
}

const refusalSchema: JsonSchema = {
  type: 'object',
  required: ['detail'],
  properties: {
    detail: {
      description: 'One object with message and code; or, for fields, one with loc, msg and type for each.',
      type: ['object', 'array'],
    },
  },
};

function describeControl(route: ControlRoute, needsToken: boolean): JsonSchema {
  const { method, path, about } = route;
  const {
    says,
    query,
    body,
    bodyIsOptional = false,
    takes = 'application/json',
    answers = ['application/json'],
  } = about;
  const inPath = pathParameters(path);
  const parameters = [...inPath, ...(query === undefined ? [] : queryParameters(toJsonSchema(query, 'query')))];
  const refusedWith: [status: number, name: Refusal, applies: boolean][] = [
    [401, 'Unauthorized', needsToken && about.open !== true],
    [403, 'Forbidden', true],
    [404, 'NotFound', inPath.length > 0],
    [409, 'Conflict', method !== 'GET'],
    [422, 'Invalid', query !== undefined || body !== undefined],
  ];
  const refused = refusedWith.filter(([, , applies]) => applies);
  const content = { [takes]: { schema: { $ref: `#/components/schemas/${bodyName(route)}` } } };
  return {
    operationId: operationId(route),
    summary: says,
    ...(needsToken && about.open === true ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: !bodyIsOptional, content } }),
    responses: {
      200: {
        description: 'Done',
        content: Object.fromEntries(
          answers.map((type) => [type, { schema: { type: type === 'application/json' ? 'object' : 'string' } }]),
        ),
      },
      ...Object.fromEntries(refused.map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }])),
    },
  };
}

function describeRefusal(description: string): JsonSchema {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } } };
}

/** Such as `post_clock_advance`. */
function operationId({ method, path }: ControlRoute): string {
  return [method.toLowerCase(), ...(path.match(/\w+/g) ?? []).slice(1)].join('_');
}

function bodyName(route: ControlRoute): string {
  return `${operationId(route)}_body`;
}

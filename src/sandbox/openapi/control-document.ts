import type { ControlRoute } from '../http/serve-control.ts';
import { createDocument, jsonContent, parametersOf, refTo, type OpenApiDocument } from './document.ts';
import { toJsonSchema, type JsonSchema } from './json-schema.ts';

const refusals = {
  Unauthorized: 'The control token is missing or wrong.',
  Forbidden: 'It was asked for by another site, or under a name that is not of this sandbox.',
  NotFound: 'There is no such thing.',
  Conflict: 'How things stand does not allow it.',
  Invalid: 'Query or body cannot be accepted; each field is named.',
} as const;
type Refusal = keyof typeof refusals;

/** From the routes and the schemas that validate. */
export function createControlDocument(routes: readonly ControlRoute[], { needsToken }: { needsToken: boolean }): OpenApiDocument {
  const bodies = routes.flatMap((route) => {
    const { body } = route.about;
    return body === undefined ? [] : [[bodyName(route), toJsonSchema(body, bodyName(route))]];
  });
  return createDocument({
    about: {
      title: 'Controls of the Carillon sandbox',
      description: 'No part of the service: what no real service has. The service itself is described by `/openapi.json`.',
    },
    security: needsToken ? [{ controlToken: [] }] : [],
    tags: [],
    routes: routes.map((route) => ({ ...route, operation: describeControl(route, needsToken) })),
    components: {
      schemas: { Refusal: refusalSchema, ...Object.fromEntries(bodies) },
      responses: Object.fromEntries(
        Object.entries(refusals).map(([name, description]) => [name, { description, content: jsonContent(refTo('schemas', 'Refusal')) }]),
      ),
      headers: {},
      securitySchemes: { controlToken: { type: 'http', scheme: 'bearer', description: 'The control token.' } },
    },
  });
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
  const { query, body, bodyIsOptional = false, takes = 'application/json', answers = ['application/json'] } = about;
  const isOpen = needsToken && about.open === true;
  const refusedWith: [status: number, name: Refusal, applies: boolean][] = [
    [401, 'Unauthorized', needsToken && !isOpen],
    [403, 'Forbidden', true],
    [404, 'NotFound', path.includes(':')],
    [409, 'Conflict', method !== 'GET'],
    [422, 'Invalid', query !== undefined || body !== undefined],
  ];
  const refused = refusedWith.filter(([, , applies]) => applies);
  const answered = answers.map((type) => [type, { schema: { type: type === 'application/json' ? 'object' : 'string' } }]);
  return {
    operationId: operationId(route),
    summary: about.says,
    security: isOpen ? [] : undefined,
    parameters: parametersOf(path, query && toJsonSchema(query, 'query')),
    requestBody: body && { required: !bodyIsOptional, content: { [takes]: { schema: refTo('schemas', bodyName(route)) } } },
    responses: {
      200: { description: 'Done', content: Object.fromEntries(answered) },
      ...Object.fromEntries(refused.map(([status, name]) => [status, refTo('responses', name)])),
    },
  };
}

function operationId({ method, path }: ControlRoute): string {
  return [method.toLowerCase(), ...(path.match(/\w+/g) ?? []).slice(1)].join('_');
}

function bodyName(route: ControlRoute): string {
  return `${operationId(route)}_body`;
}

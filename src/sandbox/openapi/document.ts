import { sandboxVersion } from '../core/version.ts';
import { pathParameters, queryParameters, type JsonSchema, type ObjectSchema } from './json-schema.ts';

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: JsonSchema;
  servers: { url: string; description: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, JsonSchema>>;
  components: Record<'schemas' | 'responses' | 'headers' | 'securitySchemes', Record<string, JsonSchema>>;
}

/** Undefined members are left out of the JSON. */
export interface DescribedRoute {
  method: string;
  path: string;
  operation: JsonSchema;
}

export function createDocument({
  about: { title, description },
  routes,
  ...rest
}: Pick<OpenApiDocument, 'security' | 'tags' | 'components'> & {
  about: { title: string; description: string };
  routes: readonly DescribedRoute[];
}): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const { method, path, operation } of routes) (paths[path.replaceAll(/:(\w+)/g, '{$1}')] ??= {})[method.toLowerCase()] = operation;
  return {
    openapi: '3.1.0',
    info: { title, version: sandboxVersion, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'The sandbox that served this document' }],
    paths,
    ...rest,
  };
}

/** Path parameters plus, given a schema, query parameters; undefined for none. */
export function parametersOf(path: string, query: ObjectSchema = {}, more: JsonSchema = {}): JsonSchema[] | undefined {
  const parameters = [...pathParameters(path).map((parameter) => ({ ...parameter, ...more })), ...queryParameters(query)];
  return parameters.length === 0 ? undefined : parameters;
}

export function refTo(group: keyof OpenApiDocument['components'], name: string): JsonSchema {
  return { $ref: `#/components/${group}/${name}` };
}

export function jsonContent(schema: JsonSchema, more: JsonSchema = {}): JsonSchema {
  return { 'application/json': { schema, ...more } };
}

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifyInstance } from 'fastify';
import { onTestFinished } from 'vitest';
import { Service } from '../../../src/sandbox/core/service/service.ts';
import { resolveSettings, type SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { createServer } from '../../../src/sandbox/server.ts';
import type { OpenApiDocument } from '../../../src/sandbox/openapi/document.ts';
import { createOpenApiDocument } from '../../../src/sandbox/convai/openapi/service-document.ts';
import type { Dialect } from '../../../src/sandbox/core/dialects.ts';
import { createManualClock } from '../manual-clock.ts';

export type Schema = Record<string, unknown>;

export function documentOf(dialect: Dialect): OpenApiDocument {
  // As a reader of the JSON gets it.
  const document = createOpenApiDocument(resolveSettings({ dialect }));
  return JSON.parse(JSON.stringify(document)) as OpenApiDocument;
}

/** Such as `#/components/schemas/Agent`; undefined when it leads nowhere. */
export function follow(document: unknown, ref: string): unknown {
  const parts = ref.replace(/^#\/?/, '').split('/').filter(Boolean);
  return parts.reduce<unknown>(
    (value, part) => (value as Schema | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
}

interface Visit {
  path: string;
  value: Schema;
}

export function* walk(value: unknown, path = '#'): Generator<Visit> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { path, value: value as Schema };
  for (const [key, inner] of Object.entries(value)) yield* walk(inner, `${path}/${key}`);
}

export interface DescribedOperation {
  path: string;
  method: string;
  operation: Schema;
}

export function operationsOf(document: OpenApiDocument): DescribedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** `GET /_sandbox/calls/:call_id` for every operation of a document. */
export function routesIn(document: OpenApiDocument): string[] {
  const routes = operationsOf(document).map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
  return routes.sort();
}

/** The sandbox's server without a port. */
export function createApp(options: SandboxOptions = {}): FastifyInstance {
  const service = new Service(resolveSettings(options), createManualClock());
  const app = createServer(service);
  onTestFinished(async () => {
    service.close();
    await app.close();
  });
  return app;
}

/** The same for installed routes, as the router prints them. */
export async function installed(app: FastifyInstance, paths: RegExp): Promise<string[]> {
  await app.ready();
  const above: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods] = /^(.*?[├└]── )(\S+)(?: \((.*)\))?$/.exec(line) ?? [];
      above.splice(indent.length / 4 - 1, Infinity, part);
      const path = above.join('').replaceAll('//', '/');
      return methods?.split(', ').map((method) => `${method} ${path}`) ?? [];
    })
    .filter((route) => paths.test(route))
    .sort();
}

/** What makes it no OpenAPI 3.1 document, beyond JSON Schema. */
export function faultsOf(document: OpenApiDocument): string[] {
  const faults: string[] = [];
  if (!/^3\.1\.\d+$/.test(document.openapi)) faults.push('openapi: no version of 3.1');
  for (const field of ['title', 'version']) if (typeof document.info[field] !== 'string') faults.push(`info.${field}`);
  for (const { path, value } of walk(document)) {
    const ref = value['$ref'];
    if (typeof ref === 'string' && follow(document, ref) === undefined) faults.push(`${path}: ${ref} leads nowhere`);
  }
  for (const group of Object.keys(document.components))
    for (const name of Object.keys(follow(document, `#/components/${group}`) as Schema))
      if (!/^[\w.-]+$/.test(name)) faults.push(`components.${group}.${name}: not a name`);
  const ids = new Set<unknown>();
  for (const { path, method, operation } of operationsOf(document)) {
    const place = `${method} ${path}`;
    if (!/^(get|put|post|delete|options|head|patch|trace)$/.test(method)) faults.push(`${place}: no method`);
    if (ids.has(operation['operationId'])) faults.push(`${place}: operationId is not unique`);
    ids.add(operation['operationId']);
    faults.push(...parameterFaults(path, place, (operation['parameters'] ?? []) as Schema[]));
    const responses = (operation['responses'] ?? {}) as Record<string, Schema>;
    if (Object.keys(responses).length === 0) faults.push(`${place}: no responses`);
    for (const [status, response] of Object.entries(responses)) {
      const resolved = typeof response['$ref'] === 'string' ? follow(document, response['$ref']) : response;
      if (!/^[1-5]\d\d$/.test(status)) faults.push(`${place}: ${status} is no status`);
      if (typeof (resolved as Schema | undefined)?.['description'] !== 'string') faults.push(`${place} ${status}: no description`);
    }
    for (const tag of (operation['tags'] ?? []) as string[])
      if (!document.tags.some(({ name }) => name === tag)) faults.push(`${place}: tag ${tag} is not declared`);
  }
  for (const requirement of document.security)
    for (const scheme of Object.keys(requirement))
      if (!Object.hasOwn(document.components.securitySchemes, scheme)) faults.push(`security: ${scheme} is not declared`);
  return faults;
}

function parameterFaults(path: string, place: string, parameters: Schema[]): string[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const declared = parameters.filter((parameter) => parameter['in'] === 'path');
  const names = parameters.map((parameter) => `${String(parameter['in'])} ${String(parameter['name'])}`);
  return [
    ...inPath.filter((name) => !declared.some((each) => each['name'] === name)).map((name) => `${place}: ${name} is not declared`),
    ...declared.filter(({ name }) => !inPath.includes(name as string)).map(({ name }) => `${place}: ${String(name)} is not in the path`),
    ...declared.filter(({ required }) => required !== true).map(({ name }) => `${place}: ${String(name)} is not required`),
    ...(new Set(names).size === names.length ? [] : [`${place}: a parameter stands twice`]),
    ...parameters.filter(({ schema }) => typeof schema !== 'object').map(({ name }) => `${place}: ${String(name)} has no schema`),
  ];
}

/** By reference. Strict about the vocabulary, so that a misspelt keyword shows. */
export function createValidator(document: OpenApiDocument): (ref: string) => ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true, validateFormats: false });
  ajv.addVocabulary(['x-source', 'x-basis', 'openapi', 'info', 'servers', 'security', 'tags', 'paths', 'components']);
  ajv.addSchema({ ...document, $id: 'urn:sandbox:document' });
  return (ref) => ajv.compile({ $ref: `urn:sandbox:document${ref}` });
}

/** Closes objects with named fields, so that an undescribed field shows; open ones (`additionalProperties`) stay open. */
export function closed(document: OpenApiDocument): OpenApiDocument {
  const copy = structuredClone(document);
  for (const { value } of walk(copy.components.schemas))
    if (typeof value['properties'] === 'object' && value['type'] === 'object' && !('additionalProperties' in value))
      value['additionalProperties'] = false;
  return copy;
}

/** Paths of all fields below a schema, with their source: `agents[].name`. */
export function* fieldsOf(schema: unknown, path = ''): Generator<{ field: string; source: unknown; basis: unknown }> {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties, items, anyOf, oneOf, allOf } = schema as Record<string, Schema>;
  for (const [name, inner] of Object.entries(properties ?? {})) {
    const field = path === '' ? name : `${path}.${name}`;
    yield { field, source: (inner as Schema)['x-source'], basis: (inner as Schema)['x-basis'] };
    yield* fieldsOf(inner, field);
  }
  if (items !== undefined) yield* fieldsOf(items, `${path}[]`);
  for (const part of [anyOf, oneOf, allOf]) for (const each of Object.values(part ?? {})) yield* fieldsOf(each, path);
}

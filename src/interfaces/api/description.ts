import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import type { Api } from './core/app.ts';

interface Described {
  paths?: Record<string, Record<string, { responses?: Record<string, { content?: Record<string, unknown> }> }>>;
  components?: { schemas?: Record<string, unknown> };
}

/** The OpenAPI document, without the schemas that no route names: of each one there are two, for what is sent and what is answered. */
export function describeApi(app: Api): object {
  const document = structuredClone(app.swagger() as Described);
  describeRefusals(document);
  const schemas = document.components?.schemas ?? {};
  let kept = Object.entries(schemas);
  for (;;) {
    const text = JSON.stringify({
      ...document,
      components: { ...document.components, schemas: Object.fromEntries(kept) },
    });
    const used = kept.filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
    if (used.length === kept.length) return JSON.parse(text) as object;
    kept = used;
  }
}

/** A refusal is a problem, whatever the route gives otherwise. */
function describeRefusals({ paths = {} }: Described): void {
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path)))
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      const schema = Object.values(response.content ?? {})[0];
      if (Number(status) >= 400 && schema !== undefined) response.content = { 'application/problem+json': schema };
    }
}

/** A route, the role that it takes, and its files, which no schema of its body tells of: they are streamed. */
export const describeRoute: typeof jsonSchemaTransform = (route) => {
  const described = jsonSchemaTransform(route);
  const { role, files } = route.route.config ?? {};
  if (described.schema.hide === true) return described;
  const says = [described.schema.description, `Takes the role ${role}.`].filter((text) => text !== undefined);
  const schema = { ...described.schema, description: says.join('\n\n') };
  if (files === undefined) return { ...described, schema };
  const properties = Object.fromEntries(files.map((name) => [name, { type: 'string', format: 'binary' }]));
  return { ...described, schema: { ...schema, body: { type: 'object', required: files, properties } } };
};

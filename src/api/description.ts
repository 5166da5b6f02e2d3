import type { Api } from './core/app.ts';

/** The OpenAPI document, without the schemas that no route names: of each one there are two, for what is sent and what is answered. */
export function describeApi(app: Api): object {
  const document = app.swagger() as { components?: { schemas?: Record<string, unknown> } };
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

import type { FastifyInstance } from 'fastify';
import type { SandboxSettings } from '../core/settings/settings.ts';
import { createOpenApiDocument, type OpenApiDocument } from './document.ts';

/** The sandbox's own route, in either dialect and without a key. The document is made when it is first asked for. */
export function serveOpenApi(app: FastifyInstance, settings: SandboxSettings): void {
  let document: OpenApiDocument | undefined;
  app.get('/openapi.json', async () => {
    document ??= createOpenApiDocument(settings);
    return document;
  });
}

import type { FastifyInstance } from 'fastify';
import type { SandboxSettings } from '../core/settings/settings.ts';
import { serveControl, type ControlRoute } from '../http/serve-control.ts';
import { createControlDocument } from './control-document.ts';
import type { OpenApiDocument } from './document.ts';
import { createOpenApiDocument } from './service-document.ts';

/**
 * The service in OpenAPI, in either dialect and without a key, and the sandbox's own controls. What costs time is made when it is first
 * asked for.
 */
export function installOpenApi(
  app: FastifyInstance,
  settings: SandboxSettings,
  controls: readonly ControlRoute[],
): void {
  let document: OpenApiDocument | undefined;
  app.get('/openapi.json', async () => (document ??= createOpenApiDocument(settings)));
  serveControl(app, 'GET /_sandbox/openapi.json', {
    says: 'Describes the controls in OpenAPI 3.1.',
    answer: () => createControlDocument(controls, { needsToken: settings.controlToken !== null }),
  });
}

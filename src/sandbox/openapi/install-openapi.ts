import type { FastifyInstance } from 'fastify';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { ControlRoute } from '../http/control-about.ts';
import { serveControl } from '../http/serve-operation.ts';
import { createControlDocument } from './control-document.ts';
import { createOpenApiDocument, type OpenApiDocument } from './document.ts';
import { createParity, type Parity } from './parity.ts';

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
  app.get('/openapi.json', async () => {
    document ??= createOpenApiDocument(settings);
    return document;
  });
  serveControl(app, 'GET', 'openapi.json', { says: 'Describes the controls in OpenAPI 3.1.' }, () =>
    createControlDocument(controls, { needsToken: settings.controlToken !== null }),
  );
  controlParity(app);
}

/** Where each operation and field comes from. Made when it is first asked for. */
function controlParity(app: FastifyInstance): void {
  let parity: Parity | undefined;
  serveControl(
    app,
    'GET',
    'parity',
    { says: 'Tells of each operation and field where it comes from.' },
    () => (parity ??= createParity()),
  );
}

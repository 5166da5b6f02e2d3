import type { FastifyInstance } from 'fastify';
import { serveControl } from '../http/serve-operation.ts';
import { sandboxVersion } from '../core/version.ts';
import type { ControlRoute } from '../http/control-about.ts';

const documentPath = '/_sandbox/openapi.json';

/** Tells what is under /_sandbox, from the routes themselves: those that are installed after this was called, and its own. Returns them. */
export function controlIndex(app: FastifyInstance): readonly ControlRoute[] {
  const routes: ControlRoute[] = [];
  app.addHook('onRoute', ({ method, path, config }) => {
    const about = config?.control;
    if (about !== undefined) for (const each of [method].flat()) routes.push({ method: each, path, about });
  });

  const index = { says: 'Lists the controls.', answers: ['application/json', 'text/plain'] };
  serveControl(app, 'GET', '', index, (request, reply) => {
    const listed = routes.map(({ method, path, about }) => ({ method, path, says: about.says })).sort(byPath);
    if (!/\btext\/html\b/.test(request.headers.accept ?? ''))
      return { sandbox: true, version: sandboxVersion, openapi: documentPath, controls: listed };
    const lines = listed.map(
      ({ method, path, says }) => `${method.padEnd(6)} ${path.padEnd(longest(listed))}  ${says}\n`,
    );
    return reply.type('text/plain; charset=utf-8').send(lines.join(''));
  });

  return routes;
}

type Listed = { method: string; path: string; says: string };

function byPath(left: Listed, right: Listed): number {
  return left.path < right.path ? -1 : Number(left.path > right.path);
}

function longest(listed: readonly Listed[]): number {
  return Math.max(...listed.map(({ path }) => path.length));
}

import type { FastifyInstance } from 'fastify';
import { createControlDocument } from '../openapi/control-document.ts';
import { announceChanges } from '../http/announce-changes.ts';
import type { Service } from '../core/service/service.ts';
import { guardControl } from '../http/access.ts';
import { serveControl, type ControlRoute } from '../http/serve-control.ts';
import { sandboxVersion } from '../core/version.ts';
import { controlCalls } from './calls.ts';
import { controlClock, controlIdle } from './clock.ts';
import { controlConduct, controlJournal } from './journal.ts';
import { controlEvents } from './events.ts';
import { controlFaults } from './faults.ts';
import { controlFixture } from './fixture.ts';
import { controlGates } from './gates.ts';
import { controlInfo } from './info.ts';
import { controlNumbers } from './numbers.ts';
import { controlWorld } from './world.ts';

/** The sandbox's own interface, under /_sandbox: no API key, not in the journal, not part of the service. */
export function installControl(app: FastifyInstance, service: Service): void {
  guardControl(app, service.settings);
  announceChanges(app, service);
  controlIndex(app, service);
  controlInfo(app, service);
  controlClock(app, service);
  controlIdle(app, service);
  controlEvents(app, service);
  controlCalls(app, service);
  controlNumbers(app, service);
  controlConduct(app, service);
  controlJournal(app, service);
  controlWorld(app, service);
  controlFaults(app, service);
  controlFixture(app, service);
  controlGates(app, service);
}

function controlIndex(app: FastifyInstance, { settings }: Service): void {
  const routes: ControlRoute[] = [];
  app.addHook('onRoute', ({ method, path, config }) => {
    const about = config?.control;
    if (about !== undefined) for (const each of [method].flat()) routes.push({ method: each, path, about });
  });

  serveControl(app, 'GET /_sandbox', {
    says: 'Lists the controls.',
    answers: ['application/json', 'text/plain'],
    answer: ({ request, reply }) => {
      const listed = routes.map(({ method, path, about }) => ({ method, path, says: about.says })).sort(byPath);
      if (!/\btext\/html\b/.test(request.headers.accept ?? ''))
        return { sandbox: true, version: sandboxVersion, openapi: '/_sandbox/openapi.json', controls: listed };
      const longest = Math.max(...listed.map(({ path }) => path.length));
      const lines = listed.map(({ method, path, says }) => `${method.padEnd(6)} ${path.padEnd(longest)}  ${says}\n`);
      return reply.type('text/plain; charset=utf-8').send(lines.join(''));
    },
  });

  serveControl(app, 'GET /_sandbox/openapi.json', {
    says: 'Describes the controls in OpenAPI 3.1.',
    answer: () => createControlDocument(routes, { needsToken: settings.controlToken !== null }),
  });
}

function byPath(left: { path: string }, right: { path: string }): number {
  return left.path < right.path ? -1 : Number(left.path > right.path);
}

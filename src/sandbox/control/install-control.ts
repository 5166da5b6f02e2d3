import type { FastifyInstance } from 'fastify';
import { createControlDocument } from '../openapi/control-document.ts';
import { announceChanges } from '../http/announce-changes.ts';
import type { Service } from '../core/service/service.ts';
import { guardControl } from '../http/access.ts';
import { serveControl, type ControlRoute } from '../http/serve-control.ts';
import { sandboxVersion } from '../core/version.ts';
import { controlCalls } from './calls.ts';
import { controlClock, controlIdle, describeClock } from './clock.ts';
import { controlConduct, controlJournal } from './journal.ts';
import { controlEvents } from './events.ts';
import { controlFaults, controlGates } from './faults.ts';
import { controlFixture, controlNumbers, controlWorld } from './world.ts';
import { countStates } from '../core/state/call.ts';

/** No API key, not journaled, not part of the service. */
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

function controlInfo(app: FastifyInstance, service: Service): void {
  const { settings, storage, clock, people } = service;
  serveControl(app, 'GET /_sandbox/health', {
    says: 'Tells, without a token, that this is a sandbox and how its clock runs.',
    open: true,
    answer: () => ({
      sandbox: true,
      version: sandboxVersion,
      dialect: settings.dialect,
      clock: { speed: clock.speed, anchorRealMs: clock.anchorRealMs, anchorServiceMs: clock.anchorServiceMs },
    }),
  });

  serveControl(app, 'GET /_sandbox/info', {
    says: 'Tells version, settings and clock, where the state is kept, and how much of it there is.',
    answer: () => ({
      sandbox: true,
      version: sandboxVersion,
      url: service.baseUrl,
      dialect: settings.dialect,
      plan: settings.plan,
      settings: {
        seed: settings.seed,
        loose: settings.loose,
        concurrency: settings.concurrency,
        requests_per_second: settings.requestsPerSecond,
        max_calls_per_batch: settings.maxCallsPerBatch,
        unanswered_create_record: settings.unansweredCreateRecord,
        mean_talk_seconds: settings.meanTalkSeconds,
        outcome_mix: settings.outcomeMix,
        list_order: settings.listOrder,
        records: people.records,
        late_rings: people.world.late_rings ?? null,
        seed_data: settings.seedData,
        control_token: settings.controlToken !== null,
      },
      clock: describeClock(service),
      storage: storage === null ? { kind: 'memory' } : { kind: 'file', path: storage.path },
      counts: {
        agents: service.state.agents.size,
        phone_numbers: service.state.numbers.size,
        conversations: service.state.conversations.size,
        calls: { all: service.state.calls.length, ...countStates(service.state.calls, clock.now()) },
        lines_in_use: service.network.linesInUse,
        calls_waiting: service.network.waiting,
        fault_rules: service.faults.list().length,
        listeners: service.events.listeners,
      },
    }),
  });
}

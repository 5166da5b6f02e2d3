import type { FastifyInstance } from 'fastify';
import { serveControl } from '../http/serve-control.ts';
import type { Service } from '../core/service/service.ts';
import { countStates } from '../core/state/call.ts';
import { sandboxVersion } from '../core/version.ts';
import { describeClock } from './clock.ts';

export function controlInfo(app: FastifyInstance, service: Service): void {
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

import type { FastifyInstance } from 'fastify';
import type { JournalEntry } from '../judge/journal.ts';
import type { Service } from '../core/service/service.ts';
import type { PhoneNumber } from '../core/state/agent.ts';
import type { ServiceState } from '../core/state/service-state.ts';

/** Before an answer goes out: tells what the request has changed, and sees to it that a write that is answered is kept. */
export function announceChanges(app: FastifyInstance, service: Service): void {
  const watches = [
    watch(
      'agent',
      ({ agents }) => agents,
      (id, agent) => ({ agent_id: id, name: agent?.name ?? null }),
    ),
    watch('number', ({ numbers }) => numbers, describeNumber),
  ];
  let watched: ServiceState | null = null;
  const look = (): void => {
    watched = service.state;
    for (const each of watches) each.look(watched);
  };
  // What is restored before the first request is no change, and a state that was replaced has none.
  app.addHook('onReady', async () => look());
  app.addHook('onSend', async (request) => {
    const faulted = (request.exchange.entry?.faults.length ?? 0) > 0;
    if (request.method === 'GET' && !faulted) return;
    if (watched === service.state)
      for (const each of watches) for (const change of each.changes(watched)) service.events.emit(each.kind, service.clock.now(), change);
    look();
    await service.storage?.flush();
  });
}

/** Finds what has changed among things of one kind since it last looked, whoever changed it. There are few of them. */
function watch<Thing extends object>(
  kind: 'agent' | 'number',
  thingsOf: (state: ServiceState) => ReadonlyMap<string, Thing>,
  describe: (id: string, thing: Thing | null) => Record<string, unknown>,
) {
  let seen = new Map<string, Thing>();
  const isSame = (a: Thing, b: Thing): boolean => {
    const keys = Object.keys(b) as (keyof Thing)[];
    return keys.length === Object.keys(a).length && keys.every((key) => a[key] === b[key]);
  };
  return {
    kind,
    /** Copies them: a number is changed in place. */
    look: (state: ServiceState): void => {
      seen = new Map([...thingsOf(state)].map(([id, thing]) => [id, { ...thing }]));
    },
    *changes(state: ServiceState) {
      const things = thingsOf(state);
      for (const [id, thing] of things) {
        const known = seen.get(id);
        if (known === undefined) yield { change: 'created', ...describe(id, thing) };
        else if (!isSame(known, thing)) yield { change: 'changed', ...describe(id, thing) };
      }
      for (const id of seen.keys()) if (!things.has(id)) yield { change: 'deleted', ...describe(id, null) };
    },
  };
}

function describeNumber(id: string, number: PhoneNumber | null): Record<string, unknown> {
  return {
    phone_number_id: id,
    phone_number: number?.phoneNumber ?? null,
    agent_id: number?.agentId ?? null,
    verified: number?.verified ?? null,
  };
}

export function announceRequest({ events, clock }: Pick<Service, 'events' | 'clock'>, entry: JournalEntry): void {
  const { sequence, method, path, operation, status, ending } = entry;
  const now = clock.now();
  for (const ruleId of entry.faults) events.emit('fault', now, { rule_id: ruleId, request: sequence, operation });
  events.emit('request', now, {
    sequence,
    method,
    path,
    operation,
    status,
    ending,
    duration_ms: entry.durationMs,
    unmatched: entry.unmatched,
    faults: entry.faults,
    batch_id: entry.batchId,
  });
}

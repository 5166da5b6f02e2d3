import type { FastifyInstance } from 'fastify';
import type { JournalEntry } from '../judge/journal.ts';
import type { Service } from '../core/service/service.ts';
import type { Agent, PhoneNumber } from '../core/state/agent.ts';
import type { ServiceState } from '../core/state/service-state.ts';

/** What is reported of each; null once deleted. There are few. */
const watched = {
  agent: {
    in: ({ agents }: ServiceState): ReadonlyMap<string, Agent> => agents,
    describe: (id: string, agent: Agent | null) => ({ agent_id: id, name: agent?.name ?? null }),
  },
  number: {
    in: ({ numbers }: ServiceState): ReadonlyMap<string, PhoneNumber> => numbers,
    describe: (id: string, number: PhoneNumber | null) => ({
      phone_number_id: id,
      phone_number: number?.phoneNumber ?? null,
      agent_id: number?.agentId ?? null,
      verified: number?.verified ?? null,
    }),
  },
};

/** Reports what the request changed and stores it before the answer is sent. */
export function announceChanges(app: FastifyInstance, service: Service): void {
  let state: ServiceState | null = null;
  const kinds = [watch(service, 'agent', watched.agent), watch(service, 'number', watched.number)];
  const checkForChanges = (announces: boolean): void => {
    for (const each of kinds) each(announces && state === service.state);
    ({ state } = service);
  };
  // A restore before the first request is no change, and a replaced state has none.
  app.addHook('onReady', async () => checkForChanges(false));
  app.addHook('onSend', async (request) => {
    const faulted = (request.exchange.entry?.faults.length ?? 0) > 0;
    if (request.method === 'GET' && !faulted) return;
    checkForChanges(true);
    await service.storage?.flush();
  });
}

/** Compares text, since numbers are changed in place. */
function watch<Thing>(
  service: Service,
  kind: keyof typeof watched,
  {
    in: thingsIn,
    describe,
  }: { in: (state: ServiceState) => ReadonlyMap<string, Thing>; describe: (id: string, thing: Thing | null) => object },
) {
  let known = new Map<string, string>();
  return (announces: boolean): void => {
    const things = thingsIn(service.state);
    const seen = new Map([...things].map(([id, thing]) => [id, JSON.stringify(thing)]));
    const emitChange = (change: string, id: string): void =>
      service.events.emit(kind, service.clock.now(), { change, ...describe(id, things.get(id) ?? null) });
    if (announces) {
      for (const [id, text] of seen) if (known.get(id) !== text) emitChange(known.has(id) ? 'changed' : 'created', id);
      for (const id of known.keys()) if (!seen.has(id)) emitChange('deleted', id);
    }
    known = seen;
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

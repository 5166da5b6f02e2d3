import type { FastifyInstance } from 'fastify';
import type { JournalEntry } from '../judge/journal.ts';
import type { Service } from '../core/service/service.ts';
import { StateChanges, type StateChange } from '../core/state/state-changes.ts';

/** Before an answer goes out: tells what the request has changed, and sees to it that a write that is answered is kept. */
export function announceChanges(app: FastifyInstance, service: Service): void {
  const changes = new StateChanges();
  // What is restored before the first request is no change.
  app.addHook('onReady', async () => changes.skip(service.state));
  app.addHook('onSend', async (request) => {
    const faulted = (request.exchange.entry?.faults.length ?? 0) > 0;
    if (request.method === 'GET' && !faulted) return;
    for (const change of changes.find(service.state))
      service.events.emit(change.kind, service.clock.now(), describeChange(change));
    await service.storage?.flush();
  });
}

/** For when a request is over, answered or not. */
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

function describeChange(change: StateChange): Record<string, unknown> {
  const { change: what, id } = change;
  switch (change.kind) {
    case 'agent':
      return { change: what, agent_id: id, name: change.value?.name ?? null };
    case 'number':
      return {
        change: what,
        phone_number_id: id,
        phone_number: change.value?.phoneNumber ?? null,
        agent_id: change.value?.agentId ?? null,
        verified: change.value?.verified ?? null,
      };
    case 'sip_trunk':
      return { change: what, trunk_id: id, label: change.value?.label ?? null };
  }
}

import type { Call } from './call.ts';
import type { ServiceState, Batch } from './service-state.ts';

/** Oldest first; batches of the contract's operation are derived from their calls. */
export function allBatches(state: ServiceState): Batch[] {
  return callsByBatch(state.calls).map(([batchId, own]) => state.batches.get(batchId) ?? unnamedBatch(batchId, own));
}

export function callsByBatch(calls: readonly Call[]): [batchId: string, calls: [Call, ...Call[]]][] {
  const batches = new Map<string, [Call, ...Call[]]>();
  for (const call of calls) {
    if (call.batchId === null) continue;
    const known = batches.get(call.batchId);
    if (known === undefined) batches.set(call.batchId, [call]);
    else known.push(call);
  }
  return [...batches];
}

/** Undefined when unknown or deleted. Stores a batch derived from calls, so that changes to it persist. */
export function findBatch(state: ServiceState, batchId: string): Batch | undefined {
  const known = state.batches.get(batchId);
  if (known !== undefined) return known.deleted ? undefined : known;
  const calls = state.calls.filter((call) => call.batchId === batchId);
  if (calls.length === 0) return undefined;
  const batch = unnamedBatch(batchId, calls);
  state.batches.set(batchId, batch);
  return batch;
}

function unnamedBatch(batchId: string, calls: readonly Call[]): Batch {
  return {
    batchId,
    name: batchId,
    scheduledAt: calls[0]?.acceptedAt ?? 0,
    timezone: null,
    callConfig: null,
    targetConcurrency: null,
    recipients: calls.map((call) => ({ id: call.callId, call })),
    retryCount: 0,
    cancelled: false,
    deleted: false,
  };
}

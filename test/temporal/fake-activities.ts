import type { Activities } from '../../activities/index.ts';

export const progress = { total: 6, done: 6, open: 0, waiting: 0, unresolved: 0 };

/** A campaign of `batches` batches that are all confirmed, without anything to wait for; `changes` is what is different. */
export function fakeActivities(changes: Partial<Activities> = {}, batches = 1): Partial<Activities> {
  return {
    checkCallers: async () => ({ ok: true }),
    plan: async ({ batchNumber }) =>
      batchNumber <= batches ? { kind: 'batch', batchId: `spring/1/${batchNumber}`, size: 6 } : { kind: 'done' },
    submit: async ({ batchId }) => ({ kind: 'verdict', batchId, state: 'confirmed' }),
    collect: async () => ({ reason: 'nothing_outstanding', outstanding: false, state: 'running', progress }),
    closeRound: async () => ({ closed: true, progress, end: null }),
    changeState: async () => ({ changed: true }),
    ...changes,
  };
}

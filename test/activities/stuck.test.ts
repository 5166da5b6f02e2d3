import { expect, onTestFinished, test, vi } from 'vitest';
import { collect } from '../../activities/collect.ts';
import type { ConvaiClient } from '../../src/service/convai/client.ts';
import { leaseAgent } from '../../src/ledger/collect/sweeps.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { agentId, beginProven, noon } from '../ledger/scenario.ts';
import { asActivity } from '../support/activity-context.ts';
import { until } from '../support/until.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';

/** A collect of a campaign with calls open, in a world whose timers run when the test says so. */
async function startCollect(listConversationsPage: () => Promise<never>) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store);
  await scenario.dial(1);
  let realMs = 0;
  const timed = { ...store, now: async () => realMs };
  const deps = buildDependencies({
    store: timed,
    client: { listConversationsPage } as unknown as ConvaiClient,
    accountId: (await scenario.campaign()).accountId,
    nowReal: () => noon + realMs,
    monotonicMs: () => realMs,
    limits: { leaseMs: 30_000 },
  });
  let beats = 0;
  const work = asActivity(() => collect(deps, { campaignId: 'spring' }), { heartbeat: () => (beats += 1) });
  return {
    store: timed,
    work,
    /** Heartbeats while so much real time passes. */
    beatsIn: async (ms: number) => {
      const before = beats;
      for (let passed = 0; passed < ms; passed += 1_000) {
        realMs += 1_000;
        await vi.advanceTimersByTimeAsync(1_000);
      }
      return beats - before;
    },
  };
}

test('a collect whose request never ends is heard of no more, and its list may be read by another worker', async () => {
  let isAsked = false;
  let fail!: (error: Error) => void;
  const run = await startCollect(() => {
    isAsked = true;
    return new Promise((_, reject) => (fail = reject));
  });
  await until('the service is asked', () => isAsked);
  // Twice the limits of a request: its answer, and whatever keeps it from being sent.
  expect(await run.beatsIn(120_000)).toBe(120);
  expect(await leaseAgent(run.store, { agentId, owner: 'other', forMs: 1_000 })).toBe(false);
  expect(await run.beatsIn(120_000)).toBe(0);
  expect(await leaseAgent(run.store, { agentId, owner: 'other', forMs: 1_000 })).toBe(true);
  fail(new Error('the test is over'));
  await expect(run.work).rejects.toThrow();
});

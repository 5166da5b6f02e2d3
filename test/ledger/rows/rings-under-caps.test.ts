import * as fc from 'fast-check';
import { expect } from 'vitest';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { seedFactor } from '../../support/depth.ts';
import { beginProven, noon, type Scenario, guests } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, openLedger } from '../ledger-test.ts';

const secondMs = 1000;
const people = 5;
const capMs = 2 * hourMs;
/** Campaigns know the service's queue differently well; no call waits longer than its margin. */
const margins = { spring: 25 * minuteMs, summer: 3 * minuteMs };

interface Weather {
  /** Parts of the margin that calls wait in the queue, in turn. */
  queue: readonly number[];
  /** Whether a call leaves a record, in turn. */
  records: readonly boolean[];
  /** How far the service's clock is from the process's, and how long before each request it was read. */
  skewMs: number;
  readAgoMs: number;
  /** Minutes between two looks of the planner. */
  pauses: readonly number[];
}

interface Call {
  scenario: Scenario;
  attemptId: string;
  e164: string;
  rings: number;
  hasRecord: boolean;
}

/** Both campaigns dial the same numbers for half a day; answers the rings by a clock of the test's own. */
async function liveThrough(dialect: TestDialect, weather: Weather): Promise<Map<string, number[]>> {
  const store = await openLedger(dialect);
  const rows = guests(people);
  const scenarios: { scenario: Scenario; n: number; marginMs: number }[] = [];
  for (const campaignId of ['spring', 'summer'] as const) {
    const marginMs = margins[campaignId];
    const rules = {
      caps: [{ by: 'number' as const, calls: 2, withinMs: capMs }],
      retry: { maxAttempts: 50, delays: { busy: [minuteMs] } as never },
      timing: { dispatchMarginMs: marginMs },
    };
    scenarios.push({ scenario: await beginProven(store, { campaignId, rules, rows }), n: 1, marginMs });
  }
  const rings = new Map<string, number[]>();
  let open: Call[] = [];
  let calls = 0;
  const endCalls = async (now: number): Promise<void> => {
    for (const call of open.filter(({ rings: at }) => at + minuteMs <= now)) {
      if (call.hasRecord) {
        const start = Math.floor((call.rings + weather.skewMs) / secondMs) * secondMs;
        await store.db.updateTable('attempts').set({ rang_at: start }).where('attempt_id', '=', call.attemptId).execute();
      }
      await call.scenario.settle(call.attemptId, 'busy', now);
    }
    open = open.filter(({ rings: at }) => at + minuteMs > now);
  };
  for (let now = noon, look = 0; now < noon + 12 * hourMs; look += 1) {
    await endCalls(now);
    for (const turn of scenarios) {
      if ((await turn.scenario.plan(turn.n, now)).kind !== 'batch') continue;
      const step = await turn.scenario.post(turn.n, now);
      if (step.kind === 'post') {
        const batchId = turn.scenario.batchId(turn.n);
        const read = { service_from: now + weather.skewMs - weather.readAgoMs, service_to: now + weather.skewMs };
        await store.db.updateTable('posts').set(read).where('batch_id', '=', batchId).execute();
        await turn.scenario.verdict(turn.n, 'confirmed', { now, callsInitiated: step.calls.length });
        for (const { attemptId, e164 } of step.calls) {
          const waits = (weather.queue[calls % weather.queue.length] ?? 0) * turn.marginMs;
          const hasRecord = weather.records[calls % weather.records.length] ?? false;
          calls += 1;
          const at = now + Math.round(waits);
          rings.set(e164, [...(rings.get(e164) ?? []), at]);
          open.push({ scenario: turn.scenario, attemptId, e164, rings: at, hasRecord });
        }
      }
      turn.n += 1;
    }
    now += Math.max(1, Math.round((weather.pauses[look % weather.pauses.length] ?? 1) * minuteMs));
  }
  return rings;
}

/** Rings beyond the cap, counted in the window that ends at each. */
function crowded(rings: readonly number[]): number[] {
  return rings.filter((end) => rings.filter((at) => at <= end && at > end - capMs).length > 2);
}

/** Uniform between the two (`fc.double` draws nearly all near the least). */
function evenly(least: number, most: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: 1000 }).map((part) => least + ((most - least) * part) / 1000);
}

const weather: fc.Arbitrary<Weather> = fc.record({
  queue: fc.array(fc.oneof(fc.constantFrom(0, 1), evenly(0, 1)), { minLength: 1, maxLength: 12 }),
  records: fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
  skewMs: fc.integer({ min: -4 * minuteMs, max: 4 * minuteMs }),
  readAgoMs: fc.integer({ min: 0, max: minuteMs }),
  pauses: fc.array(evenly(0.2, 20), { minLength: 1, maxLength: 5 }),
});

test('with two calls allowed in a stretch of time no phone rings three times in it, however long calls wait in the queue', async (dialect) => {
  const counts: number[] = [];
  await fc.assert(
    fc.asyncProperty(weather, async (drawn) => {
      for (const [e164, rings] of await liveThrough(dialect, drawn)) {
        expect(crowded(rings), `${e164} rang ${rings.join()}`).toEqual([]);
        counts.push(rings.length);
      }
    }),
    { seed: 13, endOnFailure: true, numRuns: dialect === 'sqlite' ? 5 * seedFactor : 1 },
  );
  // Two per stretch, queue, look and skew, over half a day: no longer waits than the caps ask for.
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(6);
});

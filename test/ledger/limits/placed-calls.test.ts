import { expect, test } from 'vitest';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { buildRows, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { violations } from '../edit-world.ts';
import { beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { bothDialects, type TestDialect } from '../test-stores.ts';

const busy = { disposition: 'busy', detail: null, counted: true } as const;
const rows = buildRows(numbers(1), () => 'Guest');

/**
 * Posts a call that is not sent, and again `laterMs` later, with an end of which no record tells when it rang; answers when a second
 * campaign may call.
 */
async function secondCallAfter(dialect: TestDialect, rules: RulesChanges, laterMs: number): Promise<number | null> {
  const store = await openCleanStore(dialect);
  const spring = await beginProven(store, { rows, rules });
  await spring.plan(1);
  await spring.post(1);
  await spring.verdict(1, 'not_sent');
  const later = noon + laterMs;
  expect(await spring.post(1, later)).toMatchObject({ kind: 'post', k: 2 });
  expect(await spring.post(1, later)).toEqual({ kind: 'verdict', state: 'unknown' });
  const settlement = { attemptId: 'spring/1/1', result: busy };
  await store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now: later + minuteMs }, [settlement]));
  const summer = await beginProven(store, { campaignId: 'summer', rows, rules });
  const plan = await summer.plan(1, later + minuteMs);
  if (plan.kind !== 'wait') return null;
  await summer.dial(1, plan.until ?? 0);
  expect(await violations(store)).toEqual([]);
  return plan.until;
}

const laterMs = 11 * minuteMs;
const marginMs = 10 * minuteMs;

test.for(bothDialects)('a cap counts a call that was posted again from its last request on: %s', async (dialect) => {
  const rules = { caps: [{ by: 'number' as const, calls: 1, withinMs: hourMs }] };
  expect(await secondCallAfter(dialect, rules, laterMs)).toBe(noon + laterMs + marginMs + hourMs);
});

test.for(bothDialects)('so does a budget that is renewed: %s', async (dialect) => {
  const rules = { retry: { maxAttemptsPerNumber: 1, resetAfterMs: hourMs } };
  expect(await secondCallAfter(dialect, rules, laterMs)).toBe(noon + laterMs + hourMs);
});

const oneAnHour = { caps: [{ by: 'number' as const, calls: 1, withinMs: hourMs }] };

/** When a second campaign may call a number that the first one called at noon; `null`: at once. */
async function allowedAfter(
  dialect: TestDialect,
  first: (spring: Scenario) => Promise<void>,
  timing: RulesChanges['timing'] = {},
): Promise<number | null> {
  const store = await openCleanStore(dialect);
  await first(await beginProven(store, { rows, rules: { ...oneAnHour, timing } }));
  const summer = await beginProven(store, { campaignId: 'summer', rows, rules: oneAnHour });
  const plan = await summer.plan(1, noon + minuteMs);
  return plan.kind === 'wait' ? plan.until : null;
}

const settled = async (spring: Scenario) => {
  const [attemptId = ''] = await spring.dial(1);
  const settlement = { attemptId, result: busy };
  await spring.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now: noon + minuteMs }, [settlement]));
};

test.for(bothDialects)(
  'a call of which no record tells may ring as long as its own campaign says that calls are queued: %s',
  async (dialect) => {
    expect(await allowedAfter(dialect, settled)).toBe(noon + marginMs + hourMs);
    const longer = { dispatchMarginMs: 25 * minuteMs };
    expect(await allowedAfter(dialect, settled, longer)).toBe(noon + 25 * minuteMs + hourMs);
  },
);

test.for(bothDialects)(
  'a call counts from the second after the start of its record on, by the clock that the service then had: %s',
  async (dialect) => {
    const rang = (clock: number | null) => async (spring: Scenario) => {
      await settled(spring);
      await spring.store.db
        .updateTable('attempts')
        .set({ rang_at: noon + 40_000 + (clock ?? 0) })
        .execute();
      const service = clock === null ? null : noon + clock;
      await spring.store.db.updateTable('posts').set({ service_from: service, service_to: service }).execute();
    };
    for (const clock of [null, 0, -3 * minuteMs, 3 * minuteMs])
      expect(await allowedAfter(dialect, rang(clock))).toBe(noon + 41_000 + hourMs);
  },
);

test.for(bothDialects)('a request that was refused, or never sent, takes no place in a cap: %s', async (dialect) => {
  const givenBack = (verdict: 'refused' | 'not_sent', status: number | null) => async (spring: Scenario) => {
    await spring.plan(1);
    await spring.post(1);
    await spring.verdict(1, verdict, { status });
    await spring.store.db.updateTable('attempts').set({ state: 'released' }).execute();
  };
  expect(await allowedAfter(dialect, givenBack('not_sent', null))).toBe(null);
  expect(await allowedAfter(dialect, givenBack('refused', 401))).toBe(null);
});

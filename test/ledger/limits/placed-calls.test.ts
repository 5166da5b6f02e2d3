import { expect } from 'vitest';
import type { LegalHours } from '../../../src/rules/campaign-rules.ts';
import { buildRows, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import type { ImportRow } from '../../../src/ledger/campaign/row-hash.ts';
import { test, openLedger, beginOn, unjudged } from '../ledger-test.ts';

const rows = buildRows(numbers(1), () => 'Guest');

/** Posts a call that is not sent; `laterMs` later one that ends without a record. Answers when a second campaign may call. */
async function secondCallAfter(dialect: TestDialect, rules: RulesChanges, laterMs: number): Promise<number | null> {
  const store = await openLedger(dialect);
  const spring = await beginProven(store, { rows, rules });
  await spring.submit(1);
  await spring.verdict(1, 'not_sent');
  const later = noon + laterMs;
  expect(await spring.post(1, later)).toMatchObject({ kind: 'post', k: 2 });
  expect(await spring.post(1, later)).toEqual({ kind: 'verdict', state: 'unknown' });
  await spring.settle('spring/1/1', 'busy', later + minuteMs);
  const summer = await beginProven(store, { campaignId: 'summer', rows, rules });
  const plan = await summer.plan(1, later + minuteMs);
  if (plan.kind !== 'wait') return null;
  await summer.dial(1, plan.until ?? 0);
  return plan.until;
}

const laterMs = 11 * minuteMs;
const marginMs = 10 * minuteMs;

test('a cap counts a call that was posted again from its last request on', async (dialect) => {
  const rules = { caps: [{ by: 'number' as const, calls: 1, withinMs: hourMs }] };
  expect(await secondCallAfter(dialect, rules, laterMs)).toBe(noon + laterMs + marginMs + hourMs);
});

test('so does a budget that is renewed', async (dialect) => {
  const rules = { retry: { maxAttemptsPerNumber: 1, resetAfterMs: hourMs } };
  expect(await secondCallAfter(dialect, rules, laterMs)).toBe(noon + laterMs + hourMs);
});

const oneAnHour = { caps: [{ by: 'number' as const, calls: 1, withinMs: hourMs }] };

/** When a second campaign may call a number called at noon; `null`: at once. */
async function allowedAfter(
  dialect: TestDialect,
  first: (spring: Scenario) => Promise<void>,
  timing: RulesChanges['timing'] = {},
): Promise<number | null> {
  const store = await openLedger(dialect);
  await first(await beginProven(store, { rows, rules: { ...oneAnHour, timing } }));
  const summer = await beginProven(store, { campaignId: 'summer', rows, rules: oneAnHour });
  const plan = await summer.plan(1, noon + minuteMs);
  return plan.kind === 'wait' ? plan.until : null;
}

const settled = async (spring: Scenario) => {
  await spring.settle(await spring.dial(1), 'busy', noon + minuteMs);
};

test('a call of which no record tells may ring as long as its own campaign says that calls are queued', async (dialect) => {
  expect(await allowedAfter(dialect, settled)).toBe(noon + marginMs + hourMs);
  const longer = { dispatchMarginMs: 25 * minuteMs };
  expect(await allowedAfter(dialect, settled, longer)).toBe(noon + 25 * minuteMs + hourMs);
});

test.both('a call counts from the second after the start of its record on, by the clock that the service then had', async (dialect) => {
  const rang = (clock: number | null) => async (spring: Scenario) => {
    await settled(spring);
    await spring.store.db
      .updateTable('attempts')
      .set({ rang_at: noon + 40_000 + (clock ?? 0) })
      .execute();
    const service = clock === null ? null : noon + clock;
    await spring.store.db.updateTable('posts').set({ service_from: service, service_to: service }).execute();
  };
  for (const clock of [null, 0, -3 * minuteMs, 3 * minuteMs]) expect(await allowedAfter(dialect, rang(clock))).toBe(noon + 41_000 + hourMs);
});

test('a request that was refused, or never sent, takes no place in a cap', async (dialect) => {
  unjudged();
  const givenBack = (verdict: 'refused' | 'not_sent', status: number | null) => async (spring: Scenario) => {
    await spring.submit(1);
    await spring.verdict(1, verdict, { status });
    await spring.store.db.updateTable('attempts').set({ state: 'released' }).execute();
  };
  expect(await allowedAfter(dialect, givenBack('not_sent', null))).toBe(null);
  expect(await allowedAfter(dialect, givenBack('refused', 401))).toBe(null);
});

const anyHour = { country: 'US', hours: null, closedOn: [], from: null, until: null, source: 'test' };

function lawOf(region: string | null, calls: number, dates: Partial<LegalHours> = {}): LegalHours {
  const caps = [{ by: 'number' as const, calls, withinMs: 24 * hourMs }];
  return { ...anyHour, id: `us-${region}-calls`, region, caps, ...dates };
}

function rowsIn(...regions: (string[] | null)[]): ImportRow[] {
  const rows = buildRows(numbers(regions.length), (index) => `Guest ${index}`);
  return rows.map((row, index) => ({ ...row, regions: regions[index] ?? null }));
}

async function settle(scenario: Scenario, attemptIds: readonly string[], now: number): Promise<void> {
  // Each rang at once, and its record says so to the second.
  const { db } = scenario.store;
  const rang = (posted: number) => ({ rang_at: posted - 1000 });
  for (const { attempt_id: id, posted_at: posted } of await scenario.attempts())
    if (attemptIds.includes(id))
      await db
        .updateTable('attempts')
        .set(rang(posted ?? 0))
        .where('attempt_id', '=', id)
        .execute();
  await scenario.settle(attemptIds, 'busy', now);
}

async function standings(scenario: Scenario) {
  return (await scenario.recipients()).map(({ state, due_at }) => (state === 'waiting' ? [state, due_at - noon] : state));
}

test.from(openLedger)('the law of every possible state caps the calls of all campaigns, when planned and when dialled', async (store) => {
  unjudged();
  const law = [lawOf('FL', 1), lawOf('OK', 2), lawOf('MD', 1, { until: '2030-01-13' })];
  const regions = [['FL'], ['GA'], null, ['AL', 'FL'], ['OK'], ['MD'], []];
  const spring = await beginProven(store, { rows: rowsIn(...regions) });
  await settle(spring, await spring.dial(1), noon + minuteMs);
  const autumn = await beginProven(store, {
    campaignId: 'autumn',
    rows: [...rowsIn(...regions), { ...rowsIn(['FL'])[0], row: 8, e164: '+13055550177' } as ImportRow],
    rules: { law },
  });
  expect(await autumn.plan(1, noon + hourMs)).toMatchObject({ kind: 'batch', size: 5 });
  expect(await standings(autumn)).toEqual([
    ['waiting', 24 * hourMs],
    'open',
    ['waiting', 24 * hourMs],
    ['waiting', 24 * hourMs],
    'open',
    'open',
    'open',
    'open',
  ]);
  // Another campaign has called the last one meanwhile.
  await store.db.updateTable('attempts').set({ e164: '+13055550177' }).where('attempt_id', '=', 'spring/1/1').execute();
  const step = await autumn.post(1, noon + hourMs);
  expect(step).toMatchObject({ kind: 'post' });
  expect(step.kind === 'post' && step.calls.map(({ e164 }) => e164)).not.toContain('+13055550177');
  expect((await standings(autumn))[7]).toEqual(['waiting', 24 * hourMs]);
  expect(await autumn.broken()).not.toContain('cap_exceeded');
});

test('a retry waits until the law of the state allows one more call, and not longer', async (dialect) => {
  const rules = { law: [lawOf('FL', 2)], retry: { maxAttempts: 4 } };
  const scenario = await beginOn(dialect, { rows: rowsIn(['FL'], ['GA']), rules });
  await settle(scenario, await scenario.dial(1), noon + minuteMs);
  await settle(scenario, await scenario.dial(2, noon + hourMs), noon + hourMs + minuteMs);
  // The third call is due for both; the law lets one of them wait for the first call to be a day old.
  expect(await scenario.plan(3, noon + 2 * hourMs)).toMatchObject({ kind: 'batch', size: 1 });
  expect(await standings(scenario)).toEqual([['waiting', 24 * hourMs], 'open']);
  expect(await scenario.post(3, noon + 2 * hourMs)).toMatchObject({ kind: 'post' });
  await scenario.verdict(3, 'confirmed', { now: noon + 2 * hourMs });
  expect(await scenario.plan(4, noon + 24 * hourMs - 1)).toMatchObject({ kind: 'wait' });
  expect(await scenario.plan(4, noon + 24 * hourMs)).toMatchObject({ kind: 'batch', size: 1 });
  expect(await scenario.post(4, noon + 24 * hourMs)).toMatchObject({ kind: 'post' });
});

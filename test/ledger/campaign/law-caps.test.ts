import { expect, test } from 'vitest';
import type { LegalHours } from '../../../src/rules/campaign-rules.ts';
import type { ImportRow } from '../../../src/ledger/campaign/import-campaign.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { violations } from '../edit-world.ts';
import { beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { dialects } from '../test-stores.ts';

const anyHour = { country: 'US', hours: null, closedOn: [], from: null, until: null, source: 'test' };

function lawOf(region: string | null, calls: number, dates: Partial<LegalHours> = {}): LegalHours {
  const caps = [{ by: 'number' as const, calls, withinMs: 24 * hourMs }];
  return { ...anyHour, id: `us-${region}-calls`, region, caps, ...dates };
}

/** The same numbers in each list, in these states. */
function rowsIn(...regions: (string[] | null)[]): ImportRow[] {
  const rows = buildRows(numbers(regions.length), (index) => `Guest ${index}`);
  return rows.map((row, index) => ({ ...row, regions: regions[index] ?? null }));
}

async function settle(scenario: Scenario, attemptIds: readonly string[], now: number): Promise<void> {
  const result = { disposition: 'busy' as const, detail: null, counted: true };
  const settlements = attemptIds.map((attemptId) => ({ attemptId, result }));
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
  await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: scenario.campaignId, now }, settlements));
}

async function standings(scenario: Scenario) {
  return (await scenario.recipients()).map(({ state, due_at }) => (state === 'waiting' ? [state, due_at - noon] : state));
}

const exceeded = async (scenario: Scenario) => (await violations(scenario.store)).filter(({ rule }) => rule === 'cap_exceeded');

test.for(dialects)(
  'the law of every possible state caps the calls of all campaigns, when planned and when dialled: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
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
    expect(await exceeded(autumn)).toEqual([]);
  },
);

test.for(dialects)('a retry waits until the law of the state allows one more call, and not longer: %s', async (dialect) => {
  const rules = { law: [lawOf('FL', 2)], retry: { maxAttempts: 4 } };
  const scenario = await beginProven(await openCleanStore(dialect), { rows: rowsIn(['FL'], ['GA']), rules });
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
  expect(await exceeded(scenario)).toEqual([]);
});

import { expect } from 'vitest';
import { drainCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { RecipientEditor } from '../../../src/ledger/people/edit-recipients.ts';
import { isPlanReady } from '../../../src/ledger/plan/planning.ts';
import type { StaysOpen } from '../../../src/rules/row-terms.ts';
import { buildRow, buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { answered, noon, numbers, type Scenario, waits } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, beginOn } from '../ledger-test.ts';

const people = numbers(6);
const staysOpen: StaysOpen = { expiresAfterMs: 2 * hourMs, newestFirst: true };

/** One person of the list, and who is added. */
async function begin(dialect: TestDialect, rules: object = {}): Promise<Scenario> {
  const rows = buildRows(people.slice(0, 1), () => 'Guest 0').map((row) => ({ ...row, externalId: 'first' }));
  return beginOn(dialect, { rows, rules: { staysOpen, pacing: { batchSize: 1, refillThreshold: 1 }, ...rules } });
}

async function add({ store, campaignId }: Scenario, places: readonly number[], now: number) {
  const editor = new RecipientEditor(store, { campaignId, restore: false, dryRun: false, adds: true });
  const rows = places.map((place, index) => {
    const e164 = people[place] ?? '';
    return { ...buildRow(index + 1, e164, [e164, `Guest ${place}`]), e164, externalId: `lead ${place}` };
  });
  return (await editor.apply(rows, now)).map(({ result, campaignRow }) => [result, campaignRow]);
}

test.from(begin)('whoever is added is called, the newest first, and a repeated row is known', async (scenario) => {
  expect(await add(scenario, [1], noon)).toEqual([['accepted', 2]]);
  expect(await add(scenario, [2, 1], noon)).toEqual([['accepted', 3], ['unchanged', 2]]); // prettier-ignore
  for (const [n, place] of [2, 1, 0].entries()) {
    await scenario.dial(n + 1, noon + n * minuteMs);
    await scenario.sweep(noon + (n + 0.5) * minuteMs, [answered(`talk ${place}`, people[place] ?? '', noon + n * minuteMs + 5_000)]);
    const called = (await scenario.recipients()).filter(({ outcome }) => outcome !== null);
    expect(called.map(({ e164 }) => e164)).toContain(people[place]);
    expect(called).toHaveLength(n + 1);
  }
});

test.from(begin)('a row that was added keeps its place in line when it is corrected, and one of the list gains none', async (scenario) => {
  await add(scenario, [1, 2], noon);
  const editor = new RecipientEditor(scenario.store, { campaignId: 'spring', restore: false, dryRun: false });
  const corrected = [
    ['first', 0],
    ['lead 2', 2],
  ] as const;
  const rows = corrected.map(([externalId, place], index) => {
    const e164 = people[place] ?? '';
    return { ...buildRow(index + 1, e164, [e164, `Corrected ${place}`]), e164, externalId };
  });
  expect((await editor.apply(rows, noon)).map(({ result }) => result)).toEqual(['corrected', 'corrected']);
  const order = [2, 1, 0].map((place) => people[place]);
  for (const [n, e164] of order.entries()) {
    await scenario.dial(n + 1, noon + n * minuteMs);
    expect((await scenario.recipients()).find(({ state }) => state === 'open')?.e164).toBe(e164);
    await scenario.sweep(noon + (n + 0.5) * minuteMs, [answered(`talk ${n}`, e164 ?? '', noon + n * minuteMs + 5_000)]);
  }
});

test.from(begin)('a campaign whose people are done waits for more until it is drained', async (scenario) => {
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('talk 0', people[0] ?? '', noon + 5_000)]);
  const later = noon + 5 * minuteMs;
  expect(await scenario.plan(2, later)).toMatchObject(waits('rows', later + 6 * hourMs));
  expect(await isPlanReady(scenario.store, scenario.campaignId, later)).toBe(false);
  await add(scenario, [1], later);
  expect(await isPlanReady(scenario.store, scenario.campaignId, later)).toBe(true);
  // Added in time, and called too late: nobody is called about what is long past.
  expect(await scenario.plan(2, later + 3 * hourMs)).toMatchObject(waits('rows'));
  expect((await scenario.recipients()).map(({ outcome, reason }) => `${outcome} ${reason}`)).toEqual([
    'completed answered',
    'expired row_expired',
  ]);
  const at = { campaignId: scenario.campaignId, now: later + 3 * hourMs };
  await scenario.store.transaction((tx) => drainCampaign(tx, at, { why: 'drained' }));
  expect(await scenario.plan(2, later + 3 * hourMs)).toEqual({ kind: 'done' });
});

test('a row that expires between plan and request is not called', async (dialect) => {
  const scenario = await begin(dialect, { pacing: { batchSize: 1, refillThreshold: 1 } });
  await add(scenario, [1], noon);
  expect(await scenario.plan(1, noon + hourMs)).toMatchObject({ kind: 'batch', size: 1 });
  expect(await scenario.post(1, noon + 3 * hourMs)).toMatchObject({ kind: 'verdict', state: 'released' });
  expect((await scenario.recipients()).find(({ external_id: id }) => id === 'lead 1')).toMatchObject({ outcome: 'expired' });
});

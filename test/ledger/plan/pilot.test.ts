import { expect } from 'vitest';
import { setCallback } from '../../../src/ledger/people/callbacks.ts';
import { goOnFromPilot, noteAgent, readPilot } from '../../../src/ledger/limits/pilot.ts';
import { resumeCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { readEvents } from '../../../src/ledger/events.ts';
import type { CampaignRules } from '../../../src/rules/campaign-rules.ts';
import type { Gate } from '../../../src/rules/gates.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { noon, numbers, type Scenario, waits } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, beginOn } from '../ledger-test.ts';

const people = numbers(40);
const optOuts: Gate = { measure: 'opted_out', of: 'talks', atLeast: null, atMost: 0.1, min: 5, always: false };

async function begin(dialect: TestDialect, rules: Partial<Pick<CampaignRules, 'pilot' | 'gates'>> = {}): Promise<Scenario> {
  const rows = buildRows(people, (index) => `Guest ${String(index).padStart(2, '0')}`);
  const pacing = { batchSize: 50, maxConcurrentCalls: 50, refillThreshold: 1 };
  return beginOn(dialect, { rows, rules: { pilot: { rows: 10, pick: 'spread', next: 'ask' }, gates: [optOuts], pacing, ...rules } });
}

async function settle(
  { store, campaignId }: Scenario,
  ids: readonly string[],
  how: (at: number) => 'answered' | 'busy' | 'opted_out',
  now: number,
) {
  const settlements = ids.map((attemptId, at) => ({ attemptId, result: { disposition: how(at), detail: null, counted: true } }));
  await store.transaction((tx) => settleAttempts(tx, { campaignId, now }, settlements));
}

const rowOf = (attemptId: string) => Number(attemptId.split('/')[1]);
const rowsOf = (ids: readonly string[]) => ids.map(rowOf).sort((a, b) => a - b);
const resume = ({ store, campaignId }: Scenario, now: number, again = false) =>
  resumeCampaign(store, { campaignId, now }, { beside: (tx, campaign) => goOnFromPilot(tx, campaign, { now, again }) });
const told = async ({ store }: Scenario) => {
  const types = ['pilot.drawn', 'pilot.ended', 'pilot.voided', 'pilot.decided', 'gate.read'] as const;
  return (await readEvents(store.db, 'spring', { afterSeq: 0, limit: 1_000, types: [...types] })).map(({ type }) => type);
};

test.from(begin)('nobody but the sample is called, once, before a person has seen it and resumes', async (scenario) => {
  const { store } = scenario;
  const first = await scenario.dial(1);
  expect(first).toHaveLength(10);
  // Over the whole list, not its first rows.
  expect(Math.max(...rowsOf(first))).toBeGreaterThan(20);
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject(waits('pilot', null));
  await settle(scenario, first, (at) => (at < 3 ? 'opted_out' : at < 8 ? 'answered' : 'busy'), noon + 2 * minuteMs);
  expect(await readPilot(store.db, await scenario.campaign())).toMatchObject({ state: 'calling', rows: 10, called: 10 });
  expect(await scenario.isReady(noon + 2 * minuteMs)).toBe(true);
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toMatchObject(waits('paused'));
  const { stateReason } = await scenario.campaign();
  expect(stateReason).toMatch(
    /^The pilot is over: 10 of 10 rows were called\. opted_out 3 of 8 talks \(37\.5 %; .*\), at most 10 % allowed: does not hold\./,
  );
  // The retries of the sample wait as well.
  expect(await scenario.plan(2, noon + hourMs)).toMatchObject(waits('paused'));
  expect(await resume(scenario, noon + hourMs)).toBe(true);
  expect(rowsOf(await scenario.dial(2, noon + hourMs))).toHaveLength(32);
  expect(await told(scenario)).toEqual(['pilot.drawn', 'pilot.ended', 'pilot.decided']);
});

test('a change of the agent voids what the pilot showed, once, and nobody is called before somebody decides anew', async (dialect) => {
  const scenario = await begin(dialect, { pilot: { rows: 10, pick: 'spread', next: 'go_on' }, gates: [] });
  const { store } = scenario;
  const note = async (print: string, now: number) => noteAgent(store, await scenario.campaign(), { print, now });
  await note('first', noon);
  const first = await scenario.dial(1);
  await settle(scenario, first, () => 'answered', noon + 2 * minuteMs);
  await note('first', noon + 3 * minuteMs);
  // It has passed by itself, and a batch is planned when the agent is changed.
  expect(await scenario.plan(2, noon + 3 * minuteMs)).toMatchObject({ kind: 'batch', size: 30 });
  await note('second', noon + 4 * minuteMs);
  expect(await scenario.post(2, noon + 5 * minuteMs)).toMatchObject({ kind: 'verdict', state: 'released' });
  expect(await scenario.campaign()).toMatchObject({
    state: 'paused',
    stateReason: expect.stringMatching(/^The agent was changed since the pilot/),
    pilot: { state: 'asked', sample: 1 },
  });
  await note('second', noon + 6 * minuteMs);
  expect(await resume(scenario, noon + hourMs)).toBe(true);
  await note('second', noon + hourMs);
  expect(await scenario.dial(3, noon + hourMs)).toHaveLength(30);
  expect(await told(scenario)).toEqual(['pilot.drawn', 'pilot.ended', 'pilot.voided', 'pilot.decided']);
});

test.from(begin)('a further sample is that of the agent as it is then; a change in the middle of it voids it', async (scenario) => {
  const note = async (print: string, now: number) => noteAgent(scenario.store, await scenario.campaign(), { print, now });
  await note('first', noon);
  const first = await scenario.dial(1);
  await settle(scenario, first, () => 'answered', noon + 2 * minuteMs);
  await scenario.plan(2, noon + 2 * minuteMs);
  await resume(scenario, noon + hourMs, true);
  await note('second', noon + hourMs);
  expect(await scenario.campaign()).toMatchObject({ state: 'running', pilot: { state: 'calling', sample: 2 } });
  await note('third', noon + hourMs + minuteMs);
  expect(await scenario.campaign()).toMatchObject({ state: 'paused', pilot: { state: 'asked', sample: 2 } });
});

test.from(begin)('a person has another sample called first, of people who were in none', async (scenario) => {
  const first = await scenario.dial(1);
  await settle(scenario, first, () => 'opted_out', noon + 2 * minuteMs);
  await scenario.plan(2, noon + 2 * minuteMs);
  expect(await resume(scenario, noon + 3 * minuteMs, true)).toBe(true);
  const second = await scenario.dial(2, noon + 3 * minuteMs);
  expect(second).toHaveLength(10);
  expect(rowsOf(second).filter((row) => rowsOf(first).includes(row))).toEqual([]);
  await settle(scenario, second, () => 'answered', noon + 5 * minuteMs);
  expect(await scenario.plan(3, noon + 5 * minuteMs)).toMatchObject(waits('paused'));
  expect((await scenario.campaign()).stateReason).toMatch(/opted_out 0 of 10 talks .*: holds\. Look at it, then resume\./);
  await resume(scenario, noon + 6 * minuteMs);
  expect(await scenario.dial(3, noon + 6 * minuteMs)).toHaveLength(20);
});

test.from(begin)('a call back that was promised to somebody of the first sample is made while the second is called', async (scenario) => {
  const { store, campaignId } = scenario;
  const first = await scenario.dial(1);
  await settle(scenario, first, () => 'busy', noon + minuteMs);
  await scenario.plan(2, noon + 2 * minuteMs);
  const dueAt = noon + 30 * minuteMs;
  const [called = 0] = rowsOf(first);
  const uncalled = people.map((_, at) => at + 1).find((row) => !rowsOf(first).includes(row)) ?? 0;
  for (const row of [called, uncalled])
    await setCallback(store, { campaignId, row, by: 'somebody', now: noon + 2 * minuteMs }, { instant: dueAt });
  await resume(scenario, noon + 3 * minuteMs, true);
  const second = await scenario.dial(2, noon + 3 * minuteMs);
  await settle(scenario, second.slice(0, 5), () => 'busy', noon + 4 * minuteMs);
  // Who was in no sample waits for the decision, whatever was promised.
  const inSecond = (await scenario.recipients()).some((row) => row.row_number === uncalled && row.sample === 2);
  expect(rowsOf(await scenario.dial(3, dueAt))).toEqual(inSecond ? [called, uncalled].toSorted((a, b) => a - b) : [called]);
});

test('it goes on by itself only where the campaign says so and every gate holds', async (dialect) => {
  const goesOn = { rows: 10, pick: 'first', next: 'go_on' } as const;
  const play = async (how: Parameters<typeof settle>[2]) => {
    const scenario = await begin(dialect, { pilot: goesOn });
    const first = await scenario.dial(1);
    expect(rowsOf(first)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await settle(scenario, first, how, noon + 2 * minuteMs);
    const plan = await scenario.plan(2, noon + 2 * minuteMs);
    return plan;
  };
  expect(await play((at) => (at === 0 ? 'opted_out' : 'answered'))).toMatchObject({ kind: 'batch', size: 30 });
  expect(await play((at) => (at < 2 ? 'opted_out' : 'answered'))).toMatchObject(waits('paused'));
  // Four talks say nothing.
  expect(await play((at) => (at < 4 ? 'answered' : 'busy'))).toMatchObject(waits('paused'));
});

test('what is planned and not in the sample is given back by the dial transaction', async (dialect) => {
  const scenario = await begin(dialect);
  expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: 10 });
  const { db } = scenario.store;
  const planned = (await scenario.attempts()).map(({ recipient_id: id }) => id);
  await db
    .updateTable('recipients')
    .set({ sample: null })
    .where('recipient_id', '=', planned[0] ?? '')
    .execute();
  expect(await scenario.post(1)).toMatchObject({ kind: 'post', calls: { length: 9 } });
  // While it waits for a person: nobody at all.
  const asked = await begin(dialect);
  await asked.plan(1);
  await asked.store.db.updateTable('campaigns').set({ pilot_state: 'asked' }).execute();
  expect(await asked.post(1)).toMatchObject({ kind: 'verdict', state: 'released' });
  expect(await asked.plan(2)).toMatchObject(waits('pilot'));
  // Nor somebody of the sample a second time.
  const twice = await begin(dialect);
  await twice.plan(1);
  const again = (await twice.attempts())[0]?.recipient_id ?? '';
  await twice.store.db.updateTable('recipients').set({ called: 1 }).where('recipient_id', '=', again).execute();
  expect(await twice.post(1)).toMatchObject({ kind: 'post', calls: { length: 9 } });
});

test('what a pilot came to that a person has decided about trips no gate afterwards', async (dialect) => {
  const scenario = await begin(dialect, { gates: [{ ...optOuts, always: true }] });
  await settle(scenario, await scenario.dial(1), () => 'opted_out', noon + minuteMs);
  await scenario.plan(2, noon + minuteMs);
  await resume(scenario, noon + 2 * minuteMs, true);
  await settle(scenario, await scenario.dial(2, noon + 2 * minuteMs), () => 'answered', noon + 3 * minuteMs);
  await scenario.plan(3, noon + 3 * minuteMs);
  await resume(scenario, noon + 4 * minuteMs);
  await settle(scenario, await scenario.dial(3, noon + 4 * minuteMs), () => 'answered', noon + 5 * minuteMs);
  expect(await scenario.plan(4, noon + 5 * minuteMs)).toEqual({ kind: 'done' });
});

test('a gate that is always asked trips at its doublings, and starts anew after the pause', async (dialect) => {
  const always = { ...optOuts, always: true };
  const rows = buildRows(people, (index) => `Guest ${String(index).padStart(2, '0')}`);
  const pacing = { batchSize: 10, maxConcurrentCalls: 10, refillThreshold: 10 };
  const scenario = await beginOn(dialect, { rows, rules: { gates: [always], pacing } });
  const call = async (n: number, optedOut: number) => {
    const ids = await scenario.dial(n, noon + n * minuteMs);
    await settle(scenario, ids, (at) => (at < optedOut ? 'opted_out' : 'answered'), noon + n * minuteMs + 1);
    return scenario.plan(n + 1, noon + n * minuteMs + 2);
  };
  // 1 of 10 and 3 of 20 exceed a tenth, perhaps by chance; 13 of 30 do not, and are not asked for before 40.
  expect(await call(1, 1)).toMatchObject({ kind: 'batch' });
  expect(await call(2, 2)).toMatchObject({ kind: 'batch' });
  expect(await call(3, 10)).toMatchObject({ kind: 'batch' });
  expect(await call(4, 0)).toMatchObject(waits('paused'));
  expect((await scenario.campaign()).stateReason).toMatch(/^A gate has tripped: opted_out 13 of 40 talks/);
  await resume(scenario, noon + hourMs);
  expect(await scenario.plan(5, noon + hourMs)).toMatchObject({ kind: 'done' });
  expect(await told(scenario)).toEqual(['gate.read', 'gate.read', 'gate.read']);
});

/** Chi-square of what was drawn of each region against a fair share; regions of equal size. */
function chiSquare(rows: readonly number[], { regions, count }: { regions: number; count: number }): number {
  const fair = rows.length / regions;
  const drawn = Array.from({ length: regions }, () => 0);
  for (const row of rows) drawn[Math.floor(((row - 1) * regions) / count)]! += 1;
  return drawn.reduce((sum, each) => sum + (each - fair) ** 2 / fair, 0);
}

test('a sample of a list that is sorted by region has its fair share of each; the first rows have not', async (dialect) => {
  const [regions, count] = [8, 2_400];
  const list = Array.from({ length: count }, (_, at) => `+1${201 + Math.floor(at / 100)}555${String(100 + (at % 100)).padStart(4, '0')}`);
  const sampleOf = async (campaignId: string, pick: 'spread' | 'first') => {
    const rules = { pilot: { rows: 240, pick, next: 'ask' as const } };
    const { store } = await beginOn(dialect, { campaignId, rows: buildRows(list, () => 'Guest'), rules });
    const [drawn] = await readEvents(store.db, campaignId, { afterSeq: 0, limit: 1, types: ['pilot.drawn'] });
    if (drawn === undefined) throw new Error('no sample was drawn');
    const { rows } = drawn.data as unknown as { rows: number[] };
    expect(new Set(rows).size).toBe(240);
    return chiSquare(rows, { regions, count });
  };
  // Seven degrees of freedom: beyond 24.3 in one of a thousand samples.
  for (const id of ['spring', 'summer', 'autumn', 'winter']) expect(await sampleOf(id, 'spread')).toBeLessThan(24.3);
  expect(await sampleOf('first', 'first')).toBeGreaterThan(1_000);
});

import { expect } from 'vitest';
import { isPlanReady } from '../../../src/ledger/plan/planning.ts';
import { openRound } from '../../../src/ledger/campaign/rounds.ts';
import { retryEnded } from '../../../src/ledger/people/retry-ended.ts';
import { readEvents } from '../../../src/ledger/events.ts';
import type { StopAt } from '../../../src/rules/campaign-rules.ts';
import type { ResultRule } from '../../../src/rules/talk-results.ts';
import { buildRows, minuteMs } from '../../support/campaign-rules.ts';
import { answered, noon, numbers, type Scenario, waits } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, beginOn } from '../ledger-test.ts';

const people = numbers(4);
const results: ResultRule[] = [
  { result: 'comes', value: { source: 'collected', key: 'comes', values: [true] }, talkUnderMs: null, goal: true },
];

/** One goal is enough, and one call goes into a batch. */
async function begin(dialect: TestDialect, overshoot: StopAt['overshoot'] = 'allowed'): Promise<Scenario> {
  const rows = buildRows(people, (index) => `Guest ${index}`);
  const pacing = { batchSize: 1, refillThreshold: 1 };
  return beginOn(dialect, { rows, rules: { results, stopAt: { goal: 1, overshoot }, pacing } });
}

const talk = (at: number, comes: boolean) => ({ ...answered(`talk ${at}`, people[at] ?? '', noon + 5_000), collected: { comes } });
const ends = async (scenario: Scenario) => (await scenario.recipients()).map(({ outcome, reason }) => `${outcome} ${reason}`);

test.from(begin)('what is planned when the goal is reached is given back, and nobody waits any more', async (scenario) => {
  await scenario.dial(1);
  expect(await scenario.plan(2)).toMatchObject({ kind: 'batch', size: 1 });
  await scenario.sweep(noon + 2 * minuteMs, [talk(0, true)]);
  // The dial transaction knows of it at once.
  expect(await scenario.post(2, noon + 3 * minuteMs)).toMatchObject({ kind: 'verdict', state: 'released' });
  expect(await isPlanReady(scenario.store, scenario.campaignId, noon + 3 * minuteMs)).toBe(true);
  expect(await scenario.plan(3, noon + 3 * minuteMs)).toEqual({ kind: 'done' });
  const spared = 'cancelled goal_reached';
  expect(await ends(scenario)).toEqual(['completed answered', spared, spared, spared]);
  const told = await readEvents(scenario.store.db, 'spring', { afterSeq: 0, limit: 1_000, types: ['goal.reached', 'batch.planned'] });
  expect(told.map(({ type }) => type)).toEqual(['batch.planned', 'batch.planned', 'goal.reached']);
});

test.from(begin, 'none')('without overshoot nobody else is called while an open call may reach the goal', async (scenario) => {
  await scenario.dial(1);
  expect(await scenario.plan(2)).toMatchObject(waits('goal', null));
  expect(await isPlanReady(scenario.store, scenario.campaignId, noon)).toBe(false);
  // The call is over, and its analysis may still say so.
  const pending = { ...talk(0, true), collected: null, evaluation: null, status: 'processing' as const };
  await scenario.sweep(noon + 2 * minuteMs, [pending]);
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toMatchObject(waits('goal'));
  await scenario.sweep(noon + 4 * minuteMs, [talk(0, false)]);
  expect(await isPlanReady(scenario.store, scenario.campaignId, noon + 4 * minuteMs)).toBe(true);
  expect(await scenario.plan(2, noon + 4 * minuteMs)).toMatchObject({ kind: 'batch', size: 1 });
});

test.from(begin, 'none')('a call in which nobody spoke is waited for no longer than its record', async (scenario) => {
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [{ ...talk(0, false), userTurns: 0 }]);
  expect(await scenario.plan(2, noon + 4 * minuteMs)).toMatchObject({ kind: 'batch', size: 1 });
});

test.from(begin)('whoever has people called again after the goal wants more', async (scenario) => {
  const { store, campaignId } = scenario;
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk(0, true)]);
  expect(await scenario.plan(2, noon + 3 * minuteMs)).toEqual({ kind: 'done' });
  expect(await scenario.close(noon + 4 * minuteMs)).toBe(true);
  expect(await retryEnded(store, { campaignId, now: noon + 5 * minuteMs }, ['cancelled'])).toBe(3);
  expect(await openRound(store, campaignId, noon + 5 * minuteMs)).toMatchObject({ round: 2 });
  scenario.round = 2;
  expect(await scenario.plan(1, noon + 6 * minuteMs)).toMatchObject({ kind: 'batch', size: 1 });
  expect(await scenario.campaign()).toMatchObject({ goal: 'passed', state: 'running' });
  expect((await scenario.recipients()).filter(({ state }) => state === 'waiting')).toHaveLength(2);
});

import { expect } from 'vitest';
import type { Disposition } from '../../../src/rules/disposition.ts';
import { openRound } from '../../../src/ledger/campaign/rounds.ts';
import { adjustCampaign } from '../../../src/ledger/limits/adjustments.ts';
import { buildRows, buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { beginProven, noon, numbers, type Scenario, guests } from '../scenario.ts';
import { test, openLedger, beginOn } from '../ledger-test.ts';

const delays = { ...buildRules().retry.delays, busy: [10 * minuteMs], unknown: [10 * minuteMs] };
const pacing = { refillThreshold: 1 };
const oneRow = 1;

async function callOnce(scenario: Scenario, n: number, at: number, disposition: Disposition = 'busy'): Promise<string> {
  const [attemptId = ''] = await scenario.dial(n, at);
  await scenario.settle(attemptId, disposition, at + minuteMs, { counted: disposition !== 'failed' });
  return attemptId;
}

async function standing(scenario: Scenario) {
  const [row] = await scenario.recipients();
  return [row?.state, row?.outcome, row?.reason];
}

test('with a budget that is renewed, people wait for its renewal', async (dialect) => {
  const retry = { maxAttempts: 2, resetAfterMs: 24 * hourMs, delays };
  const rules = { retry, pacing, endsAt: noon + 72 * hourMs };
  const scenario = await beginOn(dialect, { rows: oneRow, rules });
  await callOnce(scenario, 1, noon);
  await callOnce(scenario, 2, noon + 11 * minuteMs);
  expect(await standing(scenario)).toEqual(['waiting', null, null]);
  const third = noon + 22 * minuteMs;
  expect(await scenario.plan(3, third)).toMatchObject({ reason: 'due', until: noon + 24 * hourMs });
  await callOnce(scenario, 3, noon + 24 * hourMs);
  const next = noon + 24 * hourMs + 11 * minuteMs;
  expect(await scenario.plan(4, next - 1)).toMatchObject({ reason: 'due', until: next });
  expect(await scenario.plan(4, next)).toMatchObject({ kind: 'batch', size: 1 });
});

test('a renewal that comes after the end never comes', async (dialect) => {
  const retry = { maxAttempts: 1, resetAfterMs: 24 * hourMs, delays };
  const rules = { retry, pacing, endsAt: noon + 24 * hourMs };
  const scenario = await beginOn(dialect, { rows: oneRow, rules });
  await callOnce(scenario, 1, noon);
  expect(await scenario.plan(2, noon + 11 * minuteMs)).toEqual({ kind: 'done' });
  expect(await standing(scenario)).toEqual(['done', 'exhausted', 'attempts_used_up']);
});

test.from(openLedger)('a number has one budget over all campaigns, checked again before each request', async (store) => {
  const rules = { retry: { maxAttemptsPerNumber: 2, delays }, pacing };
  const spring = await beginProven(store, { rows: oneRow, rules });
  const autumn = await beginProven(store, { campaignId: 'autumn', rows: oneRow, rules });
  await callOnce(spring, 1, noon);
  await callOnce(spring, 2, noon + 11 * minuteMs);
  const at = noon + hourMs;
  expect(await autumn.plan(1, at)).toEqual({ kind: 'done' });
  expect(await standing(autumn)).toEqual(['done', 'exhausted', 'attempts_used_up']);

  // An uncounted carrier failure turns out to count after the batch was planned.
  const other = buildRows(numbers(1, 5), () => 'Guest');
  const winter = await beginProven(store, { campaignId: 'winter', rows: other, rules });
  const summer = await beginProven(store, { campaignId: 'summer', rows: other, rules });
  const first = await callOnce(summer, 1, at, 'failed');
  await callOnce(summer, 2, at + hourMs);
  const planned = at + 2 * hourMs;
  expect(await winter.plan(1, planned)).toMatchObject({ kind: 'batch', size: 1 });
  await summer.settle(first, 'voicemail', planned);
  expect(await winter.post(1, planned)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await standing(winter)).toEqual(['done', 'exhausted', 'attempts_used_up']);
});

test('a correction that uses up the budget stops the retry that waits', async (dialect) => {
  const store = await openLedger(dialect);
  const scenario = await beginProven(store, { rows: oneRow, rules: { retry: { maxAttempts: 2, delays }, pacing } });
  const first = await callOnce(scenario, 1, noon, 'failed');
  await callOnce(scenario, 2, noon + hourMs);
  expect(await standing(scenario)).toEqual(['waiting', null, null]);
  await scenario.settle(first, 'no_answer', noon + hourMs + 2 * minuteMs);
  expect(await scenario.plan(3, noon + 3 * hourMs)).toEqual({ kind: 'done' });
  expect(await standing(scenario)).toEqual(['done', 'exhausted', 'attempts_used_up']);
  // The outcome follows from the budget of its time.
  await adjustCampaign(store, 'spring', { wish: { maxAttempts: 4 }, reset: false, now: noon + 4 * hourMs });
});

test('a person renews the budget of a row, and not that of its number', async (dialect) => {
  for (const [maxAttemptsPerNumber, end] of [
    [null, ['waiting', null, null]],
    [2, ['done', 'exhausted', 'attempts_used_up']],
  ] as const) {
    const store = await openLedger(dialect);
    const rules = { retry: { maxAttempts: 2, maxAttemptsPerNumber, delays }, pacing };
    const scenario = await beginProven(store, { rows: oneRow, rules });
    await callOnce(scenario, 1, noon);
    await callOnce(scenario, 2, noon + 11 * minuteMs);
    expect(await scenario.close(noon + hourMs)).toBe(true);
    expect(await scenario.retry(['exhausted'], noon + 2 * hourMs)).toBe(1);
    await openRound(store, 'spring', noon + 2 * hourMs);
    scenario.round = 2;
    if (maxAttemptsPerNumber === null) await callOnce(scenario, 1, noon + 2 * hourMs);
    else await scenario.plan(1, noon + 2 * hourMs);
    expect(await standing(scenario)).toEqual(end);
  }
});

test.from(openLedger)('jitter and the next day decide when a retry is due', async (store) => {
  const rows = guests(6);
  const rules = { retry: { jitterMs: hourMs, delays: { ...delays, busy: ['next_day' as const] } }, pacing };
  const scenario = await beginProven(store, { rows, rules });
  await scenario.settle(await scenario.dial(1), 'busy', noon + minuteMs);
  const midnight = Date.UTC(2030, 0, 16, 5);
  const due = (await scenario.recipients()).map(({ due_at }) => due_at);
  for (const at of due) expect(at >= midnight && at <= midnight + hourMs).toBe(true);
  expect(new Set(due).size).toBe(6);
});

test('calls of which nobody knows are dialled again where the campaign says so', async (dialect) => {
  for (const [unknown, state, end] of [
    ['never' as const, 'held', ['done', 'unresolved', 'unknown']],
    [delays.unknown, 'redial', ['waiting', null, null]],
  ] as const) {
    const store = await openLedger(dialect);
    const rules = { retry: { delays: { ...delays, unknown } }, pacing };
    const scenario = await beginProven(store, { rows: oneRow, rules });
    await scenario.lose(1);
    const later = noon + hourMs;
    await scenario.sweep(later);
    expect((await scenario.batch(1))?.state).toBe(state);
    expect(await standing(scenario)).toEqual(end);
    expect((await scenario.plan(2, later + hourMs)).kind).toBe(unknown === 'never' ? 'done' : 'wait');
    // Only when the list has had its time and was read again.
    const after = await scenario.lookAgain(later);
    expect((await scenario.plan(2, after)).kind).toBe(unknown === 'never' ? 'done' : 'batch');
  }
});

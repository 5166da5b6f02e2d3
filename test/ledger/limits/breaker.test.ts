import { expect } from 'vitest';
import type { BreakerRules } from '../../../src/rules/campaign-rules.ts';
import type { Disposition } from '../../../src/rules/disposition.ts';
import { buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { noon, type Scenario, waits } from '../scenario.ts';
import { dialects } from '../test-stores.ts';
import { test, beginOn } from '../ledger-test.ts';

const breaker = { failureShare: 0.5, windowMs: 30 * minuteMs, minCalls: 4, coolDownMs: null };
const delays = { ...buildRules().retry.delays, busy: 'never' as const, failed: 'never' as const };

async function begin(dialect: (typeof dialects)[number], changes: Partial<BreakerRules> = {}): Promise<Scenario> {
  return beginOn(dialect, {
    rows: 20,
    rules: { breaker: { ...breaker, ...changes }, retry: { delays }, pacing: { batchSize: 4, refillThreshold: 1 } },
  });
}

async function callFour(scenario: Scenario, n: number, results: Disposition[], endedAt: number): Promise<void> {
  const attempts = await scenario.dial(n, endedAt - minuteMs);
  for (const [index, attemptId] of attempts.entries()) await scenario.settle(attemptId, results[index] ?? 'busy', endedAt);
}

test.from(begin)('too many failures pause the campaign with the evidence, and a person resumes', async (scenario) => {
  await callFour(scenario, 1, ['failed'], noon + minuteMs);
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject({ kind: 'batch' });
  await scenario.post(2, noon + minuteMs);
  await scenario.verdict(2, 'confirmed');
  const open = (await scenario.attempts()).filter(({ state }) => state === 'open').map(({ attempt_id: id }) => id);
  const at = noon + 2 * minuteMs;
  await scenario.settle(open, 'failed', at);
  expect(await scenario.plan(3, at)).toMatchObject(waits('paused', null));
  expect(await scenario.campaign()).toMatchObject({
    state: 'paused',
    stateReason:
      '5 of the 8 calls that ended in the last 30 min failed (5 failed), and breaker.failure_share is 50%. Find the cause, then resume.',
  });
  expect(await scenario.plan(3, at + 12 * hourMs)).toMatchObject({ reason: 'paused' });
  // What a person has looked at opens it no more.
  await scenario.resume(at + minuteMs);
  expect(await scenario.plan(3, at + minuteMs)).toMatchObject({ kind: 'batch', size: 4 });
});

test.from(begin)('failures that are long ago say nothing, nor do few', async (scenario) => {
  await callFour(scenario, 1, Array(3).fill('failed'), noon + minuteMs);
  // Of the four, only time keeps the busy one out of the window's share.
  expect(await scenario.plan(2, noon + 31 * minuteMs)).toMatchObject({ kind: 'batch' });
});

test.from(begin, { coolDownMs: hourMs })('after a cool-down it goes on by itself, with a clean slate', async (scenario) => {
  const ended = noon + minuteMs;
  await callFour(scenario, 1, Array(4).fill('failed'), ended);
  expect(await scenario.plan(2, ended)).toMatchObject({ reason: 'paused', until: ended + hourMs });
  expect((await scenario.campaign()).stateReason).toMatch(/It resumes by itself after its cool-down\.$/);
  expect(await scenario.plan(2, ended + hourMs - 1)).toMatchObject({ reason: 'paused' });
  expect(await scenario.plan(2, ended + hourMs)).toMatchObject({ kind: 'batch', size: 4 });
});

test.from(beginOn, {
  rows: 20,
  rules: { breaker: null, retry: { delays }, pacing: { batchSize: 4, refillThreshold: 1 } },
})('without a breaker nothing of this pauses', async (scenario) => {
  await callFour(scenario, 1, Array(4).fill('failed'), noon + minuteMs);
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject({ kind: 'batch' });
});

/** Sends the next four and hears no answer; after half an hour no record of them is expected. */
async function loseFour(scenario: Scenario, n: number, at: number): Promise<void> {
  await scenario.submit(n, at);
  await scenario.verdict(n, 'unknown', { now: at });
  await scenario.sweep(at + 30 * minuteMs);
  expect(await scenario.batch(n)).toMatchObject({ state: 'held', size: 4 });
}

test.from(begin, { windowMs: 3 * hourMs })('two lost answers pause nothing, the third within the window does', async (scenario) => {
  await loseFour(scenario, 1, noon);
  await callFour(scenario, 2, [], noon + 31 * minuteMs);
  await loseFour(scenario, 3, noon + 32 * minuteMs);
  await callFour(scenario, 4, [], noon + 63 * minuteMs);
  await loseFour(scenario, 5, noon + 64 * minuteMs);
  expect(await scenario.plan(6, noon + 95 * minuteMs)).toMatchObject(waits('paused'));
  expect((await scenario.campaign()).stateReason).toMatch(/^12 of the 20 calls .* \(12 unknown\)/);
});

test.from(begin)('calls that the service took and shows no result of count each', async (scenario) => {
  await callFour(scenario, 1, ['unknown', 'unknown'], noon + minuteMs);
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject(waits('paused'));
});

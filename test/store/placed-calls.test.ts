import { expect, test } from 'vitest';
import { settleAttempts } from '../../src/store/settle.ts';
import { buildRows, hourMs, minuteMs, type RulesChanges } from '../support/campaign-rules.ts';
import { openCleanStore } from './clean-store.ts';
import { violations } from './edit-world.ts';
import { beginProven, noon, numbers } from './scenario.ts';
import { dialects, type TestDialect } from './test-stores.ts';

const unknown = { disposition: 'unknown', detail: 'held', counted: true } as const;
const rows = buildRows(numbers(1), () => 'Guest');

/** Posts a call that is not sent, and again `laterMs` later, with an end that nobody knows; answers when a second campaign may call. */
async function secondCallAfter(dialect: TestDialect, rules: RulesChanges, laterMs: number): Promise<number | null> {
  const store = await openCleanStore(dialect);
  const spring = await beginProven(store, { rows, rules });
  await spring.plan(1);
  await spring.post(1);
  await spring.verdict(1, 'not_sent');
  const later = noon + laterMs;
  expect(await spring.post(1, later)).toMatchObject({ kind: 'post', k: 2 });
  expect(await spring.post(1, later)).toEqual({ kind: 'verdict', state: 'unknown' });
  const settlement = { attemptId: 'spring/1/1', result: unknown };
  await store.transaction((tx) => settleAttempts(tx, 'spring', [settlement], later + minuteMs));
  const summer = await beginProven(store, { campaignId: 'summer', rows, rules });
  const plan = await summer.plan(1, later + minuteMs);
  if (plan.kind !== 'wait') return null;
  await summer.dial(1, plan.until ?? 0);
  expect(await violations(store)).toEqual([]);
  return plan.until;
}

const laterMs = 10 * minuteMs;

test.for(dialects)('a cap counts a call that was posted again from its last request on: %s', async (dialect) => {
  const rules = { caps: [{ by: 'number' as const, calls: 1, withinMs: hourMs }] };
  expect(await secondCallAfter(dialect, rules, laterMs)).toBe(noon + laterMs + hourMs);
});

test.for(dialects)('so does a budget that is renewed: %s', async (dialect) => {
  const rules = { retry: { maxAttemptsPerNumber: 1, resetAfterMs: hourMs } };
  expect(await secondCallAfter(dialect, rules, laterMs)).toBe(noon + laterMs + hourMs);
});

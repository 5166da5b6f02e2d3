import { expect, test } from 'vitest';
import type { ConversationFacts } from '../../src/rules/conversation-facts.ts';
import { buildRows, hourMs, minuteMs } from '../support/campaign-rules.ts';
import { openCleanStore } from './clean-store.ts';
import { violations } from './edit-world.ts';
import { beginProven, noon, numbers } from './scenario.ts';
import { dialects } from './test-stores.ts';

const [number = ''] = numbers(1);
const rows = buildRows([number], () => 'Guest');
const rules = { optOut: [{ source: 'collected' as const, key: 'do_not_call', values: [true] }] };

/** A finished record whose transcript is withheld and of which the carrier says nothing. */
const withheld: Partial<ConversationFacts> = {
  conversationId: 'conv',
  calleeNumber: number,
  startedAt: noon + 5_000,
  endedAt: noon + 35_000,
  durationMs: 30_000,
  status: 'done',
  collected: { do_not_call: true },
  evaluation: {},
};

test.for(dialects)('an opt-out is heard in a record that tells nothing else of its call: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const spring = await beginProven(store, { rows, rules });
  const autumn = await beginProven(store, { campaignId: 'autumn', rows });
  await spring.dial(1);
  await spring.sweep(noon + minuteMs, [withheld]);
  expect(await spring.attempts()).toMatchObject([{ disposition: 'opted_out', detail: null, counted: 1 }]);
  expect(await spring.recipients()).toMatchObject([{ state: 'done', outcome: 'opted_out' }]);
  expect(await store.db.selectFrom('suppressions').selectAll().execute()).toMatchObject([
    { e164: number, scope: 'account', source: 'call:spring/1/1', expires_at: null },
  ]);
  expect(await autumn.plan(1, noon + hourMs)).toEqual({ kind: 'done' });
  expect(await autumn.recipients()).toMatchObject([{ outcome: 'suppressed' }]);
  expect(await violations(store)).toEqual([]);
});

test.for(dialects)('it stops a call of another campaign that is planned already: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const spring = await beginProven(store, { rows, rules: { ...rules, retry: { maxAttempts: 1 } } });
  const autumn = await beginProven(store, { campaignId: 'autumn', rows });
  await spring.dial(1);
  let now = noon;
  for (; now <= noon + 22 * minuteMs; now += 2 * minuteMs) await spring.sweep(now);
  now = await spring.lookAgain(now);
  expect(await autumn.plan(1, now)).toMatchObject({ kind: 'batch', size: 1 });
  await spring.sweep(now, [withheld], false);
  expect(await autumn.post(1, now)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await autumn.attempts()).toMatchObject([{ state: 'released', reason: 'suppressed' }]);
  expect(await spring.recipients()).toMatchObject([{ outcome: 'opted_out' }]);
});

test.for(dialects)('without such a wish it stays one for a person to decide about: %s', async (dialect) => {
  const spring = await beginProven(await openCleanStore(dialect), { rows, rules });
  await spring.dial(1);
  await spring.sweep(noon + minuteMs, [{ ...withheld, collected: { do_not_call: false } }]);
  expect(await spring.attempts()).toMatchObject([{ disposition: 'unknown', detail: 'record_tells_nothing' }]);
});

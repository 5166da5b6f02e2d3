import { expect } from 'vitest';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { beginOn, test } from '../ledger-test.ts';
import { answered, noon, numbers, type Scenario, twice, waits } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';

const pacing = { batchSize: 2, refillThreshold: 1 };
const [first = '', second = ''] = numbers(2);
const released = { kind: 'verdict', state: 'released' };

test.for([{ scope: 'account' }, { scope: 'spring' }])(
  'a suppression added after planning keeps that number from being dialled: $scope',
  async (dialect, { scope }) => {
    const scenario = await beginOn(dialect, { rows: 2 });
    await scenario.plan(1);
    await scenario.suppress(first, { scope });
    expect(await scenario.post(1)).toMatchObject({ kind: 'post', calls: [{ e164: second }] });
    expect(await scenario.standings()).toEqual([
      ['done', 'suppressed', 'suppressed'],
      ['open', null, null],
    ]);
    expect(await scenario.attempts()).toMatchObject([{ state: 'released', reason: 'suppressed', counted: 0 }, { state: 'posting' }]);
    expect(await scenario.batch(1)).toMatchObject({ state: 'posting', size: 1, posts: 1 });
  },
);

test.from(beginOn, { rows: 2 })('an expired suppression, or one of another campaign, stops nobody', async (scenario) => {
  await scenario.plan(1);
  await scenario.suppress(first, { expiresAt: noon - 1 });
  await scenario.suppress(second, { scope: 'autumn' });
  expect(await scenario.post(1)).toMatchObject({ kind: 'post', calls: { length: 2 } });
});

test.from(beginOn, { rows: 2 })('a campaign that is paused or cancelled meanwhile is not dialled', async (scenario) => {
  await scenario.plan(1);
  await scenario.pause();
  expect(await scenario.post(1)).toEqual(released);
  expect(await scenario.recipients()).toMatchObject(twice({ state: 'waiting', due_at: noon, counted: 0 }));
  await scenario.resume();
  await scenario.plan(2);
  await scenario.end('cancelled');
  expect(await scenario.post(2)).toEqual(released);
  const reasons = ['campaign_paused', 'campaign_draining'].flatMap(twice);
  expect(await scenario.attempts()).toMatchObject(reasons.map((reason) => ({ state: 'released', reason })));
  expect(await scenario.posts()).toEqual([]);
});

test.from(beginOn, { rules: { pacing } })('the first verdict of a POST stays; repeating one changes nothing', async (scenario) => {
  expect(await scenario.submit(1)).toMatchObject({ kind: 'post', k: 1, deadlineReal: noon + 10_000 });
  expect(await scenario.verdict(1, 'confirmed')).toBe('confirmed');
  const events = () => scenario.store.db.selectFrom('events').selectAll().execute();
  const before = [await scenario.batch(1), await events()];
  for (const verdict of ['confirmed', 'not_sent', 'refused'] as const)
    expect(await scenario.verdict(1, verdict, { status: 422 })).toBe('confirmed');
  expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'confirmed' });
  expect([await scenario.batch(1), await events()]).toEqual(before);
});

const ofNobody = { conversationId: 'conv', startedAt: noon + 1_000, hasTranscript: true, agentTurns: 1, userTurns: 1 };

/** Two batches of two; the second was refused for its rate. */
async function denied(dialect: TestDialect): Promise<Scenario> {
  const names = ['Ana', 'Ben', 'Guest', 'Third'];
  const rules = { pacing, variables: null, firstMessage: 'Hello {{ name }}' };
  const scenario = await beginOn(dialect, { rules, rows: buildRows(numbers(4), (index) => names[index] ?? '') });
  await scenario.dial(1);
  await scenario.submit(2);
  await scenario.verdict(2, 'not_sent', { status: 429 });
  return scenario;
}

test.for<{ facts: Partial<ConversationFacts>; step: object }>([
  { facts: { openingLine: 'Hello Guest' }, step: { kind: 'verdict', state: 'confirmed' } },
  // Its record may still grow.
  { facts: { openingLine: 'Hello' }, step: { kind: 'blocked' } },
  { facts: { openingLine: 'Hello', calleeNumber: '+12125550177' }, step: { kind: 'post', k: 2 } },
])(
  'words with which somebody of the batch may have been greeted forbid a second POST, a call to somebody else does not: $facts',
  async (dialect, { facts, step }) => {
    const scenario = await denied(dialect);
    await scenario.sweep(noon + 5_000, [{ ...ofNobody, status: 'done', endedAt: noon + 4_000, ...facts }]);
    expect(await scenario.post(2, noon + minuteMs)).toMatchObject(step);
  },
);

test('a batch that was refused for its rate is not sent again before a record of it had a minute to be listed', async (dialect) => {
  const scenario = await denied(dialect);
  await scenario.sweep(noon + 5_000);
  expect(await scenario.post(2, noon + minuteMs - 1)).toMatchObject({ kind: 'blocked' });
  expect(await scenario.post(2, noon + minuteMs)).toMatchObject({ kind: 'post', k: 2 });
});

test('a call under way that may be of a batch refused for its rate is waited for before the second POST', async (dialect) => {
  const scenario = await denied(dialect);
  await scenario.sweep(noon + 5_000, [{ ...ofNobody, status: 'in-progress' }]);
  expect(await scenario.post(2, noon + 6_000)).toEqual({ kind: 'blocked', until: noon + 36_000 });
  const over = { status: 'done', endedAt: noon + 30_000, durationMs: 29_000, openingLine: 'Hello Guest' } as const;
  await scenario.sweep(noon + 36_000, [{ ...ofNobody, ...over }]);
  expect(await scenario.post(2, noon + 36_000)).toEqual({ kind: 'verdict', state: 'confirmed' });
});

test('while a batch is unknown nothing is sent before a read has succeeded and the back-off is over', async (dialect) => {
  const scenario = await beginOn(dialect, { rules: { pacing } });
  await scenario.lose(1);
  // The back-off is over, but nothing has been read since.
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject(waits('blocked'));
  await scenario.sweep(noon + 1_000);
  expect(await scenario.plan(2, noon + 10_000)).toMatchObject(waits('blocked', noon + 30_000));
  await scenario.sweep(noon + minuteMs);
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject({ kind: 'batch' });
});

test('three batches in a row without a known answer pause the campaign, the back-off doubling', async (dialect) => {
  const scenario = await beginOn(dialect, { rules: { pacing } });
  let now = noon;
  const backoffs: number[] = [];
  for (const n of [1, 2, 3]) {
    await scenario.lose(n, now);
    const round = await scenario.store.db.selectFrom('rounds').selectAll().executeTakeFirstOrThrow();
    backoffs.push(round.blocked_until - now);
    now = round.blocked_until + 1;
    await scenario.sweep(now);
  }
  expect(backoffs).toEqual([30_000, 60_000, 120_000]);
  expect(await scenario.plan(4, now)).toMatchObject(waits('paused'));
  await scenario.resume(now);
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
});

test('a retry is a new attempt after its delay, and one that is planned waits for its due time by the clock of the request', async (dialect) => {
  const scenario = await beginOn(dialect, { rules: { pacing }, rows: 1 });
  const busy = { callResult: 'busy', hasTranscript: false, agentTurns: 0, userTurns: 0, collected: null } as const;
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [{ ...answered('c1', first, noon + 1_000), ...busy }]);
  const due = noon + 6 * minuteMs;
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toMatchObject(waits('due', due));
  await scenario.plan(2, due);
  expect(await scenario.post(2, due - 2 * minuteMs)).toEqual({ kind: 'blocked', until: due });
  // The record is read again, and says that nobody answered: another delay.
  await scenario.settle('spring/1/1', 'no_answer', due);
  expect(await scenario.post(2, due)).toEqual({ kind: 'blocked', until: due + 10 * minuteMs });
  expect(await scenario.post(2, due + 10 * minuteMs)).toMatchObject({ kind: 'post', calls: [{ attemptId: 'spring/1/2' }] });
});

test.for([
  { disposition: 'answered', outcome: 'completed' },
  { disposition: 'opted_out', outcome: 'opted_out' },
] as const)('who was reached by a call before has that outcome when a later one is given back: $disposition', async (dialect, given) => {
  const scenario = await beginOn(dialect, { rows: 1 });
  await scenario.dial(1);
  await scenario.settle('spring/1/1', 'unreached', noon + minuteMs);
  const again = await scenario.lookAgain(noon + hourMs);
  expect(await scenario.submit(2, again)).toMatchObject({ kind: 'post' });
  expect(await scenario.post(2, again)).toEqual({ kind: 'verdict', state: 'unknown' });
  // The first record comes while nobody knows of the second.
  await scenario.settle('spring/1/1', given.disposition, again + minuteMs);
  expect(await scenario.recipients()).toMatchObject([{ state: 'open', outcome: null }]);
  await scenario.verdict(2, 'not_sent', { now: again + 2 * minuteMs });
  const end = { state: 'done', outcome: given.outcome };
  expect(await scenario.recipients()).toMatchObject([{ ...end, reason: 'reached_by_earlier_attempt' }]);
  await scenario.end('cancelled', again + 3 * minuteMs);
  expect(await scenario.plan(3, again + 3 * minuteMs)).toEqual({ kind: 'done' });
  expect(await scenario.close(again + 3 * minuteMs)).toBe(true);
  expect(await scenario.recipients()).toMatchObject([end]);
});

import { expect, test } from 'vitest';
import { compareAndSetBatch } from '../../../src/ledger/batch-state.ts';
import { closeRound } from '../../../src/ledger/campaign/rounds.ts';
import { endCampaign, pauseCampaign, resumeCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { addSuppression } from '../../../src/ledger/rows/suppressions.ts';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import type { AttemptResult, Disposition } from '../../../src/rules/disposition.ts';
import { type BatchState, batchTransitions } from '../../../src/rules/ledger.ts';
import { verifyLog } from '../../../src/verify/log.ts';
import { buildRows, buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { violations } from '../edit-world.ts';
import { agentId, answered, beginProven, noon, numbers, Scenario } from '../scenario.ts';
import { bothDialects, dialects, emptyDatabase, openAt, openTestStore } from '../test-stores.ts';

const pacing = { maxConcurrentCalls: 50, startsPerMinute: null, batchSize: 2, refillThreshold: 1 };
const busy = { callResult: 'busy', hasTranscript: false, agentTurns: 0, userTurns: 0, collected: null } as const;

test.for(dialects)('who asks first may post; everyone after is told the verdict: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  await scenario.plan(1);
  const first = await scenario.post(1);
  expect(first).toMatchObject({ kind: 'post', k: 1, deadlineReal: noon + 10_000 });
  await scenario.verdict(1, 'confirmed');
  expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'confirmed' });
  expect(await scenario.store.db.selectFrom('posts').selectAll().execute()).toHaveLength(1);
});

test.for(dialects)('entering a batch that somebody was about to send makes it unknown: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  await scenario.plan(1);
  await scenario.post(1);
  expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'unknown' });
  expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'unknown' });
  expect((await scenario.attempts()).map((row) => row.state)).toEqual(['open', 'open']);
});

test.for(bothDialects)('of many who enter at once, one posts: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  const scenario = await beginProven(await openAt(location), { rules: { pacing } });
  // A SQLite file has one worker process; its activities still overlap.
  const stores = dialect === 'sqlite' ? [scenario.store] : [scenario.store, await openAt(location), await openAt(location)];
  await scenario.plan(1);
  const steps = await Promise.all([...stores, ...stores].map((store) => scenario.post(1, noon, store)));
  expect(steps.filter((step) => step.kind === 'post')).toHaveLength(1);
  expect(await scenario.store.db.selectFrom('posts').selectAll().execute()).toHaveLength(1);
});

test.for(dialects)('a suppression added after planning keeps that number from being dialled: %s', async (dialect) => {
  for (const scope of ['account', 'spring']) {
    const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
    await scenario.plan(1);
    const entry = { e164: numbers(1)[0] ?? '', scope, source: 'test', reason: null, expiresAt: null };
    await scenario.store.transaction((tx) => addSuppression(tx, entry, noon));
    const step = await scenario.post(1);
    expect(step.kind === 'post' && step.calls.map((call) => call.e164)).toEqual([numbers(2)[1]]);
    expect((await scenario.recipients())[0]).toMatchObject({ state: 'done', outcome: 'suppressed' });
    expect((await scenario.attempts())[0]).toMatchObject({ state: 'released', reason: 'suppressed', counted: 0 });
    expect(await scenario.batch(1)).toMatchObject({ size: 1 });
  }
});

test.for(dialects)('an expired suppression, or one of another campaign, stops nobody: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  await scenario.plan(1);
  const [first = '', second = ''] = numbers(2);
  const common = { source: 'test', reason: null };
  await scenario.store.transaction((tx) => addSuppression(tx, { ...common, e164: first, scope: 'account', expiresAt: noon - 1 }, noon));
  await scenario.store.transaction((tx) => addSuppression(tx, { ...common, e164: second, scope: 'autumn', expiresAt: null }, noon));
  const step = await scenario.post(1);
  expect(step.kind === 'post' && step.calls).toHaveLength(2);
});

test.for(dialects)('nothing is dialled when the campaign end is nearer than the dispatch margin: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing, endsAt: noon + hourMs } });
  await scenario.plan(1);
  expect(await scenario.post(1, noon + 51 * minuteMs)).toEqual({ kind: 'verdict', state: 'released' });
  expect((await scenario.recipients()).slice(0, 2)).toMatchObject([{ outcome: 'expired' }, { outcome: 'expired' }]);
  expect(await scenario.batch(1)).toMatchObject({ state: 'released', reason: 'nobody_eligible', posts: 0 });
});

test.for(dialects)('a calling window that closes between planning and dialling sends nobody: %s', async (dialect) => {
  // 09:00 to 17:00 in New York is 14:00 to 22:00 UTC in January.
  const window = [{ from: 9 * 60, to: 17 * 60 }];
  const hours = { mon: window, tue: window, wed: window, thu: window, fri: window };
  const scenario = await beginProven(await openTestStore(dialect), {
    rules: { pacing, calendar: { hours, closedOn: [] } },
  });
  const evening = noon + 9.5 * hourMs;
  expect(await scenario.plan(1, evening)).toMatchObject({ kind: 'batch' });
  expect(await scenario.post(1, evening + 25 * minuteMs)).toEqual({ kind: 'verdict', state: 'released' });
  expect((await scenario.recipients())[0]).toMatchObject({ state: 'waiting', called: 0, rank: 50, due_at: noon + 26 * hourMs });
});

test.for(dialects)('a campaign that is paused or cancelled meanwhile is not dialled: %s', async (dialect) => {
  for (const stop of [
    (scenario: Scenario) => pauseCampaign(scenario.store, { campaignId: 'spring', now: noon }, { reason: 'for lunch' }),
    (scenario: Scenario) => endCampaign(scenario.store, { campaignId: 'spring', now: noon }, { why: 'cancelled' }),
  ]) {
    const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
    await scenario.plan(1);
    await stop(scenario);
    expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'released' });
    expect((await scenario.recipients())[0]).toMatchObject({ state: 'waiting', counted: 0 });
  }
});

test.for(dialects)('a person whom a late record shows as reached is not dialled again: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), {
    rules: { pacing },
    rows: buildRows(numbers(1), () => 'Guest'),
  });
  const [number = ''] = numbers(1);
  await scenario.dial(1);
  // Nothing is heard of the call, so it counts as unreached and a retry is planned.
  for (let at = noon; at <= noon + 25 * minuteMs; at += minuteMs) await scenario.sweep(at);
  const later = await scenario.lookAgain(noon + 25 * minuteMs);
  expect(await scenario.plan(2, later)).toMatchObject({ kind: 'batch' });
  await scenario.sweep(later, [answered('late', number, noon + 2_000)]);
  expect(await scenario.post(2, later)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await scenario.attempts()).toMatchObject([
    { state: 'settled', disposition: 'answered', conversation_id: 'late' },
    { state: 'released', reason: 'already_reached' },
  ]);
  expect((await scenario.recipients())[0]).toMatchObject({ state: 'done', outcome: 'completed', counted: 1 });
});

test.for(dialects)('batches change state only as the table allows: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  await scenario.plan(1);
  const { store } = scenario;
  const id = scenario.batchId(1);
  const states = Object.keys(batchTransitions) as BatchState[];
  for (const from of states) {
    for (const to of states) {
      await store.db.updateTable('batches').set({ state: from }).where('batch_id', '=', id).execute();
      const legal = batchTransitions[from].includes(to);
      const moved = await store.transaction((tx) => compareAndSetBatch(tx, id, { from: states, to }));
      expect([from, to, moved]).toEqual([from, to, legal]);
      expect(await scenario.batch(1)).toMatchObject({ state: legal ? to : from });
    }
  }
});

test.for(dialects)('a change is refused when the batch is in another state than the caller thinks: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  await scenario.plan(1);
  const { store } = scenario;
  const move = (from: BatchState, to: BatchState) =>
    store.transaction((tx) => compareAndSetBatch(tx, scenario.batchId(1), { from: [from], to }));
  expect(await move('not_sent', 'posting')).toBe(false);
  const both = await Promise.all([move('intent', 'posting'), move('intent', 'released')]);
  expect(both.filter(Boolean)).toHaveLength(1);
});

test.for(dialects)('the first verdict of a POST stays; repeating one changes nothing: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  await scenario.plan(1);
  await scenario.post(1);
  expect(await scenario.verdict(1, 'confirmed')).toBe('confirmed');
  const before = [await scenario.batch(1), await scenario.store.db.selectFrom('events').selectAll().execute()];
  expect(await scenario.verdict(1, 'confirmed')).toBe('confirmed');
  expect(await scenario.verdict(1, 'not_sent')).toBe('confirmed');
  expect(await scenario.verdict(1, 'refused', { status: 422 })).toBe('confirmed');
  expect([await scenario.batch(1), await scenario.store.db.selectFrom('events').selectAll().execute()]).toEqual(before);
});

test.for(dialects)('a verdict that comes late outranks what was missing: %s', async (dialect) => {
  for (const verdict of ['confirmed', 'not_sent', 'refused'] as const) {
    const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
    await scenario.plan(1);
    await scenario.post(1);
    expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'unknown' });
    const state = await scenario.verdict(1, verdict, {
      now: noon + minuteMs,
      status: verdict === 'refused' ? 401 : null,
    });
    expect([verdict, state]).toEqual([verdict, { confirmed: 'confirmed', not_sent: 'released', refused: 'refused' }[verdict]]);
    const states = (await scenario.attempts()).map((row) => row.state);
    expect(states).toEqual(verdict === 'confirmed' ? ['open', 'open'] : ['released', 'released']);
  }
});

test.for(dialects)('a reply that comes after the batch was held confirms it; a late "not sent" does not: %s', async (dialect) => {
  for (const [verdict, state] of [
    ['confirmed', 'confirmed'],
    ['not_sent', 'held'],
  ] as const) {
    const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
    await scenario.plan(1);
    await scenario.post(1);
    await scenario.post(1);
    await scenario.sweep(noon + 30 * minuteMs);
    expect(await scenario.batch(1)).toMatchObject({ state: 'held' });
    expect(await scenario.verdict(1, verdict)).toBe(state);
  }
});

test.for(dialects)('a batch that was not sent is posted again under the next number: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  await scenario.plan(1);
  await scenario.post(1);
  expect(await scenario.verdict(1, 'not_sent')).toBe('not_sent');
  expect(await scenario.post(1, noon + 1_000)).toMatchObject({ kind: 'post', k: 2 });
  const posts = await scenario.store.db.selectFrom('posts').select(['k', 'verdict']).orderBy('k').execute();
  expect(posts).toEqual([
    { k: 1, verdict: 'not_sent' },
    { k: 2, verdict: null },
  ]);
});

test.for(dialects)('a call that shows up although the service refused for its rate forbids a second POST: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'not_sent', { status: 429 });
  await scenario.sweep(noon + 5_000, [{ ...answered('conv', numbers(2)[1] ?? '', noon + 1_000), status: 'in-progress' }]);
  expect(await scenario.post(1, noon + 6_000)).toEqual({ kind: 'verdict', state: 'confirmed' });
  expect(await scenario.store.db.selectFrom('posts').selectAll().execute()).toHaveLength(1);
});

const ofNobody = { conversationId: 'conv', startedAt: noon + 1_000, hasTranscript: true, agentTurns: 1, userTurns: 1 };

/** Two batches of two; the second was refused for its rate. */
async function denied(dialect: (typeof dialects)[number]): Promise<Scenario> {
  const names = ['Ana', 'Ben', 'Guest', 'Third'];
  const rows = buildRows(numbers(4), (index) => names[index] ?? '');
  const rules = { pacing, variables: null, firstMessage: 'Hello {{ name }}' };
  const scenario = await beginProven(await openTestStore(dialect), { rules, rows });
  await scenario.dial(1);
  await scenario.plan(2);
  await scenario.post(2);
  await scenario.verdict(2, 'not_sent', { status: 429 });
  return scenario;
}

test.for(dialects)(
  'words with which somebody of the batch may have been greeted forbid a second POST, a call to somebody else does not: %s',
  async (dialect) => {
    for (const [facts, step] of [
      [{ openingLine: 'Hello Guest' }, { kind: 'verdict', state: 'confirmed' }],
      // Its record may still grow.
      [{ openingLine: 'Hello' }, { kind: 'blocked' }],
      [
        { openingLine: 'Hello', calleeNumber: '+12125550177' },
        { kind: 'post', k: 2 },
      ],
    ] as const) {
      const scenario = await denied(dialect);
      await scenario.sweep(noon + 5_000, [{ ...ofNobody, status: 'done', endedAt: noon + 4_000, ...facts }]);
      expect([facts, await scenario.post(2, noon + minuteMs)]).toMatchObject([facts, step]);
    }
  },
);

test.for(dialects)(
  'a batch that was refused for its rate is not sent again before a record of it had a minute to be listed: %s',
  async (dialect) => {
    const scenario = await denied(dialect);
    await scenario.sweep(noon + 5_000);
    expect(await scenario.post(2, noon + minuteMs - 1)).toMatchObject({ kind: 'blocked' });
    expect(await scenario.post(2, noon + minuteMs)).toMatchObject({ kind: 'post', k: 2 });
  },
);

test.for(dialects)(
  'a call under way that may be of a batch refused for its rate is waited for before the second POST: %s',
  async (dialect) => {
    const scenario = await denied(dialect);
    await scenario.sweep(noon + 5_000, [{ ...ofNobody, status: 'in-progress' }]);
    expect(await scenario.post(2, noon + 6_000)).toEqual({ kind: 'blocked', until: noon + 36_000 });
    const over: Partial<ConversationFacts> = {
      ...ofNobody,
      status: 'done',
      endedAt: noon + 30_000,
      durationMs: 29_000,
      openingLine: 'Hello Guest',
    };
    await scenario.sweep(noon + 36_000, [over]);
    expect(await scenario.post(2, noon + 36_000)).toEqual({ kind: 'verdict', state: 'confirmed' });
  },
);

test.for(dialects)('Retry-After holds every campaign of the account, and is never shortened: %s', async (dialect) => {
  const store = await openTestStore(dialect);
  const spring = await beginProven(store, { rules: { pacing } });
  const autumn = await beginProven(store, {
    campaignId: 'autumn',
    rules: { pacing },
    rows: buildRows(numbers(2, 9), () => 'G'),
  });
  await spring.plan(1);
  await autumn.plan(1);
  await spring.post(1);
  await spring.verdict(1, 'not_sent', { status: 429, notBefore: noon + 5 * minuteMs });
  expect(await spring.post(1, noon + minuteMs)).toEqual({ kind: 'blocked', until: noon + 5 * minuteMs });
  expect(await autumn.post(1, noon + minuteMs)).toEqual({ kind: 'blocked', until: noon + 5 * minuteMs });
  expect(await autumn.post(1, noon + 5 * minuteMs)).toMatchObject({ kind: 'post' });
  await autumn.verdict(1, 'not_sent', { status: 429, notBefore: noon + 2 * minuteMs });
  expect(await spring.post(1, noon + 3 * minuteMs)).toEqual({ kind: 'blocked', until: noon + 5 * minuteMs });
});

test.for(dialects)('a batch that cannot be sent within fifteen minutes is given back: %s', async (dialect) => {
  const waits = [
    { notBefore: noon + hourMs, at: noon + 1_000 },
    { notBefore: null, at: noon + 16 * minuteMs },
  ];
  for (const { notBefore, at } of waits) {
    const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
    await scenario.plan(1);
    await scenario.post(1);
    await scenario.verdict(1, 'not_sent', { notBefore });
    expect(await scenario.post(1, at)).toEqual({ kind: 'verdict', state: 'released' });
    expect((await scenario.recipients())[0]).toMatchObject({ state: 'waiting', called: 0, rank: 50, counted: 0 });
  }
});

test.for(dialects)('while a batch is unknown nothing is sent before a read has succeeded and the back-off is over: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'unknown');
  // The back-off is over, but nothing has been read since.
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject({ kind: 'wait', reason: 'blocked' });
  await scenario.sweep(noon + 1_000);
  expect(await scenario.plan(2, noon + 10_000)).toMatchObject({
    kind: 'wait',
    reason: 'blocked',
    until: noon + 30_000,
  });
  await scenario.sweep(noon + minuteMs);
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject({ kind: 'batch' });
});

test.for(dialects)('three batches in a row without a known answer pause the campaign, the back-off doubling: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  let now = noon;
  const backoffs: number[] = [];
  for (const n of [1, 2, 3]) {
    expect(await scenario.plan(n, now)).toMatchObject({ kind: 'batch' });
    await scenario.post(n, now);
    await scenario.verdict(n, 'unknown', { now });
    const round = await scenario.store.db.selectFrom('rounds').selectAll().executeTakeFirstOrThrow();
    backoffs.push(round.blocked_until - now);
    now = round.blocked_until + 1;
    await scenario.sweep(now);
  }
  expect(backoffs).toEqual([30_000, 60_000, 120_000]);
  expect(await scenario.campaign()).toMatchObject({ state: 'paused' });
  expect(await scenario.plan(4, now)).toMatchObject({ kind: 'wait', reason: 'paused' });
  await resumeCampaign(scenario.store, { campaignId: 'spring', now });
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
});

test.for(dialects)('a refused batch is halved until the guilty call is found, and the others are called: %s', async (dialect) => {
  const guilty = 13;
  const rows = buildRows(numbers(60), (index) => `Guest ${index}`);
  const scenario = await beginProven(await openTestStore(dialect), {
    rules: { pacing: { ...pacing, batchSize: 20 } },
    rows,
  });
  const bad = numbers(60)[guilty] ?? '';
  let posts = 0;
  let now = noon;
  for (let n = 1; ; n += 1) {
    const plan = await scenario.plan(n, now);
    if (plan.kind !== 'batch') break;
    const step = await scenario.post(n, now);
    if (step.kind !== 'post') continue;
    posts += 1;
    const refused = step.calls.some((call) => call.e164 === bad);
    await scenario.verdict(n, refused ? 'refused' : 'confirmed', { now, ...(refused ? { status: 422 } : {}) });
    if (refused) {
      // The refusal is a claim: a list that was read a minute later is to show nothing else before its people are called again.
      await scenario.sweep(now + 50_000);
      expect((await scenario.attempts()).filter((row) => row.state === 'open')).toHaveLength(step.calls.length);
      now += 61_000;
      await scenario.sweep(now);
    } else
      await scenario.store.transaction((tx) =>
        settleAttempts(
          tx,
          { campaignId: 'spring', now: noon },
          step.calls.map((call) => ({
            attemptId: call.attemptId,
            result: { disposition: 'answered', detail: null, counted: true },
          })),
        ),
      );
  }
  // 20, 10, 5, 3, 2 or 1 and their other halves, beside the two good batches.
  expect(posts).toBeLessThanOrEqual(13);
  const outcomes = (await scenario.recipients()).map((row) => [row.row_number, row.outcome]);
  expect(outcomes.filter(([, outcome]) => outcome !== 'completed')).toEqual([[guilty + 1, 'undialable']]);
  const last = (await scenario.attempts()).find((row) => row.disposition === 'invalid_number');
  expect(last).toMatchObject({ e164: bad, state: 'settled' });
});

test.for(dialects)(
  'a refusal of the whole request pauses the campaign with the reason, and the rows go back in line: %s',
  async (dialect) => {
    for (const [status, word, wholeRequest] of [
      [401, 'SVC_API_KEY', false],
      [402, 'payment', false],
      [404, 'agent or the caller number', false],
      [413, 'batch_size', false],
      [422, 'as a whole', true],
    ] as const) {
      const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
      await scenario.plan(1);
      await scenario.post(1);
      expect(await scenario.verdict(1, 'refused', { status, wholeRequest })).toBe('refused');
      const campaign = await scenario.campaign();
      expect([status, campaign.state]).toEqual([status, 'paused']);
      expect(campaign.stateReason).toContain(word);
      expect((await scenario.recipients())[0]).toMatchObject({ state: 'waiting', counted: 0, called: 0, rank: 50 });
      expect(await scenario.batch(2)).toBeUndefined();
    }
  },
);

test.for(dialects)("the service's own words stay in the table of POSTs: %s", async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rules: { pacing } });
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'refused', { status: 401, message: 'no such key: planted-words' });
  const kept = await scenario.store.db.selectFrom('posts').select('message').executeTakeFirstOrThrow();
  expect(kept.message).toContain('planted-words');
  const events = await scenario.store.db.selectFrom('events').select('data').execute();
  expect(JSON.stringify([events, await scenario.campaign()])).not.toContain('planted-words');
});

test.for(dialects)('a busy line is retried as a new attempt, after its delay: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), {
    rules: { pacing },
    rows: buildRows(numbers(1), () => 'G'),
  });
  await scenario.dial(1);
  const [number = ''] = numbers(1);
  await scenario.sweep(noon + minuteMs, [{ ...answered('c1', number, noon + 1_000), ...busy, agentId }]);
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toMatchObject({
    kind: 'wait',
    reason: 'due',
    until: noon + 6 * minuteMs,
  });
  expect(await scenario.dial(2, noon + 6 * minuteMs)).toEqual(['spring/1/2']);
});

test('a retry that is planned waits where its due time is still to come by the clock of the request', async () => {
  const rows = buildRows(numbers(1), () => 'G');
  const scenario = await beginProven(await openTestStore('sqlite'), { rules: { pacing }, rows });
  const [number = ''] = numbers(1);
  const call = { ...answered('c1', number, noon + 1_000), ...busy, agentId };
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [call]);
  const due = noon + 6 * minuteMs;
  await scenario.plan(2, due);
  expect(await scenario.post(2, due - 2 * minuteMs)).toEqual({ kind: 'blocked', until: due });
  // The record is read once more, and says that nobody answered: that asks for another delay.
  const { attempt_id: attemptId = '' } = (await scenario.attempts())[0] ?? {};
  const result = { disposition: 'no_answer', detail: null, counted: true } as const;
  await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now: due }, [{ attemptId, result }]));
  expect(await scenario.post(2, due)).toEqual({ kind: 'blocked', until: due + 10 * minuteMs });
  expect(await scenario.post(2, due + 10 * minuteMs)).toMatchObject({ kind: 'post' });
  expect((await verifyLog(scenario.store.db, null)).ok).toBe(true);
});

const failed: AttemptResult = { disposition: 'failed', detail: null, counted: true };
const coolDownMs = 5 * minuteMs;
const ended = noon + minuteMs;

/** A campaign whose first four calls have failed, and which has paused itself for it. */
async function breakOff(dialect: (typeof dialects)[number]): Promise<Scenario> {
  const delays = { ...buildRules().retry.delays, failed: 'never' as const };
  const scenario = await beginProven(await openCleanStore(dialect), {
    rows: buildRows(numbers(20), (index) => `Guest ${index}`),
    rules: {
      breaker: { failureShare: 0.5, windowMs: 30 * minuteMs, minCalls: 4, coolDownMs },
      retry: { delays },
      pacing: { batchSize: 4, refillThreshold: 1 },
    },
  });
  const attempts = await scenario.dial(1);
  const settlements = attempts.map((attemptId) => ({ attemptId, result: failed }));
  await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now: ended }, settlements));
  expect(await scenario.plan(2, ended)).toMatchObject({ reason: 'paused', until: ended + coolDownMs });
  return scenario;
}

test.for(dialects)('after a cool-down shorter than the window the old failures open nothing: %s', async (dialect) => {
  const scenario = await breakOff(dialect);
  expect(await scenario.plan(2, ended + coolDownMs)).toMatchObject({ kind: 'batch', size: 4 });
  expect(await scenario.campaign()).toMatchObject({ state: 'running', dialsSince: ended + coolDownMs });
});

test.for(dialects)('a person who pauses it ends the cool-down: only a person resumes: %s', async (dialect) => {
  const scenario = await breakOff(dialect);
  expect(await pauseCampaign(scenario.store, { campaignId: 'spring', now: ended + minuteMs }, { reason: 'paused by a person' })).toBe(true);
  expect(await scenario.campaign()).toMatchObject({ stateReason: 'paused by a person', resumeAt: null });
  expect(await scenario.plan(2, ended + coolDownMs)).toMatchObject({ reason: 'paused', until: null });
  // Repeating a pause without a cool-down keeps the reason that it has.
  expect(await pauseCampaign(scenario.store, { campaignId: 'spring', now: ended + minuteMs }, { reason: 'once more' })).toBe(true);
  expect((await scenario.campaign()).stateReason).toBe('paused by a person');
  expect(await resumeCampaign(scenario.store, { campaignId: 'spring', now: ended + coolDownMs })).toBe(true);
  expect(await scenario.plan(2, ended + coolDownMs)).toMatchObject({ kind: 'batch', size: 4 });
});

async function settle(scenario: Scenario, attemptId: string, disposition: Disposition, now: number): Promise<void> {
  const result: AttemptResult = { disposition, detail: null, counted: true };
  await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId, result }]));
}

const talks = dialects.flatMap((dialect) => (['answered', 'opted_out'] as const).map((disposition) => [dialect, disposition] as const));

test.for(talks)(
  'who was reached by a call before has that outcome when a later one is given back: %s, %s',
  async ([dialect, disposition]) => {
    const scenario = await beginProven(await openCleanStore(dialect), {
      rows: buildRows(numbers(1), (index) => `Guest ${index}`),
    });
    const { store } = scenario;
    await scenario.dial(1);
    await settle(scenario, 'spring/1/1', 'unreached', noon + minuteMs);
    const again = await scenario.lookAgain(noon + hourMs);
    expect(await scenario.plan(2, again)).toMatchObject({ kind: 'batch' });
    expect(await scenario.post(2, again)).toMatchObject({ kind: 'post' });
    expect(await scenario.post(2, again)).toEqual({ kind: 'verdict', state: 'unknown' });
    // The record of the first call comes while nobody knows of the second.
    await settle(scenario, 'spring/1/1', disposition, again + minuteMs);
    expect(await scenario.recipients()).toMatchObject([{ state: 'open', outcome: null }]);
    await scenario.verdict(2, 'not_sent', { now: again + 2 * minuteMs });
    const outcome = disposition === 'answered' ? 'completed' : 'opted_out';
    expect(await scenario.recipients()).toMatchObject([{ state: 'done', outcome, reason: 'reached_by_earlier_attempt' }]);
    await endCampaign(store, { campaignId: 'spring', now: again + 3 * minuteMs }, { why: 'cancelled' });
    expect(await scenario.plan(3, again + 3 * minuteMs)).toEqual({ kind: 'done' });
    expect(await closeRound(store, { campaignId: 'spring', now: again + 3 * minuteMs }, 1)).toBe(true);
    expect(await scenario.recipients()).toMatchObject([{ state: 'done', outcome }]);
    expect(await violations(store)).toEqual([]);
  },
);

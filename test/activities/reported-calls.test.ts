import { expect, test } from 'vitest';
import { storeLookUpProof } from '../../src/ledger/campaign/lookup-proof.ts';
import { addSuppressions } from '../../src/ledger/rows/suppressions.ts';
import type { CallReport } from '../../src/rules/correlation/call-report.ts';
import type { CallService } from '../../src/service/port/call-service.ts';
import { ApiWorld } from '../interfaces/api/api-world.ts';
import { post, secret, secrets } from '../interfaces/api/sent-requests.ts';
import { noon } from '../sandbox/harness.ts';
import { answerJson, startHttpService } from '../service/convai/loopback-servers.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import { isFull } from '../support/depth.ts';
import { until } from '../support/until.ts';
import { beginReported, everyCase, once, reporting, tickMs, timesOf } from './reported-campaign.ts';

test.each(everyCase)('people with the same opening line are called beside each other, and each record is read once: %o', async (world) => {
  const campaign = await beginReported(world);
  await campaign.dial();
  expect(campaign.sandbox.calls()).toHaveLength(6);
  await campaign.run(20 * minuteMs);
  expect(await campaign.rows()).toEqual(campaign.numbers.map(() => ({ state: 'done', outcome: 'completed', counted: 1 })));
  expect(timesOf(campaign.rang())).toEqual(once(6));
  const reads = campaign.sandbox.journal().filter(({ method, path }) => method === 'GET' && /\/conversations\/[^/]+$/.test(path));
  expect(reads).toHaveLength(6);
  expect(await campaign.proof()).toEqual([]);
});

test.each(everyCase)(
  'a pause takes back what waits: it does not ring, counts no attempt, and is called after the resume: %o',
  async (world) => {
    const campaign = await beginReported({ ...world, sandbox: { concurrency: 1 } });
    await campaign.run(tickMs);
    await campaign.pause();
    await campaign.run(15 * minuteMs);
    const paused = campaign.rang();
    // Those on the line, or ringing before the service got the withdrawal.
    expect(timesOf(paused).filter((times) => times === 1).length).toBeLessThanOrEqual(2);
    const waiting = (await campaign.rows()).filter(({ state }) => state === 'waiting');
    expect(waiting).toEqual(
      Array.from({ length: 6 - timesOf(paused).filter((times) => times > 0).length }, () => ({
        state: 'waiting',
        outcome: null,
        counted: 0,
      })),
    );
    await campaign.resume();
    await campaign.run(2 * hourMs, campaign.isDone);
    expect(timesOf(campaign.rang())).toEqual(once(6));
    expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(campaign.numbers.map(() => 'completed'));
    expect(await campaign.proof()).toEqual([]);
    // A withdrawal that nothing requested is a violation.
    expect(await campaign.forged("delete from events where type = 'batch.withdrawing'")).toContain('cause_missing');
  },
);

test.each(everyCase)(
  'an entry on the do-not-call list stops a call that waits at the service; the others are made once: %o',
  async (world) => {
    const campaign = await beginReported({ ...world, sandbox: { concurrency: 1 } });
    await campaign.run(tickMs);
    const last = campaign.numbers.at(-1) ?? '';
    const entry = { e164: last, scope: 'account', source: 'person', reason: null, expiresAt: null };
    await addSuppressions(campaign.store, [entry], campaign.sandbox.clock.now());
    await campaign.run(3 * hourMs, campaign.isDone);
    expect(timesOf(campaign.rang())).toEqual([1, 1, 1, 1, 1, 0]);
    expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual([...once(5).map(() => 'completed'), 'suppressed']);
    expect(await campaign.proof()).toEqual([]);
  },
);

test.each(everyCase)('nothing rings after the end of the calling hours, however long the service queues: %o', async (world) => {
  // Noon UTC is 07:00 in New York; the window is 06:30 to 07:30.
  const day = [{ from: 6 * 60 + 30, to: 7 * 60 + 30 }];
  const hours = { mon: day, tue: day, wed: day, thu: day, fri: day, sat: day, sun: day };
  const campaign = await beginReported({
    ...world,
    people: 12,
    sandbox: { concurrency: 1, meanTalkSeconds: 240 },
    rules: { calendar: { hours, closedOn: [] } },
  });
  await campaign.run(45 * minuteMs);
  const called = campaign.rang().filter(({ times }) => times > 0);
  expect(called.length).toBeGreaterThan(2);
  expect(called.length).toBeLessThan(12);
  for (const { last } of called) expect(last).toBeLessThan(noon + 30 * minuteMs);
  expect((await campaign.rows()).filter(({ state }) => state === 'waiting')).toHaveLength(12 - called.length);
  expect(await campaign.proof()).toEqual([]);
});

const lost = { type: 'reset', when: 'before' } as const;

test.each(everyCase)('a request that never arrived: %o', async (world) => {
  const campaign = await beginReported(world);
  campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: lost });
  await campaign.run(40 * minuteMs);
  if (world.api === 'campaigns') {
    expect(timesOf(campaign.rang())).toEqual(once(6));
    expect((await campaign.rows()).map(({ outcome, counted }) => [outcome, counted])).toEqual(campaign.numbers.map(() => ['completed', 1]));
  } else {
    // Not listed, and nothing has proven what absence means: the operator decides.
    expect(timesOf(campaign.rang())).toEqual(campaign.numbers.map(() => 0));
    expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(campaign.numbers.map(() => 'unresolved'));
    const [batch] = await campaign.store.db.selectFrom('batches').select(['state', 'reason']).execute();
    expect(batch).toEqual({ state: 'held', reason: 'not_listed' });
  }
  expect(await campaign.proof()).toEqual([]);
});

test('a request that never arrived is released by itself where the look-up was proven, and not before it could have arrived', async () => {
  const campaign = await beginReported({ api: 'batch-calling' });
  const proof = { api: 'batch-calling', provenAt: noon, listLagMs: 2_000, order: 'newest_first', keyBehaviour: null } as const;
  await storeLookUpProof(campaign.store, campaign.account.accountId, proof);
  campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: lost });
  // No retry before its late delivery is over.
  await campaign.run(15 * minuteMs);
  expect(timesOf(campaign.rang())).toEqual(campaign.numbers.map(() => 0));
  await campaign.run(30 * minuteMs);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(campaign.numbers.map(() => 'completed'));
  expect(await campaign.proof()).toEqual([]);
});

test.each(everyCase)('a request that arrived, and whose answer was lost, is confirmed within seconds: %o', async (world) => {
  const campaign = await beginReported(world);
  campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: { type: 'reset', when: 'after' } });
  await campaign.run(2 * tickMs);
  const batches = await campaign.store.db.selectFrom('batches').select(['state', 'accepted_by']).execute();
  expect(batches).toEqual([{ state: 'confirmed', accepted_by: 'look_up' }]);
  // The contract's API has no look-up of requests.
  const asContract = `update events set data = replace(data, '"api":"${world.api}"', '"api":"contract"')`;
  expect(await campaign.forged(asContract)).toContain('cause_missing');
  await campaign.run(20 * minuteMs);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(campaign.numbers.map(() => 'completed'));
  expect(await campaign.proof()).toEqual([]);
});

test('a request that the service carried out twice pauses the campaign; what waits of either is taken back, and a person decides', async () => {
  let repeat: (() => Promise<unknown>) | null = null;
  const between = (service: CallService): CallService => ({
    ...service,
    // A gateway sends it twice and answers neither.
    async place(request, sent) {
      if (repeat !== null) return service.place(request, sent);
      repeat = () => service.place(request, sent);
      await service.place(request, sent);
      await repeat();
      return { kind: 'unknown', status: 504, requestId: null, serviceMs: null, fault: 'gateway' };
    },
  });
  const campaign = await beginReported({ api: 'batch-calling', between, sandbox: { concurrency: 1 } });
  await campaign.run(30 * minuteMs);
  expect(campaign.rang().filter(({ times }) => times > 0).length).toBeLessThanOrEqual(2);
  const { state, state_reason: reason } = await campaign.store.db
    .selectFrom('campaigns')
    .select(['state', 'state_reason'])
    .executeTakeFirstOrThrow();
  expect([state, reason]).toEqual(['paused', expect.stringMatching(/batch 1 more than once/)]);
  // The record shows who was on the line.
  const ends = campaign.rang().map(({ times }) => (times > 0 ? 'completed' : 'unresolved'));
  expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(ends);
  expect(await campaign.proof()).toEqual([]);
});

test.each([
  // Two entries have each other's conversation.
  [
    'conversations that their records contradict',
    (reports: readonly CallReport[]) =>
      reports.map((report, index) => (index < 2 ? { ...report, conversationId: reports[1 - index]?.conversationId ?? null } : report)),
  ],
  [
    'numbers of others',
    (reports: readonly CallReport[]) =>
      reports.map((report, index) => (index < 2 ? { ...report, to: reports[1 - index]?.to ?? null } : report)),
  ],
  [
    'names that are none of ours',
    (reports: readonly CallReport[]) => reports.map((report, index) => (index < 2 ? { ...report, ref: `other-${index}` } : report)),
  ],
  ['two recipients left out', (reports: readonly CallReport[]) => reports.slice(2)],
] as const)('a report with %s settles nothing by it, and calls nobody twice', async (_what, change) => {
  // prettier-ignore
  const campaign = await beginReported({ api: 'batch-calling', between: reporting(change) });
  await campaign.run(4 * hourMs, campaign.isDone);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  const outcomes = (await campaign.rows()).map(({ outcome }) => outcome);
  expect(outcomes.slice(2)).toEqual(once(4).map(() => 'completed'));
  // Their records name them, whatever the report says; otherwise they are unresolved.
  for (const outcome of outcomes.slice(0, 2)) expect(['completed', 'unresolved']).toContain(outcome);
  const owned = await campaign.store.db
    .selectFrom('attempts')
    .innerJoin('conversations', 'conversations.conversation_id', 'attempts.conversation_id')
    .select(['attempts.e164', 'attempts.conversation_id'])
    .execute();
  const callees = new Map(campaign.sandbox.calls().map(({ conversationId, to }) => [conversationId, to]));
  for (const { e164, conversation_id: id } of owned) expect(callees.get(id)).toBe(e164);
  expect(await campaign.proof()).toEqual([]);
});

test('a call that was reported to ring before it was taken back counts, and is retried by the rules', async () => {
  const rings = (reports: readonly CallReport[]) =>
    reports.map((report) => (report.state === 'waiting' ? { ...report, state: 'dialling' as const } : report));
  let isPaused = false;
  const between = reporting((reports) => (isPaused ? [...reports] : rings(reports)));
  const campaign = await beginReported({ api: 'batch-calling', between, sandbox: { concurrency: 1 } });
  await campaign.run(tickMs);
  isPaused = true;
  await campaign.pause();
  await campaign.run(15 * minuteMs);
  const counted = (await campaign.rows()).map((row) => row.counted);
  expect(counted).toEqual(once(6));
  expect(await campaign.proof()).toEqual([]);
});

test('a batch that is deleted at the service: records tell of its calls, and who has none is called no second time by itself', async () => {
  const campaign = await beginReported({ api: 'batch-calling', sandbox: { concurrency: 1 } });
  await campaign.run(tickMs);
  const { service_batch_id: id } = await campaign.store.db.selectFrom('batches').select('service_batch_id').executeTakeFirstOrThrow();
  const { status } = await campaign.sandbox.request('DELETE', `/v1/convai/batch-calling/${id}`);
  expect(status).toBe(200);
  await campaign.run(4 * hourMs, campaign.isDone);
  for (const { times } of campaign.rang()) expect(times).toBeLessThanOrEqual(1);
  const rows = (await campaign.rows()).map(({ outcome }) => outcome);
  expect(rows).toEqual(campaign.rang().map(({ times }) => (times === 1 ? 'completed' : 'unresolved')));
  expect(await campaign.proof()).toEqual([]);
});

/** Full depth adds cases that the others imply. */
const cancelled = [
  { cancelMarks: 'all' },
  { cancelEnds: 'talking' },
  { reportLagMs: 40_000 },
  ...(isFull ? ([{ cancelEnds: 'ringing' }, { unanswered: 'completed' }] as const) : []),
] as const;

test.each(cancelled)('whatever a cancelled batch does to calls under way, nobody who talked is called again: %o', async (batchCalling) => {
  const mix = { answered: 3, busy: 1, no_answer: 1, voicemail: 1, failed: 0 };
  const campaign = await beginReported({ api: 'batch-calling', people: 14, sandbox: { concurrency: 5, outcomeMix: mix, batchCalling } });
  await campaign.run(minuteMs);
  await campaign.pause();
  await campaign.run(10 * minuteMs);
  await campaign.resume();
  await campaign.run(8 * hourMs, campaign.isDone);
  const calls = campaign.sandbox.calls();
  for (const number of campaign.numbers) {
    const results = calls.filter(({ to, dialedAt }) => to === number && dialedAt !== null).map(({ result }) => result);
    expect(results.slice(0, -1)).not.toContain('answered');
  }
  expect(await campaign.proof()).toEqual([]);
});

test.each(everyCase)('a record that the service has sent by itself is read by nobody: %o', async (world) => {
  const campaign = await beginReported(world);
  const { sandbox, store } = campaign;
  const settings = { SVC_BASE_URL: sandbox.url, SVC_API: world.api, SVC_WEBHOOK_SECRET: secrets };
  const receiving = await ApiWorld.over(store, { settings });
  const taken: unknown[] = [];
  const receiver = await startHttpService((response, { body, headers }) => {
    receiving.at = sandbox.clock.now();
    void post(receiving, { body, signature: String(headers['svc-signature'] ?? headers['elevenlabs-signature']) }).then((answer) => {
      taken.push(answer.body['taken']);
      answerJson(response, answer.status, {});
    });
  });
  const hook = { url: receiver.baseUrl, secret, events: ['post_call_transcription'] };
  const { webhook_id: id } = (await sandbox.request('POST', '/_sandbox/webhooks', hook)).body;
  await campaign.dial();
  for (let tick = 0; tick < 40; tick += 1) {
    sandbox.clock.advance(tickMs);
    await until('the service has told all so far', async () => {
      const { deliveries } = (await sandbox.get(`/_sandbox/webhooks/${id}/deliveries`)).body;
      return (deliveries as { state: string }[]).every(({ state }) => state === 'delivered');
    });
    await campaign.sweep();
  }
  expect(taken).toEqual(campaign.numbers.map(() => 'stored'));
  expect(await campaign.rows()).toEqual(campaign.numbers.map(() => ({ state: 'done', outcome: 'completed', counted: 1 })));
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect(sandbox.journal().filter(({ operation }) => operation === 'get_conversation')).toEqual([]);
  expect(await campaign.proof()).toEqual([]);
});

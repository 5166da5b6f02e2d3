import { expect, test } from 'vitest';
import { storeLookUpProof } from '../../src/ledger/campaign/lookup-proof.ts';
import type { CallReport } from '../../src/rules/correlation/call-report.ts';
import type { CallService } from '../../src/service/port/call-service.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import { beginReported, everyCase, once, reporting, tickMs, timesOf } from './reported-campaign.ts';

type Campaign = Awaited<ReturnType<typeof beginReported>>;

async function attemptsOf({ store }: Campaign) {
  const columns = ['e164', 'state', 'disposition', 'detail', 'conversation_id'] as const;
  return store.db.selectFrom('attempts').select(columns).orderBy('attempt_id').execute();
}

const stateOf = async ({ store }: Campaign) =>
  store.db.selectFrom('campaigns').select(['state', 'state_reason as reason']).executeTakeFirstOrThrow();

async function pause(campaign: Campaign): Promise<void> {
  await campaign.pause();
}

async function resume(campaign: Campaign): Promise<void> {
  await campaign.resume();
}

async function batchId({ store }: Campaign): Promise<string> {
  const { service_batch_id: id } = await store.db.selectFrom('batches').select('service_batch_id').executeTakeFirstOrThrow();
  return id ?? '';
}

/** Records carry no identity: only the report shows whose they are. */
const bare = { world: { records: { number_shown: 0, batch_shown: 0, reference_shown: 0 } } } as const;

test.each([
  ['have the names of each other', (one: CallReport, other: CallReport) => ({ ...one, ref: other.ref })],
  [
    'have names that are none of ours and numbers of each other',
    (one: CallReport, other: CallReport) => ({ ...one, ref: `not-${one.ref}`, to: other.to }),
  ],
])('of two entries that %s nothing is taken for the other, though no record tells', async (_what, change) => {
  const swap = ([first, second, ...rest]: readonly CallReport[]): CallReport[] =>
    first === undefined || second === undefined ? [] : [change(first, second), change(second, first), ...rest];
  const campaign = await beginReported({ api: 'batch-calling', between: reporting(swap), sandbox: bare });
  await campaign.run(4 * hourMs);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  const callees = new Map(campaign.sandbox.calls().map(({ conversationId, to }) => [conversationId, to]));
  const owned = (await attemptsOf(campaign)).filter(({ conversation_id: id }) => id !== null);
  expect(owned.length).toBeGreaterThanOrEqual(4);
  for (const { e164, conversation_id: id } of owned) expect(callees.get(id)).toBe(e164);
  expect(await campaign.proof()).toEqual([]);
});

test('a batch that somebody else has the service call again pauses its campaign, once, and what waits is taken back', async () => {
  const mix = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 1 };
  const campaign = await beginReported({ api: 'batch-calling', people: 12, sandbox: { concurrency: 1, outcomeMix: mix } });
  await campaign.run(20 * minuteMs, async () => campaign.sandbox.calls().some(({ result }) => result === 'failed'));
  const { status } = await campaign.sandbox.request('POST', `/v1/convai/batch-calling/${await batchId(campaign)}/retry`);
  expect(status).toBe(200);
  const asked = campaign.sandbox.clock.now();
  await campaign.run(10 * minuteMs);
  expect(await stateOf(campaign)).toEqual({ state: 'paused', reason: expect.stringMatching(/call people of batch 1 again/) as string });
  // Those that rang before the service got the withdrawal.
  expect(campaign.rang().filter(({ last }) => last > asked + minuteMs)).toEqual([]);
  await resume(campaign);
  await campaign.run(minuteMs);
  expect(await stateOf(campaign)).toMatchObject({ state: 'running' });
  await campaign.run(8 * hourMs, campaign.isDone);
  const answered = campaign.sandbox.calls().filter(({ result }) => result === 'answered');
  expect(new Set(answered.map(({ to }) => to)).size).toBe(answered.length);
  expect(await campaign.proof()).toEqual([]);
});

test.each(everyCase)('what nobody here asked back, and the service says it took back, counts as a call: %o', async (world) => {
  const campaign = await beginReported({ ...world, sandbox: { concurrency: 1 } });
  await campaign.run(tickMs);
  await campaign.service.withdraw?.(await batchId(campaign), 'all');
  await campaign.run(5 * minuteMs);
  const attempts = await attemptsOf(campaign);
  expect(attempts.length).toBe(6);
  expect(attempts.slice(1).map(({ state, detail }) => [state, detail])).toEqual(once(5).map(() => ['settled', 'withdrawn_at_service']));
  expect(await campaign.proof()).toEqual([]);
});

test.each(everyCase)('a withdrawal whose answer is lost was asked for all the same: %o', async (world) => {
  const campaign = await beginReported({
    ...world,
    sandbox: { concurrency: 1 },
    between: (service) => ({
      ...service,
      async withdraw(id, refs) {
        await service.withdraw?.(id, refs);
        throw new Error('nobody heard the answer');
      },
    }),
  });
  await campaign.run(tickMs);
  await pause(campaign);
  await campaign.run(10 * minuteMs);
  const before = timesOf(campaign.rang());
  expect(before.filter((times) => times === 0).length).toBeGreaterThan(2);
  expect((await campaign.rows()).map(({ counted }) => counted)).toEqual(before);
  await resume(campaign);
  await campaign.run(3 * hourMs, campaign.isDone);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect((await campaign.rows()).map(({ counted }) => counted)).toEqual(once(6));
  expect(await campaign.proof()).toEqual([]);
});

test('a fence that is told to wait is not sent again before, nor is anything else', async () => {
  const campaign = await beginReported({ api: 'campaigns', rules: { pacing: { batchSize: 3 } } });
  const seconds = 600;
  campaign.sandbox.addFaults([
    { operation: 'batch_calls', nth: 1, effect: { type: 'reset', when: 'before' } },
    { operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', seconds } },
  ]);
  await campaign.run(40 * minuteMs);
  const sent = campaign.sandbox.journal().filter(({ operation }) => operation === 'batch_calls');
  const refused = sent.findIndex(({ status }) => status === 429);
  expect(refused).toBe(1);
  const [fence, next] = sent.slice(refused);
  expect((next?.at ?? 0) - (fence?.at ?? 0)).toBeGreaterThanOrEqual(seconds * 1_000);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect(await campaign.proof()).toEqual([]);
});

test('a look-up that is told to wait is not sent again before', async () => {
  const looked: number[] = [];
  let now = () => 0;
  const campaign = await beginReported({
    api: 'batch-calling',
    between: (service) => ({
      ...service,
      find: async (post) => {
        looked.push(now());
        return looked.length === 1
          ? { kind: 'not_readable', retryAfterMs: 10 * minuteMs }
          : ((await service.find?.(post)) ?? { kind: 'not_readable' });
      },
    }),
  });
  now = () => campaign.sandbox.clock.now();
  campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: { type: 'reset', when: 'before' } });
  await campaign.run(40 * minuteMs);
  const waited = (looked[1] ?? 0) - (looked[0] ?? Infinity);
  expect(waited).toBeGreaterThanOrEqual(10 * minuteMs);
  // Unsent requests do not count as tries.
  expect(waited).toBeLessThan(10.5 * minuteMs);
  expect(await campaign.proof()).toEqual([]);
});

test.each(everyCase)('a batch of as many calls as the service has lines has all of them at once: %o', async (world) => {
  const campaign = await beginReported({ ...world, sandbox: { concurrency: 6 } });
  await campaign.dial();
  campaign.sandbox.clock.advance(2 * tickMs);
  const now = campaign.sandbox.clock.now();
  const calls = campaign.sandbox.calls();
  expect(calls.filter(({ dialedAt, endedAt }) => dialedAt !== null && dialedAt <= now && (endedAt ?? now + 1) > now)).toHaveLength(6);
});

async function prove({ store, account, sandbox }: Campaign, listLagMs: number): Promise<void> {
  const seen = { provenAt: sandbox.clock.now(), listLagMs, order: 'newest_first', keyBehaviour: null } as const;
  await storeLookUpProof(store, account.accountId, { api: 'batch-calling', ...seen });
}

test('a request is looked for as long as lists lag, before its people are called again', async () => {
  const lagMs = 90 * minuteMs;
  const campaign = await beginReported({
    api: 'batch-calling',
    // No phone rings before the request is given up, so no record appears.
    sandbox: { batchCalling: { listLagMs: lagMs }, world: { late_rings: { share: 1, from_seconds: 5_400, to_seconds: 5_500 } } },
  });
  await prove(campaign, lagMs);
  campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: { type: 'reset', when: 'after' } });
  await campaign.run(3 * hourMs, campaign.isDone);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(once(6).map(() => 'completed'));
  expect(await campaign.proof()).toEqual([]);
});

test('what a 429 refused is not sent again before a list would show that it was carried out', async () => {
  const lagMs = 5 * minuteMs;
  // No phone rings before the request would be sent again, so no record appears.
  const world = { ...bare.world, late_rings: { share: 1, from_seconds: 240, to_seconds: 280 } };
  const campaign = await beginReported({ api: 'batch-calling', sandbox: { world, batchCalling: { listLagMs: lagMs } } });
  await prove(campaign, lagMs);
  campaign.sandbox.addFaults({ operation: 'batch_calls', nth: 1, effect: { type: 'rate_limited', when: 'after', seconds: 2 } });
  await campaign.run(hourMs);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(once(6).map(() => 'completed'));
});

const unlisted = (service: CallService): CallService => ({ ...service, find: async () => ({ kind: 'absent', certain: false }) });

test('of a request that no list of batches shows nothing is concluded while the list of conversations cannot be read', async () => {
  const campaign = await beginReported({ api: 'batch-calling', between: unlisted, sandbox: bare });
  await prove(campaign, 0);
  campaign.sandbox.addFaults([
    { operation: 'batch_calls', times: 1, effect: { type: 'reset', when: 'after' } },
    { operation: 'list_conversations', period: { from: 0, until: 3_600 }, effect: { type: 'error', status: 503 } },
  ]);
  await campaign.run(3 * hourMs, campaign.isDone);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect(await campaign.proof()).toEqual([]);
});

test('of a request that no list of batches shows, the list of conversations is asked, and what fits its calls keeps them', async () => {
  const rules = { timing: { lateLookbackMs: 24 * hourMs } };
  const campaign = await beginReported({ api: 'batch-calling', between: unlisted, sandbox: bare, rules });
  await prove(campaign, 0);
  campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: { type: 'reset', when: 'after' } });
  await campaign.run(2 * hourMs, campaign.isDone);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect(await campaign.proof()).toEqual([]);
});

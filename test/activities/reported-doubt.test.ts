import { expect, test } from 'vitest';
import { storeLookUpProof } from '../../src/ledger/campaign/lookup-proof.ts';
import { resumeCampaign } from '../../src/ledger/rows/campaigns.ts';
import { defaultRetryDelays } from '../../src/rules/attempts/retry-schedule.ts';
import type { CallService } from '../../src/service/port/call-service.ts';
import { noon } from '../sandbox/harness.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import { beginReported, everyCase, once, reporting, timesOf } from './reported-campaign.ts';

type Campaign = Awaited<ReturnType<typeof beginReported>>;

const lost = { type: 'reset', when: 'before' } as const;
const keyed = everyCase.filter(({ api }) => api === 'campaigns');

const numbersOnly = { world: { records: { number_shown: 1, batch_shown: 0, reference_shown: 0 } } } as const;

/** The agent calls a number of this list for another program. */
async function callByAnother({ sandbox }: Campaign, to: string): Promise<void> {
  const { status } = await sandbox.request('POST', '/_sandbox/outbound', { phone_number_id: 'pn_main', to, result: 'answered' });
  expect(status).toBe(200);
}

function ownCalls({ sandbox, numbers }: Campaign): number[] {
  const calls = sandbox.calls().filter(({ batchId, dialedAt }) => batchId !== null && dialedAt !== null);
  return numbers.map((number) => calls.filter(({ to }) => to === number).length);
}

async function outcomesOf(campaign: Campaign): Promise<(string | null)[]> {
  return (await campaign.rows()).map(({ outcome }) => outcome);
}

const unreadableFor = (ms: number, now: () => number) => (service: CallService) => ({
  ...service,
  find: async (post: Parameters<NonNullable<CallService['find']>>[0]) =>
    now() < noon + ms ? ({ kind: 'not_readable' } as const) : ((await service.find?.(post)) ?? ({ kind: 'not_readable' } as const)),
});

test.each(keyed)("another's call to somebody of a denied request keeps nobody in doubt once the key denies it, too: %o", async (world) => {
  const campaign = await beginReported({ ...world, sandbox: numbersOnly });
  const effect = { type: 'rate_limited', retryAfter: 'seconds', seconds: 1_200 } as const;
  campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect });
  await campaign.dial();
  await callByAnother(campaign, campaign.numbers[0] ?? '');
  await campaign.run(3 * hourMs, campaign.isDone);
  expect(await outcomesOf(campaign)).toEqual(campaign.numbers.map(() => 'completed'));
  expect(ownCalls(campaign)).toEqual(once(6));
  expect(await campaign.proof()).toEqual([]);
});

test.each(keyed)("another's call is not taken for one of a lost request before the key has told of it: %o", async (world) => {
  let now = () => noon;
  const campaign = await beginReported({ ...world, sandbox: numbersOnly, between: unreadableFor(45 * minuteMs, () => now()) });
  now = () => campaign.sandbox.clock.now();
  campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: lost });
  await campaign.dial();
  await callByAnother(campaign, campaign.numbers[0] ?? '');
  await campaign.run(2 * hourMs, campaign.isDone);
  expect(await outcomesOf(campaign)).toEqual(campaign.numbers.map(() => 'completed'));
  expect(ownCalls(campaign)).toEqual(once(6));
  expect(await campaign.proof()).toEqual([]);
});

test.each(keyed)(
  'calls that were given back, of a request that the key then shows, are made by nobody a second time: %o',
  async (world) => {
    let now = () => noon;
    const unnamed = {
      world: {
        records: { number_shown: 0, batch_shown: 0, reference_shown: 0, listed_late: { share: 1, from_seconds: 2_400, to_seconds: 3_000 } },
      },
    };
    const campaign = await beginReported({ ...world, sandbox: unnamed, between: unreadableFor(16 * minuteMs, () => now()) });
    now = () => campaign.sandbox.clock.now();
    const effect = { type: 'rate_limited', retryAfter: 'seconds', seconds: 1_000, when: 'after' } as const;
    campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect });
    await campaign.run(4 * hourMs);
    expect(timesOf(campaign.rang())).toEqual(once(6));
    expect(await campaign.proof()).toEqual([]);
  },
);

const proof = { api: 'batch-calling', provenAt: noon, listLagMs: 2_000, order: 'newest_first', keyBehaviour: null } as const;

test.each([
  ['nobody knows whether records show our references: its people are left to a person', numbersOnly, 'unresolved'],
  ['each record has shown our reference: they are called', {}, 'completed'],
] as const)("another's call to somebody of a request that no list shows, where %s", async (_what, sandbox, expected) => {
  const campaign = await beginReported({ api: 'batch-calling', people: 25, sandbox });
  await storeLookUpProof(campaign.store, campaign.account.accountId, proof);
  // The first batch of 20 shows how records are kept.
  await campaign.run(10 * minuteMs, async () => {
    campaign.sandbox.addFaults({ id: 'lost', operation: 'batch_calls', times: 1, effect: lost });
    return true;
  });
  await campaign.dial();
  const late = campaign.numbers.slice(20);
  await callByAnother(campaign, late[0] ?? '');
  await campaign.run(3 * hourMs, campaign.isDone);
  const outcomes = await outcomesOf(campaign);
  expect(outcomes.slice(0, 20)).toEqual(once(20).map(() => 'completed'));
  // Any of these numbers may have had the recorded talk.
  expect(outcomes.slice(21)).toEqual(late.slice(1).map(() => expected));
  expect(ownCalls(campaign)).toEqual([...once(20), ...late.map(() => (expected === 'completed' ? 1 : 0))]);
  expect(await campaign.proof()).toEqual([]);
});

test.each(everyCase)(
  'of a report that leaves somebody out, what it alone says of others is no proof that they were not reached: %o',
  async (world) => {
    const between = reporting((reports) => {
      const [first, second, ...rest] = reports.toSorted((one, other) => ((one.ref ?? '') < (other.ref ?? '') ? -1 : 1));
      return first === undefined || second === undefined ? [] : [{ ...first, conversationId: second.conversationId }, ...rest];
    });
    const records = { number_shown: 0, batch_shown: 0, reference_shown: 0 };
    const campaign = await beginReported({ ...world, between, sandbox: { world: { records } } });
    const to = campaign.numbers[1] ?? '';
    await campaign.sandbox.request('POST', '/_sandbox/numbers/next-course', { to, result: 'no_answer' });
    await campaign.run(6 * hourMs, campaign.isDone);
    expect(timesOf(campaign.rang())).toEqual(once(6));
    expect(await outcomesOf(campaign)).toEqual(['unresolved', 'unresolved', ...once(4).map(() => 'completed')]);
    expect(await campaign.proof()).toEqual([]);
  },
);

test.each(everyCase)(
  'a report that takes two people for each other is not believed against the words of their records: %o',
  async (world) => {
    const between = reporting((reports) => {
      const [first, second, ...rest] = reports.toSorted((one, other) => ((one.ref ?? '') < (other.ref ?? '') ? -1 : 1));
      if (first === undefined || second === undefined) return [...reports];
      return [{ ...first, conversationId: second.conversationId }, { ...second, conversationId: first.conversationId }, ...rest];
    });
    const records = { number_shown: 0, batch_shown: 0, reference_shown: 0 };
    const retry = { delays: { ...defaultRetryDelays, voicemail: [10 * minuteMs] } };
    const firstMessage = 'Hello {{ name }}, this is about your appointment.';
    const names = ['Ana Lopez', 'Ben Cole', 'Cy Young', 'Dora Lind', 'Emil Roth', 'Fay Moss'];
    const campaign = await beginReported({ ...world, between, names, rules: { retry, firstMessage }, sandbox: { world: { records } } });
    const to = campaign.numbers[1] ?? '';
    await campaign.sandbox.request('POST', '/_sandbox/numbers/next-course', { to, result: 'voicemail' });
    await campaign.run(8 * hourMs, campaign.isDone);
    expect(timesOf(campaign.rang())).toEqual(once(6));
    expect(await outcomesOf(campaign)).toEqual(['unresolved', 'unresolved', ...once(4).map(() => 'completed')]);
    expect(await campaign.proof()).toEqual([]);
  },
);

test.each(everyCase)('a record that a report names is its call’s though the clock was set back after the request: %o', async (world) => {
  const campaign = await beginReported(world);
  await campaign.dial();
  await campaign.sandbox.request('POST', '/_sandbox/clock/step', { ms: -18 * minuteMs });
  await campaign.run(2 * hourMs, campaign.isDone);
  expect(await outcomesOf(campaign)).toEqual(campaign.numbers.map(() => 'completed'));
  expect(timesOf(campaign.rang())).toEqual(once(6));
});

test('a batch that the service silently makes twice is noticed by the records; nobody of it is called again by itself', async () => {
  let first = true;
  const between = (service: CallService): CallService => ({
    ...service,
    async place(request, sent) {
      const placed = await service.place(request, sent);
      if (first) await service.place(request, sent);
      first = false;
      return placed;
    },
  });
  // The list is read every half hour; no retry comes before that.
  const retry = { delays: { ...defaultRetryDelays, no_answer: [2 * hourMs] } };
  const campaign = await beginReported({ api: 'batch-calling', between, sandbox: { concurrency: 6 }, rules: { retry } });
  const { sandbox, numbers, store } = campaign;
  for (const to of numbers) {
    await sandbox.request('POST', '/_sandbox/numbers/next-course', { to, result: 'no_answer' });
    await sandbox.request('POST', '/_sandbox/numbers/next-course', { to, result: 'answered' });
  }
  const stateOf = async () => store.db.selectFrom('campaigns').select(['state', 'state_reason']).executeTakeFirstOrThrow();
  await campaign.run(2 * hourMs, async () => (await stateOf()).state === 'paused');
  expect(await stateOf()).toEqual({ state: 'paused', state_reason: expect.stringMatching(/batch 1 more than once/) });
  const before = timesOf(campaign.rang());
  await resumeCampaign(store, { campaignId: 'spring', now: sandbox.clock.now() });
  await campaign.run(12 * hourMs, campaign.isDone);
  expect(timesOf(campaign.rang())).toEqual(before);
  expect(await outcomesOf(campaign)).toEqual(numbers.map(() => 'unresolved'));
  const details = await store.db.selectFrom('attempts').select('detail').distinct().execute();
  expect(details).toEqual([{ detail: 'carried_out_twice' }]);
  expect(await campaign.proof()).toEqual([]);
});

test.each([429, 422, 500, 408])(
  'a request that is answered with %i and carried out twice: nobody of it is called again by itself, also after the campaign is resumed',
  async (status) => {
    let first = true;
    const answer = { status, requestId: null, serviceMs: null, fault: 'lost' };
    const between = (service: CallService): CallService => ({
      ...service,
      async place(request, sent) {
        const placed = await service.place(request, sent);
        if (!first) return placed;
        first = false;
        await service.place(request, sent);
        if (status === 429) return { kind: 'not_sent', retryAfterMs: 2_000, ...answer };
        return status === 422 ? { kind: 'refused', wholeRequest: false, message: null, ...answer } : { kind: 'unknown', ...answer };
      },
    });
    const campaign = await beginReported({ api: 'batch-calling', between, sandbox: { concurrency: 12 } });
    const { sandbox, numbers, store } = campaign;
    for (const result of ['no_answer', 'answered'])
      for (const to of numbers) await sandbox.request('POST', '/_sandbox/numbers/next-course', { to, result });
    const stateOf = async () => (await store.db.selectFrom('campaigns').select('state').executeTakeFirstOrThrow()).state;
    await campaign.run(hourMs, async () => (await stateOf()) === 'paused');
    expect(await stateOf()).toBe('paused');
    await campaign.run(10 * minuteMs);
    await resumeCampaign(store, { campaignId: 'spring', now: sandbox.clock.now() });
    await campaign.run(6 * hourMs, campaign.isDone);
    for (const { times } of campaign.rang()) expect(times).toBeLessThanOrEqual(2);
    expect(await campaign.proof()).toEqual([]);
  },
);

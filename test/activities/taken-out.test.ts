import { expect, test } from 'vitest';
import { storeLookUpProof } from '../../src/ledger/campaign/lookup-proof.ts';
import type { CallService } from '../../src/service/port/call-service.ts';
import { noon, plainNumbers } from '../sandbox/harness.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import { apis, beginReported, everyCase, once, tickMs, timesOf } from './reported-campaign.ts';

const reasonsOf = async ({ store }: Awaited<ReturnType<typeof beginReported>>) =>
  (await store.db.selectFrom('recipients').select(['outcome', 'reason']).orderBy('row_number').execute()).map(({ outcome, reason }) =>
    outcome === 'cancelled' ? reason : outcome,
  );

test.each(everyCase)(
  'a row that a person withdraws while its call waits does not ring, and the others are called once: %o',
  async (world) => {
    const campaign = await beginReported({ ...world, sandbox: { concurrency: 1 } });
    await campaign.run(tickMs);
    expect(await campaign.withdraw(6)).toEqual(['withdrawing']);
    expect(await campaign.withdraw(6)).toEqual(['withdrawing']);
    await campaign.run(3 * hourMs, async () => (await campaign.rows()).every(({ state }) => state === 'done'));
    expect(timesOf(campaign.rang())).toEqual([1, 1, 1, 1, 1, 0]);
    expect(await reasonsOf(campaign)).toEqual([...once(5).map(() => 'completed'), 'withdrawn']);
    expect(await campaign.withdraw(6)).toEqual(['already_ended']);
    expect(await campaign.proof()).toEqual([]);
    // The log shows who requested it, the request to the service, and that its API can withdraw calls.
    expect(await campaign.forged("delete from events where type = 'batch.withdrawing'")).toContain('cause_missing');
    expect(await campaign.forged("delete from events where type = 'recipient.withdrawn'")).toContain('outcome_unproven');
    const asContract = `update events set data = replace(data, '"api":"${world.api}"', '"api":"contract"')`;
    expect(await campaign.forged(asContract)).toContain('open_changed');
  },
);

test.each(
  apis.flatMap((api) => [
    { api, result: 'busy', ends: 'withdrawn' },
    { api, result: 'answered', ends: 'completed' },
  ]),
)('a row that is withdrawn while its call rings ends with that call, which counts: %o', async ({ api, result, ends }) => {
  const outcomeMix = { answered: 0, busy: 0, no_answer: 0, voicemail: 0, failed: 0, [result]: 1 };
  const campaign = await beginReported({ api, sandbox: { concurrency: 1, outcomeMix }, rules: { retry: { maxAttempts: 2 } } });
  await campaign.run(tickMs);
  expect(await campaign.withdraw(1)).toEqual(['withdrawing']);
  await campaign.run(24 * hourMs, async () => (await campaign.rows()).every(({ state }) => state === 'done'));
  const times = result === 'busy' ? 2 : 1;
  expect(timesOf(campaign.rang())).toEqual([1, ...once(5).map(() => times)]);
  expect((await reasonsOf(campaign))[0]).toBe(ends);
  expect((await campaign.rows())[0]).toMatchObject({ counted: 1 });
  expect(await campaign.proof()).toEqual([]);
});

/** Events between an operator's request and the end of the call: each happens once. */
const mishaps = {
  'the report is not read': (service: CallService, strikes: () => boolean) => ({
    ...service,
    report: async (id: string) => (strikes() ? Promise.reject(new Error('died')) : ((await service.report?.(id)) ?? [])),
  }),
  'the service is not asked': (service: CallService, strikes: () => boolean) => ({
    ...service,
    withdraw: async (id: string, refs: readonly string[] | 'all') =>
      strikes() ? Promise.reject(new Error('died')) : service.withdraw?.(id, refs),
  }),
  'its answer is lost': (service: CallService, strikes: () => boolean) => ({
    ...service,
    async withdraw(id: string, refs: readonly string[] | 'all') {
      await service.withdraw?.(id, refs);
      if (strikes()) throw new Error('died');
    },
  }),
};
const everyMishap = apis.flatMap((api) => Object.entries(mishaps).map(([what, mishap]) => ({ api, what, mishap })));

test.each(everyMishap)('a withdrawn row does not ring though $what, with $api', async ({ api, mishap }) => {
  let left = 0;
  const between = (service: CallService) => mishap(service, () => left-- > 0);
  const campaign = await beginReported({ api, between, sandbox: { concurrency: 1 } });
  await campaign.run(tickMs);
  await campaign.withdraw(6);
  left = 1;
  await campaign.run(3 * hourMs, async () => (await campaign.rows()).every(({ state }) => state === 'done'));
  expect(left).toBeLessThan(1);
  expect(timesOf(campaign.rang())).toEqual([1, 1, 1, 1, 1, 0]);
  expect(await reasonsOf(campaign)).toEqual([...once(5).map(() => 'completed'), 'withdrawn']);
  expect(await campaign.proof()).toEqual([]);
});

test.each(apis)('a call that begins to ring while it is asked back counts, and its row ends with it: %s', async (api) => {
  let ring: (() => Promise<void>) | null = null;
  const between = (service: CallService): CallService => ({
    ...service,
    async withdraw(id, refs) {
      await ring?.();
      ring = null;
      await service.withdraw?.(id, refs);
    },
  });
  const campaign = await beginReported({ api, between, sandbox: { concurrency: 1 } });
  const { sandbox } = campaign;
  const callOf = (row: number) => sandbox.calls().find(({ to }) => to === campaign.numbers[row - 1]);
  await campaign.run(2 * minuteMs, async () => callOf(1)?.state === 'in_progress');
  expect(await campaign.withdraw(2)).toEqual(['withdrawing']);
  ring = async () => {
    await sandbox.request('POST', `/_sandbox/calls/${callOf(1)?.callId}/course`, { hang_up: 'now' });
    expect(callOf(2)?.dialedAt).not.toBeNull();
  };
  await campaign.run(3 * hourMs, async () => (await campaign.rows()).every(({ state }) => state === 'done'));
  expect(ring).toBeNull();
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect((await reasonsOf(campaign))[1]).toBe('completed');
  expect(await campaign.proof()).toEqual([]);
});

test.each(apis.flatMap((api) => (['before', 'after'] as const).map((when) => ({ api, when }))))(
  'a row that is withdrawn while nobody knows whether its request arrived is never called: %o',
  async ({ api, when }) => {
    const campaign = await beginReported({ api, sandbox: { concurrency: 1 } });
    const proof = { api, provenAt: noon, listLagMs: 2_000, order: 'newest_first', keyBehaviour: null } as const;
    await storeLookUpProof(campaign.store, campaign.account.accountId, proof);
    campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: { type: 'reset', when } });
    await campaign.dial();
    expect(await campaign.withdraw(6)).toEqual(['withdrawing']);
    await campaign.run(3 * hourMs, async () => (await campaign.rows()).every(({ state }) => state === 'done'));
    expect(timesOf(campaign.rang())).toEqual([1, 1, 1, 1, 1, 0]);
    expect(await reasonsOf(campaign)).toEqual([...once(5).map(() => 'completed'), 'withdrawn']);
    expect(await campaign.proof()).toEqual([]);
  },
);

test.each(everyCase)('a pause that lets the queue ring takes nobody back but who must not be called: %o', async (world) => {
  const campaign = await beginReported({ ...world, sandbox: { concurrency: 1 } });
  await campaign.run(tickMs);
  await campaign.pause({ letQueued: true });
  await campaign.withdraw(6);
  await campaign.run(3 * minuteMs);
  const inQueue = timesOf(campaign.rang()).filter((times) => times === 1).length;
  // With batches, withdrawing one call withdraws its whole batch.
  if (world.api === 'campaigns') expect(inQueue).toBeGreaterThan(2);
  await campaign.run(20 * minuteMs);
  expect(timesOf(campaign.rang())).toEqual(world.api === 'campaigns' ? [1, 1, 1, 1, 1, 0] : expect.not.arrayContaining([2]));
  expect((await reasonsOf(campaign))[5]).toBe('withdrawn');
  expect(await campaign.proof()).toEqual([]);
});

test.each(apis)('of two pauses the later one decides what becomes of the queue: %s', async (api) => {
  const campaign = await beginReported({ api, sandbox: { concurrency: 1 } });
  await campaign.run(tickMs);
  await campaign.pause({ letQueued: true });
  await campaign.run(3 * minuteMs);
  const rung = timesOf(campaign.rang()).filter((times) => times === 1).length;
  expect(rung).toBeGreaterThan(2);
  await campaign.pause();
  await campaign.run(20 * minuteMs);
  expect(timesOf(campaign.rang()).filter((times) => times === 1).length).toBeLessThanOrEqual(rung + 2);
  expect((await campaign.rows()).some(({ state }) => state === 'waiting')).toBe(true);
  expect(await campaign.proof()).toEqual([]);
});

test.each(everyCase)('who opts out in a call of their own is not called any more by a batch that waits: %o', async (world) => {
  const numbers = [...plainNumbers(5), '+12015550108'];
  const campaign = await beginReported({ ...world, numbers, sandbox: { concurrency: 1, meanTalkSeconds: 240 } });
  // The recipient occupies the only line meanwhile.
  const called = { phone_number_id: 'pn_main', from: numbers[5] };
  expect((await campaign.sandbox.request('POST', '/_sandbox/inbound', called)).body).toMatchObject({ answered: true });
  await campaign.dial();
  expect(timesOf(campaign.rang())).toEqual(numbers.map(() => 0));
  await campaign.run(3 * hourMs, async () => (await campaign.rows()).every(({ state }) => state === 'done'));
  expect(timesOf(campaign.rang())).toEqual([1, 1, 1, 1, 1, 0]);
  expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual([...once(5).map(() => 'completed'), 'suppressed']);
  expect(await campaign.proof()).toEqual([]);
});

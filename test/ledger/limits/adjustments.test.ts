import { expect } from 'vitest';
import { readAdjustEffect } from '../../../src/ledger/read/clock-strip.ts';
import { adjustAccount, adjustCampaign, readAdjustable } from '../../../src/ledger/limits/adjustments.ts';
import { noon, answered, beginCampaign, beginProven, type Scenario, accountId, begin, limitsOf, told, guests, waits } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { countOutstanding } from '../../../src/ledger/limits/counters.ts';
import { findRound } from '../../../src/ledger/campaign/rounds.ts';
import { noteCallers } from '../../../src/ledger/limits/callers.ts';
import { holdAccount } from '../../../src/ledger/limits/account-pace.ts';
import type { Disposition } from '../../../src/rules/disposition.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { test, openLedger, beginOn, unjudged } from '../ledger-test.ts';

test.from(openLedger)('a limit that rules of before do not have is none, and may be set and restored', async (store) => {
  unjudged();
  const scenario = await begin(store, 'spring', { startsPerMinute: 30 }, 2);
  const { startsPerMinute, ...pacing } = (await scenario.campaign()).rules.pacing;
  expect(startsPerMinute).toBe(30);
  const rules = JSON.stringify({ ...(await scenario.campaign()).rules, pacing });
  await store.db.updateTable('campaigns').set({ rules }).execute();
  expect(await readAdjustable(store.db, 'spring')).toMatchObject({
    now: { startsPerMinute: null },
    file: { startsPerMinute: null },
  });
  const adjust = (wish: object, reset = false) => adjustCampaign(store, 'spring', { wish, reset, now: noon });
  expect(await adjust({ startsPerMinute: 5 })).toEqual({ from: { startsPerMinute: null }, to: { startsPerMinute: 5 } });
  expect(await adjust({}, true)).toEqual({ from: { startsPerMinute: 5 }, to: { startsPerMinute: null } });
});

test.from(openLedger)('limits change while a campaign runs, and the file can be brought back', async (store) => {
  const pacing = { maxConcurrentCalls: 10, startsPerMinute: 30, batchSize: 5, refillThreshold: 2 };
  const scenario = await begin(store, 'spring', pacing, 60);
  const hash = (await scenario.campaign()).fileHash;
  const adjust = (wish: Parameters<typeof adjustCampaign>[2]['wish'], reset = false) =>
    adjustCampaign(store, 'spring', { wish, reset, now: noon });
  const change = {
    from: { maxConcurrentCalls: 10, startsPerMinute: 30 },
    to: { maxConcurrentCalls: 40, startsPerMinute: null },
  };
  const wish = { maxConcurrentCalls: 40, startsPerMinute: null };
  expect(await adjust(wish)).toEqual(change);
  expect(await adjust(wish)).toEqual({ from: {}, to: {} });
  expect(await told(scenario, 'campaign.adjusted')).toEqual([{ ...change, by: 'person' }]);
  expect(await limitsOf(scenario)).toMatchObject({ own: 40, startsPerMinute: null });
  // A fifth of the lines is still a fifth, as long as a batch holds it.
  expect((await scenario.campaign()).rules.pacing.refillThreshold).toBe(5);
  expect(await adjust({ batchSize: 40, priority: 99 })).toMatchObject({ to: { batchSize: 40, priority: 99 } });
  expect(await scenario.dial(1)).toHaveLength(40);
  // One set back by hand to the file's value is adjusted no more.
  expect(await adjust({ maxConcurrentCalls: 10, startsPerMinute: 30, batchSize: 5, priority: 10 })).toBeDefined();
  expect(await store.db.selectFrom('campaigns').select('adjustments').executeTakeFirst()).toEqual({
    adjustments: null,
  });
  await adjust({ maxConcurrentCalls: 2 });
  expect((await scenario.campaign()).rules.pacing.refillThreshold).toBe(1);
  expect(await adjust({ priority: 50 }, true)).toEqual({
    from: { maxConcurrentCalls: 2, priority: 10 },
    to: { maxConcurrentCalls: 10, priority: 50 },
  });
  expect(await readAdjustable(store.db, 'spring')).toMatchObject({
    now: { maxConcurrentCalls: 10, startsPerMinute: 30, batchSize: 5, priority: 50 },
    file: { maxConcurrentCalls: 10, startsPerMinute: 30, batchSize: 5, priority: 10 },
  });
  expect((await scenario.campaign()).fileHash).toBe(hash);
});

test.from(openLedger)('batches are smaller from the next one on', async (store) => {
  const scenario = await begin(store, 'spring', { maxConcurrentCalls: 10, batchSize: 5 }, 20);
  const first = await scenario.dial(1);
  expect(first).toHaveLength(5);
  await scenario.settle(first, 'no_answer');
  await adjustCampaign(store, 'spring', { wish: { batchSize: 2 }, reset: false, now: noon });
  expect(await scenario.dial(2)).toHaveLength(2);
});

test.from(openLedger)('hours and retries change while a campaign runs; whoever waits for other hours is judged again', async (store) => {
  // Noon in UTC is seven in New York, a Tuesday.
  const calendar = { hours: { tue: [{ from: 9 * 60, to: 17 * 60 }] }, closedOn: [] };
  const scenario = await begin(store, 'spring', { maxConcurrentCalls: 2, batchSize: 2 }, 5, 0, { calendar, law: [] });
  const adjust = (wish: Parameters<typeof adjustCampaign>[2]['wish'], now: number, reset = false) =>
    adjustCampaign(store, 'spring', { wish, reset, now });
  const due = async () => (await scenario.recipients()).map(({ due_at: at }) => at);
  await scenario.plan(1);
  const opening = noon + 2 * hourMs;
  expect(await due()).toEqual([opening, opening, opening, opening, opening]);
  const early = { tue: [{ from: 6 * 60, to: 17 * 60 }] };
  const wish = { hours: early, maxAttempts: 2, busy: [7 * minuteMs] } as const;
  expect(await adjust(wish, noon)).toEqual({
    from: { hours: calendar.hours, maxAttempts: 3, busy: [5 * minuteMs] },
    to: wish,
  });
  expect(await adjust(wish, noon)).toEqual({ from: {}, to: {} });
  expect(await due()).toEqual([0, 0, 0, 0, 0]);
  const [first = '', second = ''] = await scenario.dial(1, noon);
  await scenario.settle(first, 'busy');
  expect((await due())[0]).toBe(noon + 7 * minuteMs);
  // A retry keeps the time that its call's end gave it.
  await adjust({ busy: 'never', hours: null }, noon);
  expect((await due())[0]).toBe(noon + 7 * minuteMs);
  await scenario.settle(second, 'busy');
  expect(await scenario.row(2)).toMatchObject({ state: 'done', outcome: 'exhausted' });
  const rules = async () => (await scenario.campaign()).rules;
  expect(await rules()).toBe(await rules());
  expect(await adjust({}, noon, true)).toMatchObject({ to: { hours: calendar.hours, maxAttempts: 3, busy: [5 * minuteMs] } });
});

test.from(openLedger)('an ended campaign is not adjusted, and the account tells those that go on', async (store) => {
  unjudged();
  const over = await begin(store, 'over', {}, 2);
  await over.end('cancelled');
  await over.plan(1);
  await store.db.updateTable('campaigns').set({ state: 'cancelled' }).execute();
  const running = await begin(store, 'running', {}, 2, 100);
  expect(await adjustCampaign(store, 'over', { wish: { priority: 50 }, reset: false, now: noon })).toBeUndefined();
  expect(await adjustCampaign(store, 'nowhere', { wish: {}, reset: true, now: noon })).toBeUndefined();
  const adjust = (wish: Parameters<typeof adjustAccount>[2]['wish']) => adjustAccount(store, accountId, { wish, now: noon });
  const first = await adjust({ maxConcurrentCalls: 30, keepFree: 300 });
  expect(first).toMatchObject({ from: { maxConcurrentCalls: null, keepFree: 0 }, to: { maxConcurrentCalls: 30 } });
  expect(first.campaigns.map(({ campaignId }) => campaignId)).toEqual(['running']);
  expect(await adjust({ maxConcurrentCalls: 30 })).toMatchObject({ from: {}, to: {} });
  expect(await limitsOf(running)).toMatchObject({ account: { lines: 21 } });
  // Without a limit there is no part to keep free.
  expect(await adjust({ maxConcurrentCalls: null })).toMatchObject({ to: { maxConcurrentCalls: null, keepFree: 0 } });
  expect(await told(over, 'account.adjusted')).toEqual([]);
  expect(await told(running, 'account.adjusted')).toHaveLength(2);
});

test.from(openLedger)('a batch whose records were all read before its answer was lost is accepted, not unknown', async (store) => {
  const scenario = await beginCampaign(store);
  const step = await scenario.submit(1);
  if (step.kind !== 'post') throw new Error('not posted');
  const records = step.calls.map((call, index) => answered(`conv_${index}`, call.e164, noon + 5_000));
  await scenario.sweep(noon + 60_000, records);
  await scenario.verdict(1, 'unknown', { now: noon + 70_000 });

  expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
  const round = await store.db.selectFrom('rounds').select('unknown_streak').executeTakeFirstOrThrow();
  expect(round.unknown_streak).toBe(0);

  // Nothing is left to keep the campaign from ending.
  await scenario.sweep(noon + 3_600_000, records);
  expect(await countOutstanding(store.db, 'spring')).toEqual({ open: 0, unread: 0, undecided: 0 });
  expect((await scenario.attempts()).every((attempt) => attempt.state === 'settled')).toBe(true);
  expect(await scenario.close(noon + 3_600_000)).toBe(true);
  expect((await findRound(store.db, 'spring', 1))?.endedAt).toBe(noon + 3_600_000);
});

const endsAt = noon + 2 * hourMs;
const rowsFor = (count: number) => guests(count);

async function outcomes(scenario: Scenario) {
  const rows = await scenario.recipients();
  return new Set(rows.map(({ outcome, reason }) => `${outcome} ${reason}`));
}

/** As many first calls as an unproven number may make, unanswered, and two people left. */
async function callUnproven(dialect: TestDialect, end: number | null, as: Disposition = 'failed'): Promise<Scenario> {
  const rules = { endsAt: end, retry: { maxAttempts: 1 } };
  const scenario = await beginCampaign(await openLedger(dialect), { rows: rowsFor(22), rules });
  await scenario.settle(await scenario.dial(1), as, noon + minuteMs);
  return scenario;
}

test.from(callUnproven, endsAt)('a campaign that paused itself because no call got through sees its end', async (scenario) => {
  const paused = { kind: 'wait', reason: 'paused', until: endsAt };
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toMatchObject(paused);
  expect((await scenario.campaign()).stateReason).toContain('None of the first calls led to a conversation');
  expect(await scenario.plan(2, endsAt)).toEqual({ kind: 'done' });
  expect(await outcomes(scenario)).toEqual(new Set(['exhausted attempts_used_up', 'expired campaign_end']));
});

test.from(
  callUnproven,
  null,
  'unknown',
)('without an end only a person ends that pause, also where no record tells of a call', async (scenario) => {
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toMatchObject({ reason: 'paused', until: null });
});

test.from(openLedger)('a pause that the service asks for is not slept beyond the end', async (store) => {
  const scenario = await beginProven(store, { rows: rowsFor(2), rules: { endsAt } });
  await store.transaction((tx) => holdAccount(tx, 'http://service', noon + 12 * hourMs));
  expect(await scenario.plan(1)).toMatchObject(waits('blocked', endsAt));
  expect(await scenario.plan(1, endsAt)).toEqual({ kind: 'done' });
  expect(await outcomes(scenario)).toEqual(new Set(['expired campaign_end']));
  // One that is over sooner is waited for as it is.
  const other = await beginProven(store, { campaignId: 'autumn', rows: rowsFor(2), rules: { endsAt: noon + 24 * hourMs } });
  expect(await other.plan(1)).toMatchObject(waits('blocked', noon + 12 * hourMs));
});

test('nor is the wait for a caller number that may call', async (dialect) => {
  const rules = { endsAt, callers: { numbers: ['pn_ny', 'pn_fl'], choice: 'region' as const } };
  const scenario = await beginOn(dialect, { rows: rowsFor(2), rules });
  const campaign = await scenario.campaign();
  const standing = { e164: '+12125550199', country: 'US', regions: ['NY'], verified: false };
  const found = campaign.rules.callers.numbers.map((phoneNumberId) => ({
    phoneNumberId,
    ...standing,
    fault: 'not_verified' as const,
  }));
  await noteCallers(scenario.store, campaign, { standings: found, faults: null, now: noon });
  expect(await scenario.plan(1)).toMatchObject(waits('paused', endsAt));
});

test.from(openLedger)('before attempts are lowered it is said how many of this campaign have had as many', async (store) => {
  const usedUp: number[] = [];
  for (const id of ['spring', 'other']) {
    const scenario = await begin(store, id, { maxConcurrentCalls: 2, batchSize: 2 }, 3);
    await scenario.settle(await scenario.dial(1), 'no_answer');
    const effect = await readAdjustEffect(store.db, await scenario.campaign(), { wish: { maxAttempts: 1 }, now: noon });
    usedUp.push(effect.usedUp);
  }
  expect(usedUp).toEqual([2, 2]);
});

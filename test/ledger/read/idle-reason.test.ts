import { expect } from 'vitest';
import { changeCampaignState, pauseCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { readStatus } from '../../../src/ledger/campaign/campaign-status.ts';
import { readIdleReason } from '../../../src/ledger/read/idle-reason.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { writeAccount } from '../../../src/ledger/limits/account-pace.ts';
import type { Claims } from '../../../src/ledger/limits/line-limits.ts';
import { beginProven, noon, type Scenario, guests } from '../scenario.ts';
import { test, openLedger, beginOn } from '../ledger-test.ts';

const nothingMore = { since: null, until: null, calls: null, lines: null, rule: null };

async function why(scenario: Scenario, now: number) {
  return readIdleReason(scenario.store.db, await scenario.campaign(), { now: () => now, speed: 1 });
}

test.from(beginOn)('a campaign that would dial does not stand still, and one that is paused says since when', async (scenario) => {
  expect(await why(scenario, noon)).toBeNull();
  await scenario.pause(noon + minuteMs, 'paused by a person');
  expect(await why(scenario, noon + 2 * minuteMs)).toEqual({
    ...nothingMore,
    reason: 'paused',
    since: noon + minuteMs,
  });
});

test.from(beginOn, { rows: 10 })('ten calls of a batch that was not sent are not said to be open', async (scenario) => {
  await scenario.plan(1);
  const count = async () => {
    const { open, planned, waiting } = await readStatus(scenario.store.db, await scenario.campaign());
    return { open, planned, waiting };
  };
  expect(await count()).toEqual({ open: 0, planned: 10, waiting: 0 });
  expect(await why(scenario, noon)).toBeNull();
  expect(await why(scenario, noon + minuteMs)).toEqual({ ...nothingMore, reason: 'planned', since: noon, calls: 10 });
  await scenario.post(1);
  expect(await count()).toEqual({ open: 10, planned: 0, waiting: 0 });
  await scenario.verdict(1, 'not_sent', { now: noon + 5_000 });
  expect(await count()).toEqual({ open: 0, planned: 10, waiting: 0 });
  const later = noon + minuteMs;
  expect(await why(scenario, later)).toEqual({ ...nothingMore, reason: 'not_sent', since: noon + 5_000, calls: 10 });
});

test.from(beginOn, { rows: 3 })('a service that asks for a pause is named, with the end of the pause', async (scenario) => {
  await scenario.submit(1);
  const until = noon + 10 * minuteMs;
  await scenario.verdict(1, 'not_sent', { status: 429, notBefore: until });
  expect(await why(scenario, noon + minuteMs)).toEqual({
    ...nothingMore,
    reason: 'rate_limited',
    since: noon,
    until,
    calls: 3,
  });
});

test.from(beginOn, { rows: 30 })('calls that nobody knows to be placed hold everything back', async (scenario) => {
  await scenario.lose(1);
  expect(await why(scenario, noon + 1_000)).toMatchObject({
    reason: 'unknown',
    since: noon,
    until: expect.any(Number),
  });
});

test('full lines, the delay of a retry and a drain are told apart', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: 30, rules: { pacing: { maxConcurrentCalls: 5, batchSize: 5 } } });
  await scenario.dial(1);
  expect(await why(scenario, noon + 1_000)).toMatchObject({ reason: 'capacity', since: noon, until: null, calls: 5, lines: 5 });
  await scenario.store.db
    .updateTable('recipients')
    .set({ due_at: noon + 60 * minuteMs })
    .where('state', '=', 'waiting')
    .execute();
  expect(await why(scenario, noon + 1_000)).toMatchObject({ reason: 'due', until: noon + 60 * minuteMs, rule: null });
  await scenario.store.transaction((tx) =>
    changeCampaignState(tx, { campaignId: scenario.campaignId, now: noon + 2_000 }, { to: 'draining', reason: null }),
  );
  expect(await why(scenario, noon + 3_000)).toMatchObject({ reason: 'draining', since: noon + 2_000 });
});

test('closed hours are named as such, until they open', async (dialect) => {
  const open = [{ from: 8 * 60, to: 9 * 60 }];
  const hours = { mon: open, tue: open, wed: open, thu: open, fri: open, sat: open, sun: open };
  const scenario = await beginOn(dialect, {
    rows: guests(3).map((row) => ({ ...row, zones: ['America/New_York'] })),
    rules: { calendar: { hours, closedOn: [] } },
  });
  await scenario.plan(1);
  const until = noon + 60 * minuteMs;
  expect(await why(scenario, noon)).toMatchObject({ reason: 'due', until, rule: 'outside_hours' });
});

test('while all lines are busy one reason stands, whichever step the next batch has reached', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: 30, rules: { pacing: { maxConcurrentCalls: 2, batchSize: 2 } } });
  const reasons: (string | undefined)[] = [];
  let at = noon;
  const look = async () => reasons.push((await why(scenario, at))?.reason);
  for (let n = 1; n <= 3; n += 1) {
    await scenario.plan(n, at);
    await look();
    const step = await scenario.post(n, at + 1_000);
    const ids = step.kind === 'post' ? step.calls.map(({ attemptId }) => attemptId) : [];
    await look();
    await scenario.verdict(n, 'confirmed', { now: at + 2_000 });
    await look();
    at += 10_000;
    await scenario.settle(ids, 'answered', at);
    await look();
  }
  expect(new Set(reasons)).toEqual(new Set(['capacity']));
});

test('campaigns that share lines have the same reasons whether they are asked about together or one by one', async (dialect) => {
  const store = await openLedger(dialect);
  const scenarios: Scenario[] = [];
  for (const campaignId of ['one', 'two', 'three', 'four'])
    scenarios.push(await beginProven(store, { campaignId, rows: 9, rules: { pacing: { maxConcurrentCalls: 3, batchSize: 3 } } }));
  const [one, two, three] = scenarios;
  await store.transaction((tx) => writeAccount(tx, 'http://service', { max_concurrent_calls: 5 }));
  await one?.dial(1);
  await two?.dial(1);
  await pauseCampaign(store, { campaignId: 'two', now: noon }, { reason: 'paused by a person' });
  await three?.plan(1);
  const ask = async (claims?: Claims) => {
    const found: unknown[] = [];
    for (const scenario of scenarios)
      found.push(await readIdleReason(store.db, await scenario.campaign(), { now: () => noon + 1_000, speed: 1 }, { claims }));
    return found;
  };
  for (let lines = 2; lines <= 12; lines += 1) {
    await store.transaction((tx) => writeAccount(tx, 'http://service', { max_concurrent_calls: lines }));
    expect(await ask(new Map()), `${lines} lines`).toEqual(await ask());
  }
});

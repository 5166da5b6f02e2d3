import { expect } from 'vitest';
import { adjustCampaign } from '../../../src/ledger/limits/adjustments.ts';
import { readNumberView } from '../../../src/ledger/read/callee.ts';
import { readCampaignRows, type RowQuery } from '../../../src/ledger/read/campaign-rows.ts';
import { readCampaignView } from '../../../src/ledger/read/campaign-view.ts';
import { readFunnel } from '../../../src/ledger/read/campaign-report.ts';
import { readLiveCalls } from '../../../src/ledger/read/live-calls.ts';
import { readCampaignTimeline } from '../../../src/ledger/read/timeline.ts';
import { addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { answered, beginCampaign, beginProven, noon, numbers, guests } from '../scenario.ts';
import { test, openLedger, beginOn, unjudged } from '../ledger-test.ts';

const everywhere = (text: string) => ({ text, everywhere: true });

test.both('rows are found by state, outcome, number, id and row, page by page', async (dialect) => {
  const [one = '', two = '', three = ''] = numbers(3);
  const store = await openLedger(dialect);
  const entry = { e164: three, scope: 'account', source: 'person', reason: null, expiresAt: null };
  await addSuppressions(store, [entry], noon);
  const rows = guests(6).map((row, index) => ({
    ...row,
    externalId: `A${index + 1}`,
    verdict: index === 5 ? ('rejected' as const) : row.verdict,
  }));
  const scenario = await beginProven(store, { rows, rules: { pacing: { batchSize: 3 } } });
  const { db } = store;
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [
    answered('conv_1', one, noon + 5_000),
    { ...answered('conv_2', two, noon + 5_000), callResult: 'busy', userTurns: 0, agentTurns: 0, collected: null },
  ]);
  const now = noon + 2 * minuteMs;
  const found = async (query: RowQuery) => (await readCampaignRows(db, 'spring', query, now)).map(({ row }) => row);

  expect(await found({})).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await found({ limit: 2 })).toEqual([1, 2]);
  expect(await found({ limit: 2, afterRow: 2 })).toEqual([3, 4]);
  expect(await found({ states: ['open'] })).toEqual([4]);
  expect(await found({ outcomes: ['completed'] })).toEqual([1]);
  expect(await found({ outcomes: ['suppressed', 'rejected'] })).toEqual([3, 6]);
  expect(await found({ search: everywhere('A4') })).toEqual([4]);
  expect(await found({ search: everywhere('#5') })).toEqual([5]);
  expect(await found({ search: everywhere('(201) 555') })).toEqual([1]);
  expect(await found({ search: everywhere(two.slice(-10)) })).toEqual([2]);
  expect(await found({ search: everywhere('guest 4') })).toEqual([5]);
  // A wildcard of the database is none here.
  for (const wild of ['%', '%%', 'G_est', '\\%']) expect(await found({ search: everywhere(wild) })).toEqual([]);
  // Who may not see numbers and cells does not find them.
  for (const hidden of [two, two.slice(-10), 'Guest 4']) expect(await found({ search: { text: hidden, everywhere: false } })).toEqual([]);
  expect(await found({ search: { text: 'A4', everywhere: false } })).toEqual([4]);
  const [first] = await readCampaignRows(db, 'spring', { search: everywhere('#1') }, now);
  expect(first).toMatchObject({
    outcome: 'completed',
    attempts: 1,
    disposition: 'answered',
    lastDialedAt: noon,
    dueAt: null,
    terms: { zones: ['America/New_York'], country: 'US', regions: ['NY'], notBefore: null, expiresAt: null, priority: null, hours: null },
  });
  const [second] = await readCampaignRows(db, 'spring', { search: everywhere('#2') }, now);
  expect(second).toMatchObject({ state: 'waiting', attempts: 1, disposition: 'busy' });
  expect(second?.dueAt).toBeGreaterThan(now);

  expect(await readFunnel(db, await scenario.campaign())).toEqual({
    listed: 6, usable: 5, called: 3, answered: 1, completed: 1, notCalled: { suppressed: 1 },
  }); // prettier-ignore
});

const [one = '', two = ''] = numbers(2);

test.both.from(openLedger)('of a number it is told what was decided, by which rule, and what comes next', async (store) => {
  const zoned = guests(2).map((row) => ({
    ...row,
    zones: ['Europe/London'],
  }));
  const allDay = [{ from: 9 * 60, to: 13 * 60 }];
  const hours = { mon: allDay, tue: allDay, wed: allDay };
  const scenario = await beginProven(store, { rows: zoned, rules: { calendar: { hours, closedOn: [] } } });
  const { db } = store;
  expect(await readNumberView(db, '+12125550199', noon)).toBeNull();
  expect((await readNumberView(db, one, noon))?.rows[0]?.verdict).toEqual({ verdict: 'dial' });
  await scenario.dial(1);
  const busy = { callResult: 'busy', userTurns: 0, agentTurns: 0, collected: null } as const;
  await scenario.sweep(noon + minuteMs, [{ ...answered('conv_1', one, noon + 5_000), ...busy }, answered('conv_2', two, noon + 5_000)]);
  await beginCampaign(store, { campaignId: 'summer', rows: buildRows([one], () => 'Guest'), now: noon + minuteMs });

  const callee = await readNumberView(db, one, noon + 2 * minuteMs);
  expect(callee?.rows.map(({ campaign, calls }) => [campaign.campaignId, calls.length])).toEqual([
    ['summer', 0],
    ['spring', 1],
  ]);
  const [, spring] = callee?.rows ?? [];
  expect(spring?.calls[0]).toMatchObject({ attempt: { disposition: 'busy' }, facts: { conversationId: 'conv_1' } });
  // The retry's delay ends within the hours.
  expect(spring?.verdict).toMatchObject({ verdict: 'wait', until: spring?.recipient.due_at });
  expect(callee?.events.map(({ type }) => type)).toEqual(['attempt.planned', 'attempt.posted', 'attempt.matched', 'attempt.settled']);
  const late = await readNumberView(db, one, noon + 2 * hourMs);
  expect(late?.rows[1]?.verdict).toMatchObject({ verdict: 'wait', reason: 'outside_hours' });

  const entry = { e164: one, scope: 'account', source: 'person', reason: 'asked by letter', expiresAt: null };
  await addSuppressions(store, [entry], noon + 3 * minuteMs);
  const stopped = await readNumberView(db, one, noon + 4 * minuteMs);
  expect(stopped?.suppressions).toMatchObject([{ scope: 'account', reason: 'asked by letter' }]);
  expect(stopped?.rows[1]?.verdict).toMatchObject({ verdict: 'final', outcome: 'suppressed' });
});

test.from(beginOn)('a view tells what only a person can set right', async (scenario) => {
  unjudged();
  const { db } = scenario.store;
  const needs = async () => (await readCampaignView(db, await scenario.campaign(), noon)).needs;
  expect(await needs()).toEqual([]);
  await db
    .updateTable('campaigns')
    .set({ state: 'paused', state_reason: '20 of the 20 calls failed' })
    .where('campaign_id', '=', 'spring')
    .execute();
  expect(await needs()).toEqual([{ kind: 'paused', reason: '20 of the 20 calls failed' }]);
});

test('a course tells starts, ends, open calls, limits, refusals and pauses', async (dialect) => {
  const scenario = await beginOn(dialect, { rules: { pacing: { maxConcurrentCalls: 4, batchSize: 4, refillThreshold: 1 } } });
  const { store } = scenario;
  expect(await readCampaignTimeline(store.db, await scenario.campaign(), noon)).toBeNull();
  const [one = '', two = ''] = numbers(2);
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('conv_1', one, noon + 5_000), answered('conv_2', two, noon + 5_000)]);
  const at = { wish: { maxConcurrentCalls: 3 }, reset: false, now: noon + 2 * minuteMs };
  await adjustCampaign(store, 'spring', at);
  await scenario.submit(2, noon + 3 * minuteMs);
  await scenario.verdict(2, 'not_sent', { now: noon + 3 * minuteMs, status: 429, notBefore: noon + 4 * minuteMs });
  await scenario.pause(noon + 5 * minuteMs, 'paused by a person');

  const course = await readCampaignTimeline(store.db, await scenario.campaign(), noon + 10 * minuteMs);
  const at0 = noon;
  const point = (offsetMs: number) => course?.points.find((each) => each.at === at0 + offsetMs);
  expect(course?.stepMs).toBe(10_000);
  expect(point(0)).toMatchObject({ starts: 4, ends: 0, open: 4, allowed: 4, limited: 0 });
  expect(point(minuteMs)).toMatchObject({ starts: 0, ends: 2, open: 2, allowed: 4 });
  // 429 halves the pace: one of three lines is left.
  expect(point(3 * minuteMs)).toMatchObject({ limited: 1, allowed: 1 });
  expect(course?.points.at(-1)).toMatchObject({ at: noon + 10 * minuteMs, open: 2 });
  expect(course?.pauses).toEqual([{ fromAt: noon + 5 * minuteMs, toAt: null, reason: 'paused by a person' }]);
});

test.from(beginOn)('however long a campaign lasts, its course has few points', async (scenario) => {
  await scenario.dial(1);
  const course = await readCampaignTimeline(scenario.store.db, await scenario.campaign(), noon + 20 * 24 * hourMs);
  expect(course?.stepMs).toBe(6 * hourMs);
  expect(course?.points.length).toBeLessThan(242);
  expect(course?.points.reduce((sum, { starts }) => sum + starts, 0)).toBe(6);
});

test('the calls on the line are listed with how each stands, the longest first', async (dialect) => {
  const scenario = await beginOn(dialect, { rules: { pacing: { batchSize: 1 } } });
  const read = async (now: number, limit = 10) => readLiveCalls(scenario.store.db, await scenario.campaign(), { limit, now });
  await scenario.plan(1);
  // A call that is planned was not requested.
  expect(await read(noon)).toEqual([]);
  await scenario.post(1);
  await scenario.verdict(1, 'confirmed', { callsInitiated: 1 });
  await scenario.dial(2, noon + 1_000);
  await scenario.submit(3, noon + 2_000);

  const [first = '', second = '', third = ''] = numbers(3);
  const calls = [
    { row: 1, attempt: 1, e164: first, since: noon, state: 'accepted' },
    { row: 2, attempt: 1, e164: second, since: noon + 1_000, state: 'accepted' },
    { row: 3, attempt: 1, e164: third, since: noon + 2_000, state: 'requested' },
  ].map((call) => ({ ...call, externalId: null }));
  expect(await read(noon + 3_000)).toEqual(calls);
  expect(await read(noon + 3_000, 2)).toEqual(calls.slice(0, 2));

  await scenario.verdict(3, 'unknown', { now: noon + 3_000 });
  const record = { ...answered('conv_1', second, noon + 1_000), status: 'processing' } as const;
  await scenario.sweep(noon + 2 * minuteMs, [record], false);
  const later = await read(noon + 2 * minuteMs);
  expect(later.map(({ row, state }) => [row, state])).toEqual([
    [1, 'accepted'],
    [2, 'over'],
    [3, 'unknown'],
  ]);

  await scenario.sweep(noon + 3 * minuteMs, [answered('conv_1', second, noon + 1_000)], false);
  expect((await read(noon + 3 * minuteMs)).map(({ row }) => row)).toEqual([1, 3]);
});

import { expect, test } from 'vitest';
import type { ListRow } from '../../../../src/list/recipients.ts';
import { Preflight } from '../../../../src/campaign/preflight/preflight.ts';
import { followRehearsal, dayTimeText, progressLine } from '../../../../src/interfaces/cli/rehearse/follow.ts';
import { findFaults, rehearsalJson, renderRehearsal, type Rehearsal } from '../../../../src/interfaces/cli/rehearse/report.ts';
import { readTimeline } from '../../../../src/interfaces/cli/rehearse/timeline.ts';
import type { CampaignState } from '../../../../src/rules/lifecycle.ts';
import type { ConductReport } from '../../../../src/sandbox/judge/conduct-report.ts';
import type { CampaignStatus } from '../../../../src/ledger/campaign/campaign-status.ts';
import { pauseCampaign, resumeCampaign, type Campaign } from '../../../../src/ledger/rows/campaigns.ts';
import type { EventData, EventType, NewEvent } from '../../../../src/rules/events.ts';
import { appendEvents } from '../../../../src/ledger/events.ts';
import { importCampaign } from '../../../../src/ledger/campaign/import-campaign.ts';
import { openRound } from '../../../../src/ledger/campaign/rounds.ts';
import { openCleanStore } from '../../../ledger/clean-store.ts';
import { buildRows, buildRules, hourMs, minuteMs } from '../../../support/campaign-rules.ts';
import { createTerminal } from '../terminal.ts';
import type { Store } from '../../../../src/ledger/tx.ts';

const begin = Date.parse('2030-01-15T14:00:00Z');

async function importedStore(): Promise<Store> {
  const store = await openCleanStore('sqlite');
  const input = { campaignId: 'tryout', name: null, fileHash: 'hash', rules: buildRules(), accountId: 'account' };
  async function* rows() {
    yield buildRows(['+12125550121', '+12125550122', '+12125550123'], (index) => `Row ${index + 1}`);
  }
  await importCampaign(store, input, { chunks: rows(), now: begin });
  await openRound(store, 'tryout', begin);
  return store;
}

test('the timeline tells hours, clocks of the people called, quiet times, pauses and waits', async () => {
  const store = await importedStore();
  const event = <Type extends EventType>(at: number, type: Type, data: EventData[Type]) =>
    ({ at: begin + at, campaignId: 'tryout', type, attemptId: 'tryout/1/1', data }) as NewEvent;
  const call = {
    k: 1,
    e164: '+12125550100',
    person: null,
    country: 'US',
    regions: null,
    notBefore: null,
    expiresAt: null,
  };
  const end = { detail: null, counted: true };
  const zones = ['America/New_York', 'America/Chicago'];
  await store.transaction((tx) =>
    appendEvents(tx, [
      event(0, 'recipient.deferred', { until: begin + hourMs, reason: 'outside_hours', count: 2 }),
      event(5 * minuteMs, 'attempt.posted', { ...call, zones }),
      event(6 * minuteMs, 'attempt.posted', { ...call, zones: ['America/New_York'] }),
      event(8 * minuteMs, 'attempt.settled', { ...end, disposition: 'answered' }),
      event(8 * minuteMs, 'recipient.outcome', { outcome: 'completed', reason: 'answered' }),
      event(9 * minuteMs, 'attempt.settled', { ...end, disposition: 'opted_out' }),
      event(9 * minuteMs, 'suppression.added', { scope: 'account', e164: '+12125550100' }),
      event(hourMs, 'campaign.state', { from: 'running', to: 'paused', reason: 'paused by a person' }),
      event(2 * hourMs, 'campaign.state', { from: 'paused', to: 'running', reason: null }),
      event(2 * hourMs, 'attempt.released', { reason: 'outside_hours' }),
      event(7 * hourMs, 'attempt.posted', { ...call, zones: ['America/Los_Angeles'] }),
      event(8 * hourMs, 'campaign.state', { from: 'running', to: 'completed', reason: null }),
    ]),
  );
  const timeline = await readTimeline(store.db, 'tryout', begin + 9 * hourMs);
  expect(timeline).toEqual({
    startedAt: begin,
    firstCallAt: begin + 5 * minuteMs,
    lastCallAt: begin + 7 * hourMs,
    endedAt: begin + 8 * hourMs,
    hours: [
      { at: begin, calls: 2, answered: 2, rowsDone: 1 },
      { at: begin + 7 * hourMs, calls: 1, answered: 0, rowsDone: 0 },
    ],
    // In Chicago it was 08:05 when New York was called.
    callees: { earliest: '08:05', latest: '13:00' },
    quiet: [{ fromAt: begin + 6 * minuteMs, untilAt: begin + 7 * hourMs, paused: true }],
    pauses: [{ fromAt: begin + hourMs, untilAt: begin + 2 * hourMs, reason: 'paused by a person' }],
    waits: { outside_hours: 2 },
    released: { outside_hours: 1 },
    optOuts: 1,
  });
});

test('a campaign that pauses by itself ends the rehearsal: nobody is there to mend it', async () => {
  const store = await importedStore();
  await pauseCampaign(store, { campaignId: 'tryout', now: begin }, { reason: 'the key is refused' });
  const told: string[] = [];
  const { campaign } = await followRehearsal(createTerminal(), {
    store,
    campaignId: 'tryout',
    now: () => begin,
    pause: null,
    tell: async (wish) => void told.push(wish),
    moveTo: async () => {},
    leave: new AbortController().signal,
  });
  expect(campaign).toMatchObject({ state: 'paused', stateReason: 'the key is refused' });
  expect(told).toEqual([]);
});

test('the pause that was asked for is played at its time, and ended at its time', async () => {
  const store = await importedStore();
  let now = begin;
  const leave = new AbortController();
  const told: [string, number][] = [];
  await followRehearsal(createTerminal(), {
    store,
    campaignId: 'tryout',
    now: () => {
      now += hourMs;
      return now;
    },
    pause: { afterMs: 90 * minuteMs, forMs: hourMs },
    tell: async (wish) => {
      told.push([wish, (now - begin) / hourMs]);
      if (wish === 'pause') await pauseCampaign(store, { campaignId: 'tryout', now }, { reason: 'paused by a person' });
      else await resumeCampaign(store, { campaignId: 'tryout', now }).then(() => leave.abort());
    },
    moveTo: async () => {},
    leave: leave.signal,
  });
  expect(told).toEqual([
    ['pause', 3],
    ['resume', 4],
  ]);
});

test('what lies before the next call is skipped, but neither a pause nor the end, nor while somebody is on the line', async () => {
  const store = await importedStore();
  const dueAt = begin + 30 * 24 * hourMs;
  await store.db.updateTable('recipients').set({ due_at: dueAt }).execute();
  let now = begin;
  const leave = new AbortController();
  const happened: string[] = [];
  const { campaign } = await followRehearsal(createTerminal(), {
    store,
    campaignId: 'tryout',
    now: () => now,
    pause: { afterMs: 2 * hourMs, forMs: 0 },
    tell: async (wish) => {
      happened.push(wish);
      if (wish === 'pause') await pauseCampaign(store, { campaignId: 'tryout', now }, { reason: 'paused by a person' });
      else await resumeCampaign(store, { campaignId: 'tryout', now });
    },
    moveTo: async (instant) => {
      now = Math.max(now, instant);
      happened.push(`${(now - begin) / hourMs} h`);
      if (now === dueAt && happened.at(-2) === happened.at(-1)) leave.abort();
    },
    leave: leave.signal,
  });
  expect(campaign.state).toBe('running');
  expect(happened.slice(0, 4)).toEqual(['2 h', 'pause', 'resume', '720 h']);
  // Repeated, since no call was placed: the worker's clock was older.
  expect(happened.slice(4)).toEqual(['720 h']);
});

const status: CampaignStatus = {
  total: 2_000,
  done: 312,
  open: 0,
  planned: 0,
  waiting: 1_688,
  nextDueAt: begin + 10 * minuteMs,
  outcomes: { completed: 298, rejected: 14 },
  results: {},
  dispositions: { answered: 298, busy: 2 },
  unresolved: 0,
  batches: {},
};

function campaignIn(state: CampaignState): Campaign {
  const rules = buildRules({ pacing: { startsPerMinute: 5 } });
  return { campaignId: 'tryout', name: null, state, stateReason: null, rules } as Campaign;
}

test('progress tells service time, outcomes and what comes next', () => {
  expect(progressLine(begin, campaignIn('running'), status)).toBe(
    'Tue 15 Jan 14:00 UTC  312 of 2,000 done (completed 298 · rejected 14), 0 calls open, next at Tue 15 Jan 14:10',
  );
  expect(progressLine(begin, campaignIn('paused'), { ...status, open: 7 })).toMatch(/7 calls open, PAUSED$/);
  expect(dayTimeText(Date.parse('2030-03-03T05:06:07Z'))).toBe('Sun 3 Mar 05:06');
});

function rehearsal(changes: Partial<Rehearsal> = {}): Rehearsal {
  const conduct: ConductReport = { ok: true, requests: 1, at: begin, checks: [] };
  return {
    campaign: campaignIn('completed'),
    status: { ...status, total: 312 },
    settings: { speed: 600, startAt: begin, seed: 'a', dialect: 'extended' },
    rows: { inList: 5_000, rehearsed: 312 },
    notes: ['on_completion is not notified'],
    timeline: {
      startedAt: begin,
      firstCallAt: begin,
      lastCallAt: begin + hourMs,
      endedAt: begin + 26 * hourMs,
      hours: [
        { at: begin, calls: 30, answered: 20, rowsDone: 10 },
        { at: begin + 24 * hourMs, calls: 1, answered: 0, rowsDone: 1 },
      ],
      callees: { earliest: '09:00', latest: '16:49' },
      quiet: [{ fromAt: begin, untilAt: begin + 24 * hourMs, paused: false }],
      pauses: [],
      waits: { frequency_cap: 3 },
      released: {},
      optOuts: 1,
    },
    forecast: null,
    verify: { ok: true, events: 9, calls: 31, campaigns: ['tryout'], rules: [], notes: [] },
    conduct,
    tookRealMs: 156_000,
    ...changes,
  };
}

test('the report says what happened when, and what a rehearsal is not', () => {
  const text = renderRehearsal(rehearsal(), false);
  expect(text).toMatch(/Tue 15 Jan +14:00 +30 +20 +10 {2}█{30}\n {2}Wed 16 Jan +14:00 +1 +0 +1 {2}█\n/);
  expect(text).toMatch(/heard +09:00 to 16:49/);
  expect(text).toMatch(/No call was placed\n +Tue 15 Jan 14:00 to Wed 16 Jan 14:00 {3}24 h 0 min\n/);
  expect(text).toMatch(/frequency cap +3\n/);
  expect(text).toMatch(/Only 312 of 5,000 rows took part: a sample/);
  expect(text).toMatch(/30 calls were begun in the busiest hour, of the 300 that starts_per_minute allows/);
  expect(text).toMatch(/On_completion is not notified\./);
  expect(text).toMatch(/26 h 0 min of service time in 3 min\.\n$/);
  expect(findFaults(rehearsal())).toEqual([]);
  expect(rehearsalJson(rehearsal())).toMatchObject({
    ok: true,
    timeline: { startedAt: '2030-01-15T14:00:00.000Z', hours: [{ at: '2030-01-15T14:00:00.000Z' }, {}] },
  });
});

test('the forecast of the rehearsed rows stands beside what happened', async () => {
  const { rules } = campaignIn('completed');
  const preflight = new Preflight(rules, begin);
  function* chunks(): Generator<ListRow[]> {
    yield Array.from({ length: 100 }, (_, index): ListRow => ({
      row: index + 1,
      line: index + 2,
      cells: [],
      verdict: 'accepted',
      externalId: null,
      e164: `+12125550${String(100 + index)}`,
      zones: ['America/New_York'],
      country: 'US',
      regions: ['NY'],
      notBefore: null,
      expiresAt: null,
    }));
  }
  let seen = 0;
  for (const rows of chunks()) seen += preflight.add(rows, null).length;
  expect(seen).toBe(100);
  const { forecast } = preflight.outlook();
  const text = renderRehearsal(rehearsal({ forecast }), false);
  expect(text).toMatch(
    /forecasts, and what happened\n +ends +calls\n +earliest +2030-01-15 14:\d\d UTC +100\n +likely +2030-01-\d\d .* UTC +\d+\n +slowest +.*\n +rehearsed +2030-01-16 16:00 UTC +31\n/,
  );
  expect(text).toMatch(/Likely supposes that 35 % of the calls are answered; here 64.5 % were\.\n\n/);
  expect(rehearsalJson(rehearsal({ forecast }))).toMatchObject({
    forecast: {
      earliest: { calls: 100, neverCalled: 0 },
      rehearsed: { endsAt: '2030-01-16T16:00:00.000Z', calls: 31, answered: 20 },
    },
  });
});

test('each thing that is not as it should be is a fault', () => {
  const { verify, conduct } = rehearsal();
  const faults = findFaults(
    rehearsal({
      campaign: { ...campaignIn('paused'), stateReason: 'the key is refused' },
      status,
      verify: { ...verify, ok: false },
      conduct: { ...conduct, ok: false },
    }),
  );
  expect(faults).toEqual([
    'the campaign is paused (the key is refused)',
    '1,688 rows have no outcome',
    'the event log shows broken promises',
    'the service has found fault with its caller',
  ]);
});

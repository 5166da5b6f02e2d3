import { expect } from 'vitest';
import { readReport, reportDimensions, type CallLine } from '../../../src/ledger/read/report.ts';
import { readFunnel } from '../../../src/ledger/read/campaign-report.ts';
import { groupCalls } from '../../../src/ledger/read/call-groups.ts';
import { conversationRecord } from '../../rules/conversation-record.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { answered, noon, numbers, type Scenario, guests, insertAttempt, insertRecord } from '../scenario.ts';
import { test, beginOn, unjudged } from '../ledger-test.ts';

async function reportOf(scenario: Scenario, dimensions: Parameters<typeof readReport>[2] = reportDimensions) {
  return readReport(scenario.store, await scenario.campaign(), dimensions);
}

/** `value: calls/answered` of each line. */
function told(lines: readonly CallLine[] | undefined): string[] {
  return (lines ?? []).map(({ value, calls, answered: taken }) => `${value}: ${calls}/${taken}`);
}

test.both('a report counts rows, calls and what was heard, each by what they have in common', async (dialect) => {
  const [first = '', second = '', third = '', fourth = ''] = numbers(4);
  const rows = guests(5);
  const zones = [['America/New_York'], ['America/Los_Angeles'], ['America/Chicago', 'America/New_York'], ['Asia/Kolkata'], []];
  const scenario = await beginOn(dialect, {
    rows: rows.map((row, index) => ({
      ...row,
      zones: zones[index] ?? [],
      verdict: index === 4 ? 'rejected' : 'accepted',
    })),
  });
  // Noon in London: 7 in New York, 4 in Los Angeles, 6 in Chicago, half past five in Kolkata.
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [
    { ...answered('conv_1', first, noon + 5_000), durationMs: 90_500, evaluation: { polite: 'success' } },
    { ...answered('conv_2', second, noon + 5_000), durationMs: 30_000, collected: { appointment: 'moved' } },
    {
      ...answered('conv_3', third, noon + 5_000),
      callResult: 'busy',
      userTurns: 0,
      agentTurns: 0,
      durationMs: 0,
      collected: null,
    },
    {
      ...answered('conv_4', fourth, noon + 5_000),
      collected: { opt_out: true },
      durationMs: null,
      endedAt: noon + 9_000,
    },
  ]);
  expect(await scenario.dial(2, noon + hourMs)).toHaveLength(1);

  const report = await reportOf(scenario);
  expect(report.rows).toEqual({ total: 5, ended: 4 });
  expect(report.calls).toEqual({ calls: 5, open: 1, answered: 3, answerRate: 0.75, talkSeconds: 121 });
  expect(report.outcome?.map(({ value, count, share }) => [value, count, share])).toEqual([
    ['completed', 2, 0.4],
    ['opted_out', 1, 0.2],
    ['rejected', 1, 0.2],
    ['in_progress', 1, 0.2],
  ]);
  expect(told(report.disposition)).toEqual(['answered: 2/2', 'busy: 1/0', 'open: 1/0', 'opted_out: 1/1']);
  expect(told(report.attempt)).toEqual(['1: 4/3', '2: 1/0']);
  expect(report.attempt?.[1]).toMatchObject({ value: 2, open: 1, answerRate: null, talkSeconds: null });
  expect(told(report.hour)).toEqual(['4: 1/1', '6: 1/0', '7: 2/1', '17: 1/1']);
  // A Tuesday; nobody's calendar shows another day.
  expect(report.week?.map(({ weekday, hour, calls, answered: taken }) => [weekday, hour, calls, taken])).toEqual([
    [1, 4, 1, 1],
    [1, 6, 1, 0],
    [1, 7, 2, 1],
    [1, 17, 1, 1],
  ]);
  expect(told(report.day)).toEqual(['2030-01-15: 5/3']);
  expect(told(report.caller)).toEqual(['pn_main: 5/3']);
  expect(told(report.caller?.[0]?.days)).toEqual(['2030-01-15: 5/3']);
  expect(told(report.zone)).toEqual([
    'America/Chicago or America/New_York: 2/0',
    'America/Los_Angeles: 1/1',
    'America/New_York: 1/1',
    'Asia/Kolkata: 1/1',
  ]);
  expect(report.collected).toEqual({
    appointment: [
      { value: 'confirmed', count: 1, share: 0.5 },
      { value: 'moved', count: 1, share: 0.5 },
    ],
    opt_out: [{ value: 'true', count: 1, share: 1 }],
  });
  expect(report.evaluation).toEqual({ polite: [{ value: 'success', count: 1, share: 1 }] });
});

test.from(beginOn)('only the tables that were asked for are made', async (scenario) => {
  await scenario.dial(1);
  const outcomes = await reportOf(scenario, ['outcome']);
  expect(outcomes.calls).toBeNull();
  expect(Object.keys(outcomes)).toEqual(['campaignId', 'name', 'state', 'rows', 'calls', 'outcome']);
  const attempts = await reportOf(scenario, ['attempt']);
  expect(attempts).toMatchObject({ calls: { calls: 6, open: 6, answerRate: null }, attempt: [{ value: 1, calls: 6 }] });
  expect(attempts).not.toHaveProperty('hour');
});

test.from(beginOn, { rows: 2 })('a call that is corrected moves to its new place, one that was given back is none', async (scenario) => {
  unjudged();
  const [one = '', two = ''] = await scenario.dial(1);
  await scenario.settle(one, 'unreached', noon + minuteMs);
  expect(told((await reportOf(scenario)).disposition)).toEqual(['open: 1/0', 'unreached: 1/0']);
  await scenario.settle(one, 'answered', noon + minuteMs);
  await scenario.store.db.updateTable('attempts').set({ state: 'released' }).where('attempt_id', '=', two).execute();
  expect(told((await reportOf(scenario)).disposition)).toEqual(['answered: 1/1']);
});

test('attempts are the calls to a person, and a number that was refused is none of them', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: 3, rules: { pacing: { batchSize: 3 } } });
  await scenario.submit(1);
  // The batch is given back and sent in halves: two people, then one, who is refused.
  await scenario.verdict(1, 'refused', { status: 422 });
  await scenario.sweep(noon + hourMs);
  await scenario.dial(2, noon + hourMs);
  await scenario.submit(3, noon + hourMs);
  await scenario.verdict(3, 'refused', { status: 422, now: noon + hourMs });
  await scenario.sweep(noon + 2 * hourMs);
  expect((await scenario.attempts()).map(({ number, state, disposition }) => [number, state, disposition])).toEqual([
    [1, 'released', null],
    [1, 'released', null],
    [1, 'released', null],
    [2, 'open', null],
    [2, 'open', null],
    [2, 'settled', 'invalid_number'],
  ]);
  const report = await reportOf(scenario);
  expect(report.calls).toMatchObject({ calls: 2, open: 2 });
  expect(told(report.attempt)).toEqual(['1: 2/0']);
  expect(await readFunnel(scenario.store.db, await scenario.campaign())).toMatchObject({
    called: 2,
    notCalled: { undialable: 1 },
  });
});

const zonesOfTest = ['America/New_York', 'Europe/London', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/Phoenix'];

/** The zone's clock by another library than the program's. */
function hourOnTheWall(instant: number, timeZone: string): number {
  return Number(new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', hourCycle: 'h23' }).format(instant));
}

test.both('hours are those on the wall of the recipient, over changes of summer time as well', async (dialect) => {
  unjudged();
  const dispositions = ['answered', 'busy', 'no_answer', 'opted_out'] as const;
  const scenario = await beginOn(dialect, {
    rows: buildRows(numbers(zonesOfTest.length), () => 'Guest').map((row, index) => ({
      ...row,
      zones: [zonesOfTest[index] ?? ''],
    })),
  });
  // Every 37 minutes over the days on which a zone changes, 2030.
  const days = ['2030-03-10', '2030-03-31', '2030-04-07', '2030-10-06', '2030-10-27', '2030-11-03'];
  const dials = days.flatMap((day) => Array.from({ length: 39 }, (_, n) => Date.parse(day) + n * 37 * minuteMs));
  const calls = dials.flatMap((postedAt, n) =>
    zonesOfTest.map((zone, index) => ({
      zone, postedAt, index, n, disposition: dispositions[(n * 7 + index) % dispositions.length] ?? 'busy', durationMs: (n * 1_000) % 61_000,
    })),
  ); // prettier-ignore
  for (const call of calls) {
    const attemptId = `spring/${call.index + 1}/${call.n + 1}`;
    const own = { recipient_id: `spring/${call.index + 1}`, position: call.n, number: call.n + 1, e164: numbers(5)[call.index] ?? '' };
    const end = { state: 'settled' as const, planned_at: call.postedAt, posted_at: call.postedAt, disposition: call.disposition };
    await insertAttempt(scenario.store, { attempt_id: attemptId, ...own, ...end, settled_at: call.postedAt, counted: 1 });
    const facts = JSON.stringify(conversationRecord({ durationMs: call.durationMs }));
    await insertRecord(scenario.store, attemptId, { attempt_id: attemptId, facts, finished: 1, final: 1 });
  }
  const wanted = new Map<number, number[]>();
  for (const call of calls) {
    const hour = hourOnTheWall(call.postedAt, call.zone);
    const [count = 0, taken = 0, talkMs = 0] = wanted.get(hour) ?? [];
    const isTaken = call.disposition === 'answered' || call.disposition === 'opted_out';
    wanted.set(hour, [count + 1, taken + (isTaken ? 1 : 0), talkMs + call.durationMs]);
  }
  const { hour = [] } = await reportOf(scenario, ['hour']);
  expect(hour.map((line) => [line.value, [line.calls, line.answered, (line.talkSeconds ?? 0) * 1_000]])).toEqual(
    [...wanted].toSorted(([a], [b]) => a - b),
  );
  // The database hands over groups, not calls.
  expect(await groupCalls(scenario.store, 'spring', ['zone'])).toHaveLength(zonesOfTest.length * dispositions.length);
});

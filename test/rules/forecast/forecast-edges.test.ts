import { expect, test } from 'vitest';
import { forecast, type Course, type ForecastGroup, type ForecastInput } from '../../../src/rules/forecast/forecast.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** A Monday, 15:00 UTC: 10:00 in New York. */
const monday = Date.UTC(2026, 0, 5, 15);

function group(count: number, changes: Partial<ForecastGroup> = {}): ForecastGroup {
  return { count, calendars: [], zones: ['America/New_York'], notBefore: null, expiresAt: null, ...changes };
}

function course(changes: Partial<Course> = {}): Course {
  return {
    answerRate: 1,
    answeredMs: minuteMs,
    unansweredMs: minuteMs,
    retries: 0,
    retryAt: (_retry, endedAt) => endedAt + hourMs,
    ...changes,
  };
}

function ask(changes: Partial<ForecastInput>) {
  return forecast({
    groups: [group(1)],
    course: course(),
    at: monday,
    endsAt: null,
    marginMs: 10 * minuteMs,
    linesAt: () => 1,
    startsPerMinute: null,
    caps: [],
    ...changes,
  });
}

const hours = (from: number, to: number) => ({ mon: [{ from: from * 60, to: to * 60 }] });

test('a group without people is as good as none', () => {
  const nothing = { calls: 0, callMs: 0, neverCalled: 0, finishesAt: null, lastStartAt: null, endless: false };
  expect(ask({ groups: [] })).toMatchObject(nothing);
  expect(ask({ groups: [group(0), group(-1)] })).toMatchObject(nothing);
});

test('time on the line is told as it is, while the lines are reckoned in whole steps of five seconds', () => {
  const short = course({ answeredMs: 7 * secondMs, unansweredMs: 13 * secondMs });
  expect(ask({ groups: [group(2)], course: short })).toMatchObject({
    lastStartAt: monday + 10 * secondMs,
    finishesAt: monday + 20 * secondMs,
    callMs: 14 * secondMs,
  });
  expect(ask({ groups: [group(2)], course: { ...short, answerRate: 0 } })).toMatchObject({
    lastStartAt: monday + 15 * secondMs,
    finishesAt: monday + 30 * secondMs,
    callMs: 26 * secondMs,
  });
});

test.each([
  [5, 5, 31, 35],
  [20, 30, 31, 40],
  [60, 120, 31, 60],
  [60, 120, 60, 60],
])('with calls of %i and %i seconds a start due after %i seconds is reckoned at %i', (answered, not, due, expected) => {
  const times = course({ answeredMs: answered * secondMs, unansweredMs: not * secondMs });
  const later = group(1, { notBefore: monday + due * secondMs });
  expect(ask({ groups: [later], course: times }).lastStartAt).toBe(monday + expected * secondMs);
});

test('whoever might have been called before now is called now', () => {
  expect(ask({ groups: [group(1, { notBefore: monday - dayMs })] }).lastStartAt).toBe(monday);
});

test('calls that are answered and calls that are not hold their lines for their own time', () => {
  const mixed = course({ answerRate: 0.5, answeredMs: 3 * minuteMs });
  expect(ask({ groups: [group(2)], course: mixed, linesAt: () => 2 })).toMatchObject({
    calls: 2,
    callMs: 4 * minuteMs,
    finishesAt: monday + 3 * minuteMs,
  });
});

test('parts of a person add up, however few are called at a time', () => {
  const third = course({ answerRate: 1 / 3, retries: 1 });
  // Of nine people three are answered, and of the six others two at their second call.
  expect(ask({ groups: [group(9)], course: third }).calls).toBe(15);
  expect(ask({ groups: [group(9)], course: third, linesAt: () => 9 }).calls).toBe(15);
});

test('the last first attempt is told apart from the last attempt', () => {
  const failing = course({ answerRate: 0, retries: 1 });
  expect(ask({ groups: [group(2)], course: failing })).toMatchObject({
    lastFirstStartAt: monday + minuteMs,
    lastStartAt: monday + hourMs + 2 * minuteMs,
    finishesAt: monday + hourMs + 3 * minuteMs,
  });
});

test('the earlier of the end of the campaign and the end of the people counts', () => {
  const early = monday + 10 * minuteMs + 1;
  const late = monday + dayMs;
  const lost = { calls: 1, neverCalled: 2, lastStartAt: monday };
  expect(ask({ groups: [group(3, { expiresAt: early })], endsAt: late })).toMatchObject(lost);
  expect(ask({ groups: [group(3, { expiresAt: late })], endsAt: early })).toMatchObject(lost);
  expect(ask({ groups: [group(3)], endsAt: early })).toMatchObject(lost);
});

test('a further attempt that comes after the end is told as cut short', () => {
  const failing = course({ answerRate: 0, retries: 1 });
  expect(ask({ groups: [group(2)], course: failing, linesAt: () => 2, endsAt: monday + hourMs })).toMatchObject({
    calls: 2,
    neverCalled: 0,
    cutShort: 2,
  });
});

test('further attempts go before first ones', () => {
  const failing = course({ answerRate: 0, retries: 1, retryAt: (_retry, endedAt) => endedAt });
  // One line: first, again, second, again, …
  expect(ask({ groups: [group(3)], course: failing, endsAt: monday + 14 * minuteMs })).toMatchObject({
    calls: 4,
    neverCalled: 1,
    cutShort: 0,
    lastFirstStartAt: monday + 2 * minuteMs,
    lastStartAt: monday + 3 * minuteMs,
  });
});

test('of further attempts the one that is due first goes first, and of two at once that of the one called first', () => {
  const delays = new Map([
    [monday + minuteMs, 20 * minuteMs],
    [monday + 2 * minuteMs, 2 * minuteMs],
  ]);
  const seen: number[] = [];
  const uneven = course({
    answerRate: 0,
    retries: 1,
    retryAt: (_retry, endedAt) => {
      seen.push(endedAt);
      return endedAt + (delays.get(endedAt) ?? 0);
    },
  });
  expect(ask({ groups: [group(2)], course: uneven }).lastStartAt).toBe(monday + 21 * minuteMs);
  expect(seen).toEqual([monday + minuteMs, monday + 2 * minuteMs]);
});

test('who waits for a further attempt when the end comes is told as cut short', () => {
  const again = monday + 30 * minuteMs;
  const failing = course({ answerRate: 0, retries: 1, retryAt: () => again });
  const paced = { groups: [group(2)], course: failing, linesAt: () => 2, startsPerMinute: 1 };
  expect(ask({ ...paced, endsAt: again + 10 * minuteMs + 30 * secondMs })).toMatchObject({ calls: 3, cutShort: 1 });
  expect(ask({ ...paced, endsAt: again + 12 * minuteMs })).toMatchObject({ calls: 4, cutShort: 0 });
});

test('people who were called at once may be called again one at a time', () => {
  const again = monday + 30 * minuteMs;
  const failing = course({ answerRate: 0, retries: 1, retryAt: () => again });
  const linesAt = (since: number) => (since < minuteMs ? 3 : 1);
  expect(ask({ groups: [group(3)], course: failing, linesAt })).toMatchObject({
    calls: 6,
    lastFirstStartAt: monday,
    lastStartAt: again + 2 * minuteMs,
  });
});

test('while lines are added the campaign waits for the first of them', () => {
  const idle = { linesAt: (since: number) => (since < 2 * minuteMs ? 0 : 1) };
  expect(ask(idle)).toMatchObject({ calls: 1, lastStartAt: monday + 2 * minuteMs });
});

test('a line that is added is used before one that is in use becomes free', () => {
  const long = course({ answeredMs: 10 * minuteMs, unansweredMs: 10 * minuteMs });
  const linesAt = (since: number) => (since < 3 * minuteMs ? 1 : 2);
  expect(ask({ groups: [group(2)], course: long, linesAt }).lastStartAt).toBe(monday + 3 * minuteMs);
});

test('both limits hold: lines in use and starts in a minute', () => {
  const quick = course({ answeredMs: 20 * secondMs, unansweredMs: 20 * secondMs });
  // Two lines would do six starts a minute, the limit is five.
  expect(ask({ groups: [group(10)], course: quick, linesAt: () => 2, startsPerMinute: 5 })).toMatchObject({
    lastStartAt: monday + 100 * secondMs,
  });
  expect(ask({ groups: [group(10)], course: quick, linesAt: () => 2, startsPerMinute: 6 })).toMatchObject({
    lastStartAt: monday + 80 * secondMs,
  });
});

test('groups are called in turn by their size, so that none is left to the end', () => {
  // Sixteen people, four lines, four minutes.
  const small = group(4, { expiresAt: monday + 14 * minuteMs });
  const large = group(12, { expiresAt: monday + 14 * minuteMs });
  // With only two minutes for the small group, one or two of its four people are left out, whichever comes first in the list.
  const brief = { ...small, expiresAt: monday + 12 * minuteMs };
  for (const order of [<T>(groups: T[]) => groups, <T>(groups: T[]) => groups.toReversed()]) {
    expect(ask({ groups: order([small, large]), linesAt: () => 4 })).toMatchObject({ calls: 16, neverCalled: 0 });
    const { calls, neverCalled } = ask({ groups: order([brief, large]), linesAt: () => 4 });
    expect([14, 15]).toContain(calls);
    expect(neverCalled).toBe(16 - calls);
  }
});

test('a window that closes while people wait for a line holds them until it opens', () => {
  // Open from 10:00 to 11:00 and on the next Monday: six calls of ten minutes would fit, less the margin.
  const calendars = [{ hours: hours(10, 11), closedOn: [] }];
  const long = course({ answeredMs: 10 * minuteMs, unansweredMs: 10 * minuteMs });
  expect(ask({ groups: [group(6, { calendars })], course: long })).toMatchObject({
    calls: 6,
    lastStartAt: monday + 7 * dayMs,
    neverCalled: 0,
  });
  // The one who waits longest for a further attempt too.
  const failing = { ...long, answerRate: 0, retries: 1, retryAt: (_: number, endedAt: number) => endedAt };
  expect(ask({ groups: [group(3, { calendars })], course: failing })).toMatchObject({
    calls: 6,
    lastStartAt: monday + 7 * dayMs,
    cutShort: 0,
  });
});

test('a holiday that is weeks ahead holds up a campaign that lasts so long', () => {
  const calendars = [{ hours: null, closedOn: ['2026-01-25'] }];
  const hourly = course({ answeredMs: hourMs, unansweredMs: hourMs });
  const people = 21 * 24;
  expect(ask({ groups: [group(people)], course: hourly }).finishesAt).toBe(monday + 21 * dayMs);
  expect(ask({ groups: [group(people, { calendars })], course: hourly }).finishesAt).toBe(monday + 22 * dayMs);
});

test('a campaign of exactly a year has an end', () => {
  const daily = course({ answeredMs: dayMs, unansweredMs: dayMs });
  expect(ask({ groups: [group(367)], course: daily })).toMatchObject({
    endless: false,
    calls: 367,
    lastStartAt: monday + 366 * dayMs,
  });
  expect(ask({ groups: [group(368)], course: daily })).toMatchObject({ endless: true, finishesAt: null });
});

test('a call does not count as a talk for the caps, and without caps nothing is remembered', () => {
  const failing = course({ answerRate: 0, retries: 2, retryAt: (_retry, endedAt) => endedAt + minuteMs });
  const caps = [
    { by: 'person' as const, calls: 1, withinMs: 2 * hourMs },
    { by: 'number' as const, afterTalkMs: 7 * dayMs },
  ];
  expect(ask({ course: failing, caps }).lastStartAt).toBe(monday + 4 * hourMs);
  expect(ask({ course: failing }).lastStartAt).toBe(monday + 4 * minuteMs);
});

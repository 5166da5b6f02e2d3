import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CallAssumptions, forecast, type ForecastGroup, type ForecastInput } from '../../../src/rules/forecast/forecast.ts';
import { WordsCounter, type WordsForecast } from '../../../src/rules/forecast/words-forecast.ts';
import { windowAt } from '../../../src/rules/hours/calling-window.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
/** A Monday, 15:00 UTC: 10:00 in New York, 07:00 in Los Angeles. */
const monday = Date.UTC(2026, 0, 5, 15);
const officeHours = {
  hours: { mon: [{ from: 9 * 60, to: 17 * 60 }], tue: [{ from: 9 * 60, to: 17 * 60 }] },
  closedOn: [],
};

function group(count: number, changes: Partial<ForecastGroup> = {}): ForecastGroup {
  return { count, calendars: [], zones: ['America/New_York'], notBefore: null, expiresAt: null, ...changes };
}

function course(changes: Partial<CallAssumptions> = {}): CallAssumptions {
  return {
    answerRate: 1,
    answeredMs: minuteMs,
    unansweredMs: minuteMs,
    retries: 0,
    retryAt: (_retry, endedAt) => endedAt + hourMs,
    ...changes,
  };
}

const perMinute = (most: number | null) => (most === null ? [] : [{ most, withinMs: minuteMs }]);

function input(changes: Partial<ForecastInput> = {}): ForecastInput {
  return {
    groups: [group(10)],
    course: course(),
    at: monday,
    endsAt: null,
    marginMs: 10 * minuteMs,
    linesAt: () => 2,
    startLimits: [],
    caps: [],
    ...changes,
  };
}

test('ten calls of a minute over two lines take five minutes', () => {
  expect(forecast(input())).toEqual({
    finishesAt: monday + 5 * minuteMs,
    lastFirstStartAt: monday + 4 * minuteMs,
    lastStartAt: monday + 4 * minuteMs,
    calls: 10,
    callMs: 10 * minuteMs,
    neverCalled: 0,
    cutShort: 0,
    endless: false,
  });
});

test('limits of starts hold in any stretch of their length, and are waited for with no call on the line', () => {
  const short = course({ answeredMs: 10 * secondMs, unansweredMs: 10 * secondMs });
  const startLimits = [
    { most: 3, withinMs: hourMs },
    { most: 5, withinMs: 24 * hourMs },
  ];
  const result = forecast(input({ course: short, linesAt: () => 100, startLimits }));
  // Three at once, two an hour later, and five on the next day: again three and two.
  expect(result).toMatchObject({ calls: 10, lastStartAt: monday + 25 * hourMs, endless: false });
});

test('people wait for their window, and the last part of it is left out', () => {
  const west = group(1, { calendars: [officeHours], zones: ['America/Los_Angeles'] });
  expect(forecast(input({ groups: [west] })).lastStartAt).toBe(monday + 2 * hourMs);
  // Two lines and 25 minutes a call: two calls in each 25 minutes until 16:50 in New York, the rest on Tuesday.
  const east = group(40, { calendars: [officeHours] });
  const long = course({ answeredMs: 25 * minuteMs, unansweredMs: 25 * minuteMs });
  const tuesday = Date.UTC(2026, 0, 6, 14);
  expect(forecast(input({ groups: [east], course: long })).lastFirstStartAt).toBe(tuesday + 50 * minuteMs);
});

test('with few lines at first the campaign takes longer', () => {
  const warming = input({ groups: [group(100)], linesAt: (since) => Math.min(10, 1 + Math.floor(since / minuteMs)) });
  const warm = { ...warming, linesAt: () => 10 };
  // 1 + 2 + … + 10 = 55 calls in ten minutes, then ten a minute.
  expect(forecast(warming).finishesAt).toBe(monday + 15 * minuteMs);
  expect(forecast(warm).finishesAt).toBe(monday + 10 * minuteMs);
});

test('100,000 recipients of a hundred places are simulated within the time a person waits', () => {
  const zones = ['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles'];
  const groups = Array.from({ length: 100 }, (_, index) =>
    group(1000, { calendars: [officeHours], zones: [zones[index % zones.length] ?? ''] }),
  );
  const result = forecast(input({ groups, linesAt: () => 50, course: course({ answerRate: 0.35, answeredMs: 90_000, retries: 2 }) }));
  expect(result.neverCalled + result.cutShort).toBe(0);
  expect(result.calls).toBeGreaterThan(200_000);
});

/** One person at a time, every five seconds: slow, and too simple to be wrong in the same way. */
function bruteForce(given: ForecastInput) {
  const { at, endsAt, marginMs, course: plan, linesAt } = given;
  const people = given.groups.flatMap((of) =>
    Array.from({ length: of.count }, () => ({ of, attempts: 0, dueAt: Math.max(at, of.notBefore ?? at), over: false })),
  );
  const result = { calls: 0, neverCalled: 0, cutShort: 0, finishesAt: null as number | null };
  const starts: { at: number; endsAt: number }[] = [];
  for (let now = at; people.some(({ over }) => !over); now += 5 * secondMs) {
    const due = people
      .filter((person) => !person.over && person.dueAt <= now)
      .sort((a, b) => Number(b.attempts > 0) - Number(a.attempts > 0) || a.dueAt - b.dueAt);
    for (const person of due) {
      const end = Math.min(endsAt ?? Infinity, person.of.expiresAt ?? Infinity);
      const window = windowAt({
        calendars: person.of.calendars,
        zones: person.of.zones,
        at: now,
        marginMs,
        endsAt: Number.isFinite(end) ? end : null,
      });
      if (!window.open && window.opensAt === null) {
        person.over = true;
        if (person.attempts === 0) result.neverCalled += 1;
        else result.cutShort += 1;
      }
      if (!window.open && window.opensAt !== null) person.dueAt = window.opensAt;
      const onLine = starts.filter((call) => call.endsAt > now).length;
      const isFull = given.startLimits.some(({ most, withinMs }) => starts.filter((call) => call.at > now - withinMs).length >= most);
      if (!window.open || onLine >= linesAt(now - at) || isFull) continue;
      const call = { at: now, endsAt: now + plan.unansweredMs };
      starts.push(call);
      result.calls += 1;
      result.finishesAt = Math.max(result.finishesAt ?? 0, call.endsAt);
      person.over = person.attempts >= plan.retries;
      person.attempts += 1;
      person.dueAt = plan.retryAt(person.attempts, call.endsAt, person.of.zones);
    }
  }
  return result;
}

test('the forecast agrees with a simulation of each single recipient', () => {
  const drawn = fc.record({
    count: fc.integer({ min: 1, max: 12 }),
    lines: fc.integer({ min: 1, max: 4 }),
    startsPerMinute: fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }),
    startLimits: fc.constantFrom(
      [],
      [{ most: 2, withinMs: 5 * minuteMs }],
      [
        { most: 1, withinMs: 90 * secondMs },
        { most: 4, withinMs: 20 * minuteMs },
      ],
    ),
    callSteps: fc.integer({ min: 1, max: 12 }),
    retries: fc.integer({ min: 0, max: 2 }),
    delaySteps: fc.integer({ min: 1, max: 60 }),
    // From a little before the window closes at 17:00 in New York.
    beforeCloseSteps: fc.integer({ min: 0, max: 100 }),
    hours: fc.boolean(),
    endsAfterSteps: fc.option(fc.integer({ min: 0, max: 200 }), { nil: null }),
    expiresAfterSteps: fc.option(fc.integer({ min: 0, max: 200 }), { nil: null }),
    notBeforeSteps: fc.option(fc.integer({ min: 0, max: 50 }), { nil: null }),
  });
  fc.assert(
    fc.property(drawn, (draw) => {
      const step = 5 * secondMs;
      const marginMs = 2 * minuteMs;
      const at = monday + 7 * hourMs - marginMs - draw.beforeCloseSteps * step;
      const after = (steps: number | null) => (steps === null ? null : at + marginMs + steps * step);
      const given = input({
        at,
        marginMs,
        groups: [
          group(draw.count, {
            // Open again in the evening, so that the brute force does not have to wait for the next day.
            calendars: draw.hours
              ? [
                  {
                    hours: {
                      mon: [
                        { from: 540, to: 1020 },
                        { from: 1030, to: 1439 },
                      ],
                    },
                    closedOn: [],
                  },
                ]
              : [],
            expiresAt: after(draw.expiresAfterSteps),
            notBefore: draw.notBeforeSteps === null ? null : at + draw.notBeforeSteps * step,
          }),
        ],
        course: course({
          answerRate: 0,
          // Nobody answers; the shortest call sets the grain.
          answeredMs: step,
          unansweredMs: draw.callSteps * step,
          retries: draw.retries,
          retryAt: (_retry, endedAt) => endedAt + draw.delaySteps * step,
        }),
        linesAt: () => draw.lines,
        startLimits: [...perMinute(draw.startsPerMinute), ...draw.startLimits],
        endsAt: after(draw.endsAfterSteps),
      });
      const { calls, neverCalled, cutShort, finishesAt } = forecast(given);
      expect({ calls, neverCalled, cutShort, finishesAt }).toEqual(bruteForce(given));
    }),
    { seed: 7, numRuns: 300 },
  );
});

const dayMs = 24 * hourMs;

/** One recipient and one line, unless a test says otherwise. */
const ask = (changes: Partial<ForecastInput>) => forecast(input({ groups: [group(1)], linesAt: () => 1, ...changes }));

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

function count(lines: readonly string[], columns: readonly string[] = [], cells: readonly string[][] = []): WordsForecast {
  const counter = new WordsCounter(columns.map((name, index) => ({ name, index })));
  lines.forEach((line, row) => counter.add(line, cells[row] ?? []));
  return counter.report();
}

test('lines that one says alike are shared, and each set is called one at a time', () => {
  const lines = [
    'Hello Ana, a reminder.',
    'hello "ANA" a reminder',
    'Hello Ben, a reminder.',
    'Hello Anna-Lea, a reminder.',
    'Hello Anna Lea a reminder!',
  ];
  expect(count(lines)).toMatchObject({
    rows: 5,
    shared: 4,
    groups: 3,
    largest: 2,
    sizes: [{ rows: 2, groups: 2 }],
    begun: 0,
  });
});

test('a line that goes on where another one of three words ends is of its set, in whatever order they stand', () => {
  const [short, long, longer] = ['Hello dear Ana', 'Hello, dear Ana Maria', 'Hello dear Ana Maria Sol'] as const;
  for (const lines of [
    [short, long, longer],
    [longer, long, short],
    [long, longer, short],
  ])
    expect(count(lines)).toMatchObject({ shared: 3, groups: 1, largest: 3, begun: 2, begunExample: { short } });
  expect(count(['Hello Ana', 'Hello Ana Maria'])).toMatchObject({ shared: 0, groups: 2, begun: 0 });
});

test('the column that leaves the fewest rows with a shared line is named, and none when none helps', () => {
  const line = 'Hello Ana, a reminder.';
  const cells = [
    ['Diaz', 'x', '9:00'],
    ['Diaz', 'x', '9:30'],
    ['Ruiz', 'x', '9:30'],
    ['Sol', 'x', '9:30'],
  ];
  const columns = ['last_name', 'same', 'time'];
  expect(count([line, line, line, line], columns, cells).column).toEqual({ name: 'last_name', left: 2, looked: 4 });
  expect(
    count(
      [line, line],
      ['same'],
      cells.map(([, same = '']) => [same]),
    ).column,
  ).toBe(null);
  expect(count(['Hello dear Ana', 'Hello dear Ben'], columns, cells).column).toBe(null);
});

test('sets and shared rows are those that comparing every line with every other one finds', () => {
  const words = fc.array(fc.constantFrom('ana', 'Ben,', '"ben"', 'sol', 'lea'), { minLength: 1, maxLength: 6 });
  const plain = (line: string) => line.toLowerCase().replaceAll(/[^a-z ]/g, '');
  const together = (left: string, right: string): boolean => {
    const [short = '', long = ''] = [plain(left), plain(right)].sort((a, b) => a.length - b.length);
    return short === long || (short.split(' ').length >= 3 && long.startsWith(`${short} `));
  };
  fc.assert(
    fc.property(fc.array(words, { maxLength: 25 }), (drawn) => {
      const lines = drawn.map((line) => line.join(' '));
      const sets: string[][] = [];
      for (const line of lines) {
        const joined = sets.filter((set) => set.some((other) => together(line, other)));
        for (const set of joined) sets.splice(sets.indexOf(set), 1);
        sets.push([line, ...joined.flat()]);
      }
      const shared = sets.filter(({ length }) => length > 1).flat().length;
      expect(count(lines)).toMatchObject({ rows: lines.length, groups: sets.length, shared });
    }),
    { seed: 7, numRuns: 300 },
  );
});

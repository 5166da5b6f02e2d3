import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { windowAt } from '../../../src/rules/hours/calling-window.ts';
import { forecast, type Course, type ForecastGroup, type ForecastInput } from '../../../src/rules/forecast/forecast.ts';

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

function input(changes: Partial<ForecastInput> = {}): ForecastInput {
  return {
    groups: [group(10)],
    course: course(),
    at: monday,
    endsAt: null,
    marginMs: 10 * minuteMs,
    linesAt: () => 2,
    startsPerMinute: null,
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

test('a limit of starts per minute holds in any 60 seconds', () => {
  const short = course({ answeredMs: 10 * secondMs, unansweredMs: 10 * secondMs });
  const result = forecast(input({ course: short, linesAt: () => 100, startsPerMinute: 4 }));
  expect(result.lastStartAt).toBe(monday + 2 * minuteMs);
});

test('every attempt that fails is followed by the next after its delay', () => {
  const failing = course({ answerRate: 0, retries: 2, retryAt: (retry, endedAt) => endedAt + retry * hourMs });
  const result = forecast(input({ groups: [group(1)], course: failing }));
  // One minute, an hour, one minute, two hours, one minute.
  expect(result).toMatchObject({ calls: 3, finishesAt: monday + 3 * hourMs + 3 * minuteMs });
});

test('the part that is answered is not called again', () => {
  const result = forecast(input({ groups: [group(1000)], linesAt: () => 100, course: course({ answerRate: 0.25, retries: 1 }) }));
  expect(result.calls).toBe(1750);
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

test('who is not to be called yet waits; whose own end or whose window never comes is counted', () => {
  const later = group(1, { notBefore: monday + 3 * hourMs });
  expect(forecast(input({ groups: [later] })).lastStartAt).toBe(monday + 3 * hourMs);
  const expiring = group(5, { expiresAt: monday + 11.5 * minuteMs });
  // Two calls each at 0 and 1 minutes; from 1.5 minutes on the margin is no longer left.
  expect(forecast(input({ groups: [expiring] }))).toMatchObject({ calls: 4, neverCalled: 1, cutShort: 0 });
  const never = group(3, { calendars: [{ hours: {}, closedOn: [] }] });
  expect(forecast(input({ groups: [never] }))).toMatchObject({ calls: 0, neverCalled: 3, finishesAt: null });
});

test('at the end first attempts and further ones are lost apart from each other', () => {
  const failing = course({ answerRate: 0, retries: 1, retryAt: (_retry, endedAt) => endedAt + 5 * minuteMs });
  // The last start is before 12 minutes: calls at 0, 1, …; the retries come at 6 and take the lines over.
  const result = forecast(input({ groups: [group(30)], course: failing, endsAt: monday + 22 * minuteMs }));
  expect(result).toEqual(expect.objectContaining({ calls: 24, neverCalled: 18, cutShort: 0 }));
});

test('retries keep the frequency caps', () => {
  const failing = course({ answerRate: 0, retries: 2, retryAt: (_retry, endedAt) => endedAt + hourMs });
  const caps = [{ by: 'number' as const, calls: 2, withinMs: 24 * hourMs }];
  const result = forecast(input({ groups: [group(1)], course: failing, caps }));
  expect(result).toMatchObject({ calls: 3, lastStartAt: monday + 24 * hourMs });
});

test('with few lines at first the campaign takes longer', () => {
  const warming = input({ groups: [group(100)], linesAt: (since) => Math.min(10, 1 + Math.floor(since / minuteMs)) });
  const warm = { ...warming, linesAt: () => 10 };
  // 1 + 2 + … + 10 = 55 calls in ten minutes, then ten a minute.
  expect(forecast(warming).finishesAt).toBe(monday + 15 * minuteMs);
  expect(forecast(warm).finishesAt).toBe(monday + 10 * minuteMs);
});

test('what would take longer than a year is said to be endless', () => {
  const result = forecast(input({ groups: [group(20_000)], linesAt: () => 1, course: course({ answeredMs: hourMs }) }));
  expect(result).toMatchObject({ endless: true, finishesAt: null });
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
  const { at, endsAt, marginMs, course: plan, startsPerMinute, linesAt } = given;
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
      const lately = starts.filter((call) => call.at > now - minuteMs).length;
      if (!window.open || onLine >= linesAt(now - at) || lately >= (startsPerMinute ?? Infinity)) continue;
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

test('it agrees with a simulation of each single person', () => {
  const drawn = fc.record({
    count: fc.integer({ min: 1, max: 12 }),
    lines: fc.integer({ min: 1, max: 4 }),
    startsPerMinute: fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }),
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
        startsPerMinute: draw.startsPerMinute,
        endsAt: after(draw.endsAfterSteps),
      });
      const { calls, neverCalled, cutShort, finishesAt } = forecast(given);
      expect({ calls, neverCalled, cutShort, finishesAt }).toEqual(bruteForce(given));
    }),
    { seed: 7, numRuns: 300 },
  );
});

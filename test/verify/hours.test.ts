import { expect, test } from 'vitest';
import { windowAt } from '../../src/rules/hours/calling-window.ts';
import { retryAt } from '../../src/rules/attempts/retry-delay.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { judgeHours } from '../../src/verify/judge-call.ts';
import { readJudgedRules } from '../../src/verify/judged-rules.ts';
import { localTime, nextMidnight } from '../../src/verify/local-time.ts';
import { buildRules, hourMs, minuteMs } from '../support/campaign-rules.ts';

const zones = [
  'America/New_York', 'America/Phoenix', 'America/St_Johns', 'Europe/London', 'Asia/Kolkata', 'Asia/Kathmandu',
  'Australia/Lord_Howe', 'Pacific/Chatham', 'Pacific/Kiritimati', 'America/Havana', 'Africa/Cairo',
] as const; // prettier-ignore
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

test('the judge finds each value that it holds a campaign to in the rules as they are frozen; garbage holds nobody', () => {
  const rules = buildRules({
    startsAt: 1,
    endsAt: 2,
    preDial: { url: 'https://hooks.example.com', timeoutMs: 5 },
    caps: [{ by: 'person', calls: 2, withinMs: hourMs }],
    dispositions: [{ pointer: '/a', equals: [1], disposition: 'busy' }],
    retry: { maxAttemptsPerNumber: 4, resetAfterMs: hourMs },
    pacing: { startsPerMinute: 7 },
  });
  const judged = readJudgedRules(rules);
  expect(rules).toMatchObject(judged);
  expect(judged).toMatchObject({ retry: { maxAttempts: 3 }, pacing: { maxConcurrentCalls: 50, startsPerMinute: 7 } });
  const garbage = { ...rules, retry: { maxAttempts: 'three' }, pacing: null, timing: [], law: {}, calendar: 'any' };
  expect(readJudgedRules(garbage)).toMatchObject({
    retry: { maxAttempts: Infinity, maxAttemptsPerNumber: null, delays: {} },
    pacing: { maxConcurrentCalls: Infinity },
    timing: { dispatchMarginMs: 0 },
    law: [],
    calendar: { hours: null, closedOn: [] },
  });
});

test.each<[string, string, string]>([
  ['America/New_York', '2030-03-10T06:59:59Z', '2030-03-10 sun 01:59'],
  ['America/New_York', '2030-03-10T07:00:00Z', '2030-03-10 sun 03:00'],
  ['America/New_York', '2030-11-03T06:00:00Z', '2030-11-03 sun 01:00'],
  ['Asia/Kathmandu', '2030-01-01T18:15:00Z', '2030-01-02 wed 00:00'],
])('a clock in %s at %s shows %s', (zone, at, expected) => {
  const { date, weekday, minute } = localTime(zone, Date.parse(at)) ?? { date: '', weekday: '', minute: -1 };
  const two = (number: number) => String(number).padStart(2, '0');
  expect(`${date} ${weekday} ${two(Math.floor(minute / 60))}:${two(minute % 60)}`).toBe(expected);
});

test('there is no time in a zone that does not exist', () => {
  expect(localTime('Mars/Olympus', 0)).toBeNull();
  expect(nextMidnight('Mars/Olympus', 0)).toBeNull();
});

test('hours that are reckoned minute by minute are those that the dialler reckons by stretches, clock changes included', () => {
  const random = new Random('hours', '1');
  const seen = { open: 0, closed: 0 };
  for (let look = 0; look < 3_000; look += 1) {
    const from = Math.floor(random.between(0, 20)) * 60 + random.pick([0, 15, 30]);
    const to = Math.min(1440, from + Math.ceil(random.between(30, 900)));
    const hours = Object.fromEntries(weekdays.filter(() => random.chance(0.8)).map((day) => [day, [{ from, to }]]));
    const marginMs = random.pick([0, minuteMs, 10 * minuteMs, hourMs]);
    const eves = { dates: ['2030-03-09', '2030-11-02', '2030-07-01'], windows: [{ from: 600, to: 1140 }] };
    const calendar = { hours, closedOn: random.chance(0.3) ? ['2030-03-10', '2030-11-03', '2030-03-31'] : [] };
    const where = [random.pick(zones), random.pick(zones)].slice(0, random.chance(0.3) ? 2 : 1);
    // Around the changes of the clocks of that year, most of the time.
    const around = random.pick([Date.UTC(2030, 2, 10, 7), Date.UTC(2030, 10, 3, 6), Date.UTC(2030, 2, 31, 1), Date.UTC(2030, 6, 1)]);
    const at = Math.round(around + random.between(-36, 36) * hourMs);
    const named = { id: 'mine', country: 'US', region: null, from: null, until: null, caps: [], source: 'test' };
    const law = random.chance(0.3) ? [{ ...named, ...calendar, eves }] : [];
    const rules = buildRules({ calendar, law, timing: { dispatchMarginMs: marginMs } });
    const calendars = [calendar, ...law];
    const dialler = windowAt({ calendars, zones: where, at, marginMs, endsAt: null }).open;
    const event = {
      seq: 1,
      campaignId: 'spring',
      type: 'attempt.posted' as const,
      at,
      data: { zones: where, country: 'US' },
    };
    const why = judgeHours(readJudgedRules(rules), event);
    expect(why === null, JSON.stringify({ at: new Date(at), where, calendars, marginMs, why })).toBe(dialler);
    seen[dialler ? 'open' : 'closed'] += 1;
  }
  expect(Math.min(seen.open, seen.closed)).toBeGreaterThan(500);
});

test('the next morning is where the dialler has it, clock changes included', () => {
  for (const zone of zones)
    for (let at = Date.UTC(2030, 0, 1, 0, 7); at < Date.UTC(2031, 0, 1); at += 11 * hourMs) {
      const dialler = retryAt({ delays: ['next_day'], nth: 1, from: at, zones: [zone], jitterMs: 0, key: '' }) ?? 0;
      const earlierMs = dialler - (nextMidnight(zone, at) ?? 0);
      // In Havana midnight comes twice in a year; the first may do.
      expect([zone, at, earlierMs]).toEqual([zone, at, earlierMs === hourMs && zone === 'America/Havana' ? hourMs : 0]);
    }
});

test('a call to a country without a rule is judged by the hours for such countries, and by none where the file says so', () => {
  const day = [{ from: 9 * 60, to: 20 * 60 }];
  const hours = { mon: day, tue: day, wed: day, thu: day, fri: day };
  const rule = { region: null, closedOn: [], from: null, until: null, caps: [], source: 'test' };
  const elsewhere = { ...rule, id: 'elsewhere', country: '*', hours };
  const whole = Object.fromEntries(weekdays.map((weekday) => [weekday, [{ from: 0, to: 1440 }]]));
  const none = { ...rule, id: 'none-BR', country: 'BR', hours: whole };
  const judge = (law: object[], at: string): string | null =>
    judgeHours(readJudgedRules({ ...buildRules(), law }), {
      seq: 1,
      campaignId: 'spring',
      type: 'attempt.posted',
      at: Date.parse(at),
      data: { zones: ['America/Sao_Paulo'], country: 'BR' },
    });
  const [noon, sunday] = ['2026-11-23T15:00:00Z', '2026-11-22T15:00:00Z'];
  expect(judge([elsewhere], noon)).toBeNull();
  expect(judge([elsewhere], sunday)).toMatch(/when it must not be/);
  expect(judge([elsewhere, none], sunday)).toBeNull();
  expect(judge([], sunday)).toBeNull();
});

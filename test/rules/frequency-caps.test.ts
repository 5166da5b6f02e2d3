import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { callsAllowedAt, capsFor } from '../../src/rules/attempts/legal-caps.ts';
import type { LegalCap, LegalHours } from '../../src/rules/campaign-rules.ts';
import { capsAllowAt, capsLookBackMs, type FrequencyCap, type PlacedCall } from '../../src/rules/frequency-caps.ts';
import type { RecipientPlace } from '../../src/rules/hours/legal-hours.ts';

const hour = 3_600_000;
const day = 24 * hour;
const threeADay: FrequencyCap = { by: 'number', calls: 3, withinMs: day };
const sevenAWeek: FrequencyCap = { by: 'person', calls: 7, withinMs: 7 * day };
const weekAfterTalk: FrequencyCap = { by: 'number', afterTalkMs: 7 * day };

function placed(...ats: number[]): PlacedCall[] {
  return ats.map((at) => ({ at, talked: false }));
}

test.each<[string, FrequencyCap[], PlacedCall[], PlacedCall[], number]>(
  // prettier-ignore
  [
    ['fewer calls than the cap', [threeADay], placed(10 * day - 1, 10 * day - 2), [], 10 * day],
    ['calls told in any order', [threeADay], placed(9.7 * day, 9.5 * day, 9.8 * day, 9.6 * day), [], 10.6 * day],
    ['calls that have just left the window', [threeADay], placed(9 * day, 9.6 * day, 9.7 * day), [], 10 * day],
    ['the later of several caps', [threeADay, { ...sevenAWeek, calls: 1 }], placed(9.5 * day), placed(9.5 * day), 16.5 * day],
    ['a talk', [weekAfterTalk], [{ at: 9 * day, talked: true }], [], 16 * day],
  ],
)('after %s the next call may come then', (_, caps, number, person, expected) => {
  expect(capsAllowAt(caps, { number, person }, 10 * day)).toBe(expected);
});

test('how far back calls matter is the longest of the caps', () => {
  expect(capsLookBackMs([threeADay, sevenAWeek])).toBe(7 * day);
  expect(capsLookBackMs([threeADay, weekAfterTalk])).toBe(7 * day);
  expect(capsLookBackMs([])).toBe(0);
});

/** Noon of a day in UTC. */
const now = Date.UTC(2026, 5, 15, 12);

function law(region: string | null, caps: readonly [calls: number, withinMs: number][], dates: Partial<LegalHours> = {}) {
  return {
    id: `us-${region}`,
    country: 'US',
    region,
    hours: null,
    closedOn: [],
    from: null,
    until: null,
    source: 'test',
    caps: caps.map(([calls, withinMs]): LegalCap => ({ by: 'number', calls, withinMs })),
    ...dates,
  };
}

const placedAt = (...ats: number[]): PlacedCall[] => ats.map((at) => ({ at, talked: false }));
const threeCalls = { number: placedAt(now - 3 * hour, now - 2 * hour, now - hour), person: [] };
const rules = {
  caps: [],
  law: [law('FL', [[3, day]]), law('OK', [[2, day]]), law('GA', []), law('NY', [[3, 2 * day]])],
};

test.each<[RecipientPlace, number]>([
  [{ country: 'US', regions: ['FL'] }, 21 * hour],
  [{ country: 'US', regions: ['GA'] }, 0],
  // Of several states that are possible the strictest holds, and of an unknown one that of all.
  [{ country: 'US', regions: ['GA', 'FL'] }, 21 * hour],
  [{ country: 'US', regions: null }, 45 * hour],
  [{ country: 'PR', regions: null }, 0],
  [{ country: null, regions: null }, 0],
])('after three calls the law lets somebody in %o be called again in %d ms', (place, wait) => {
  expect(callsAllowedAt(rules, place, threeCalls, now)).toBe(now + wait);
});

test('caps of the campaign hold as well, and the later of both decides', () => {
  const place = { country: 'US', regions: ['FL'] };
  const own: FrequencyCap = { by: 'number', calls: 1, withinMs: hour + 1 };
  const strict: FrequencyCap = { by: 'person', calls: 1, withinMs: 30 * hour };
  const calls = { number: threeCalls.number, person: placedAt(now - hour) };
  expect(callsAllowedAt({ ...rules, caps: [own] }, place, calls, now)).toBe(now + 21 * hour);
  expect(callsAllowedAt({ ...rules, caps: [own] }, { country: 'GB', regions: null }, calls, now)).toBe(now + 1);
  expect(callsAllowedAt({ ...rules, caps: [own, strict] }, place, calls, now)).toBe(now + 29 * hour);
  expect(capsFor({ ...rules, caps: [own] }, place)).toEqual([own, { by: 'number', calls: 3, withinMs: day }]);
});

test.each<[string, Partial<LegalHours>, number]>([
  ['a rule of that day', { from: '2026-06-15', until: '2026-06-15' }, 21 * hour],
  // It is tomorrow already on some clocks, and the day before yesterday on none.
  ['a rule that begins tomorrow', { from: '2026-06-16' }, 21 * hour],
  ['a rule that begins the day after tomorrow', { from: '2026-06-17' }, 0],
  ['a rule that ended yesterday', { until: '2026-06-14' }, 0],
])('%s: the next call may come in %s', (_, dates, wait) => {
  const dated = { caps: [], law: [law('FL', [[3, day]], dates)] };
  expect(callsAllowedAt(dated, { country: 'US', regions: ['FL'] }, threeCalls, now)).toBe(now + wait);
});

test('nobody waits for a cap beyond the last moment of its rule anywhere', () => {
  const place = { country: 'US', regions: ['FL'] };
  const ending = { caps: [], law: [law('FL', [[3, 7 * day]], { until: '2026-06-15' })] };
  const ends = Date.UTC(2026, 5, 16, 12);
  expect(callsAllowedAt(ending, place, threeCalls, now)).toBe(ends);
  expect(callsAllowedAt(ending, place, threeCalls, ends - 1)).toBe(ends);
  expect(callsAllowedAt(ending, place, threeCalls, ends)).toBe(ends);
  const beginning = { caps: [], law: [law('FL', [[3, 7 * day]], { from: '2026-06-16' })] };
  const begins = Date.UTC(2026, 5, 15, 10);
  const calls = { number: placedAt(begins - 3, begins - 2, begins - 1), person: [] };
  expect(callsAllowedAt(beginning, place, calls, begins - 1)).toBe(begins - 1);
  expect(callsAllowedAt(beginning, place, calls, begins)).toBe(begins - 3 + 7 * day);
});

test('whoever calls no sooner than allowed keeps the caps of every possible state, and no sooner would do', () => {
  const states = ['FL', 'OK', 'MD', 'GA'];
  const anyCap = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 40 }));
  const anyLaw = fc.record({ region: fc.constantFrom(null, ...states), caps: fc.array(anyCap, { maxLength: 2 }) });
  const exceeded = (caps: readonly LegalCap[], ats: readonly number[]): boolean =>
    caps.some(({ calls, withinMs }) => ats.some((end) => ats.filter((at) => at <= end && at > end - withinMs).length > calls));
  fc.assert(
    fc.property(
      fc.array(anyLaw, { maxLength: 4 }),
      fc.option(fc.uniqueArray(fc.constantFrom(...states), { maxLength: 3 }), { nil: null }),
      fc.array(fc.nat(8), { maxLength: 30 }),
      (laws, regions, waits) => {
        const written = laws.map(({ region, caps }) => law(region, caps));
        // Written out once more, without the code under test.
        const held = written
          .filter(({ region }) => region === null || regions === null || regions.includes(region))
          .flatMap(({ caps }) => caps);
        const ats: number[] = [];
        let at = now;
        for (const wait of waits) {
          at += wait;
          const calls = { number: placedAt(...ats), person: [] };
          const allowed = callsAllowedAt({ caps: [], law: written }, { country: 'US', regions }, calls, at);
          if (allowed > at) expect(exceeded(held, [...ats, allowed - 1])).toBe(true);
          at = allowed;
          ats.push(at);
          expect(exceeded(held, ats)).toBe(false);
        }
      },
    ),
    { seed: 12, numRuns: 300 },
  );
});

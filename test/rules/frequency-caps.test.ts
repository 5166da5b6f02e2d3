import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { capsAllowAt, capsLookBackMs, type FrequencyCap, type PlacedCall } from '../../src/rules/frequency-caps.ts';

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
    ['no cap', [], placed(9 * day), [], 10 * day],
    ['fewer calls than the cap', [threeADay], placed(10 * day - 1, 10 * day - 2), [], 10 * day],
    ['as many as the cap', [threeADay], placed(9.5 * day, 9.6 * day, 9.7 * day), [], 10.5 * day],
    ['more than the cap', [threeADay], placed(9.5 * day, 9.6 * day, 9.7 * day, 9.8 * day), [], 10.6 * day],
    ['calls told in any order', [threeADay], placed(9.7 * day, 9.5 * day, 9.8 * day, 9.6 * day), [], 10.6 * day],
    ['calls that have just left the window', [threeADay], placed(9 * day, 9.6 * day, 9.7 * day), [], 10 * day],
    ['calls that belong to the person, not to the number', [threeADay], [], placed(9.5 * day, 9.6 * day, 9.7 * day), 10 * day],
    ['the later of several caps', [threeADay, { ...sevenAWeek, calls: 1 }], placed(9.5 * day), placed(9.5 * day), 16.5 * day],
    ['a talk', [weekAfterTalk], [{ at: 9 * day, talked: true }], [], 16 * day],
    ['a call that was no talk', [weekAfterTalk], placed(9 * day), [], 10 * day],
  ],
)('after %s the next call may come then', (_, caps, number, person, expected) => {
  expect(capsAllowAt(caps, { number, person }, 10 * day)).toBe(expected);
});

test('how far back calls matter is the longest of the caps', () => {
  expect(capsLookBackMs([threeADay, sevenAWeek])).toBe(7 * day);
  expect(capsLookBackMs([threeADay, weekAfterTalk])).toBe(7 * day);
  expect(capsLookBackMs([])).toBe(0);
});

test('whoever calls no sooner than allowed never exceeds a cap, and no sooner would do', () => {
  const anyCap = fc.record({
    by: fc.constantFrom('number' as const, 'person' as const),
    calls: fc.integer({ min: 1, max: 5 }),
    withinMs: fc.integer({ min: 1, max: 50 }),
  });
  const exceeds = (caps: readonly { calls: number; withinMs: number }[], ats: readonly number[]): boolean =>
    caps.some(({ calls, withinMs }) => ats.some((end) => ats.filter((at) => at <= end && at > end - withinMs).length > calls));
  fc.assert(
    fc.property(fc.array(anyCap, { minLength: 1, maxLength: 3 }), fc.array(fc.nat(8), { maxLength: 40 }), (caps, waits) => {
      const ats: number[] = [];
      let now = 100;
      for (const wait of waits) {
        now += wait;
        const calls = placed(...ats);
        const allowed = capsAllowAt(caps, { number: calls, person: calls }, now);
        if (allowed > now) expect(exceeds(caps, [...ats, allowed - 1])).toBe(true);
        now = allowed;
        ats.push(now);
        expect(exceeds(caps, ats)).toBe(false);
      }
    }),
    { seed: 11, numRuns: 300 },
  );
});

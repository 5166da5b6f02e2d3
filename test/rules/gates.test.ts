import { expect, test } from 'vitest';
import { countGate, gateText, gateTrips, readGate, talksToRuleOut, type Gate } from '../../src/rules/gates.ts';
import { Random } from '../../src/sandbox/core/random.ts';

const gate = (changes: Partial<Gate> = {}): Gate => ({
  measure: 'opted_out',
  of: 'talks',
  atLeast: null,
  atMost: 0.03,
  min: 30,
  always: true,
  ...changes,
});

test('a gate counts what it measures, of calls or of talks', () => {
  const counts = {
    dispositions: { answered: 30, opted_out: 10, busy: 40, no_answer: 20 },
    results: { comes: 12, wrong_person: 6, other: 12 },
  };
  const goals = new Set(['comes']);
  const counted = (changes: Partial<Gate>) => countGate(gate(changes), counts, goals);
  expect(counted({})).toEqual({ of: 40, hits: 10 });
  expect(counted({ measure: 'answered', of: 'calls' })).toEqual({ of: 100, hits: 40 });
  expect(counted({ measure: 'goal' })).toEqual({ of: 40, hits: 12 });
  expect(counted({ measure: 'result.wrong_person' })).toEqual({ of: 40, hits: 6 });
});

test('at the decision the share itself is compared, and too few say nothing', () => {
  const verdict = (of: number, hits: number, changes: Partial<Gate> = {}) => readGate(gate(changes), { of, hits }).verdict;
  expect(verdict(100, 3)).toBe('holds');
  expect(verdict(100, 4)).toBe('fails');
  expect(verdict(29, 20)).toBe('too_few');
  expect(verdict(0, 0, { min: 1 })).toBe('too_few');
  expect(verdict(50, 10, { atMost: null, atLeast: 0.2 })).toBe('holds');
  expect(verdict(50, 9, { atMost: null, atLeast: 0.2 })).toBe('fails');
  expect(gateText(gate(), readGate(gate(), { of: 50, hits: 0 }))).toBe(
    'opted_out 0 of 50 talks (0 %; 0 % to 7.1 % is possible), at most 3 % allowed',
  );
  expect(talksToRuleOut(gate())).toBe(99);
});

/** Whether a gate with that true share trips within so many talks, asked at each doubling. */
function tripsWithin(random: Random, share: number, talks: number): boolean {
  let [hits, next] = [0, 30];
  for (let of = 1; of <= talks; of += 1) {
    if (random.chance(share)) hits += 1;
    if (of < next) continue;
    if (gateTrips(gate(), { of, hits })) return true;
    next *= 2;
  }
  return false;
}

test('a gate of 3 % finds 8 % within 480 talks in nearly every campaign, and stops hardly one of 1 %', () => {
  const random = new Random('gates');
  const rate = (share: number): number =>
    Array.from({ length: 2_000 }, () => tripsWithin(random, share, 480)).filter(Boolean).length / 2_000;
  expect(rate(0.08)).toBeGreaterThan(0.97);
  expect(rate(0.01)).toBeLessThan(0.01);
});

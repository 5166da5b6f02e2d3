import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallerLimits } from '../../../src/rules/caller-choice.ts';
import { sharedCapacity, type CallerUser } from '../../../src/rules/pacing/caller-share.ts';
import { fairShares, type Demand } from '../../../src/rules/pacing/fair-share.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';

function share(limit: number, ...demands: [weight: number, lines: number][]): number[] {
  const named = demands.map(([weight, lines], index) => ({ id: `c${index}`, weight, lines, tookAt: 0 }));
  return [...fairShares(limit, named).values()];
}

test.each<[string, number, [number, number][], number[]]>([
  ['nobody gets more than it could use', 10, [[10, 4]], [4]],
  ['what one leaves is there for the others', 10, [[100, 2], [10, 50], [10, 50]], [2, 4, 4]],
  ['the lightest gets one line too', 10, [[100, 50], [1, 50]], [9, 1]],
  ['an odd line goes to the heavier', 3, [[10, 50], [11, 50]], [1, 2]],
  ['without lines nobody gets any', 0, [[10, 50]], [0]],
  ['fewer than no lines are none', -3, [[10, 50]], [0]],
  ['who wants nothing takes no line from who does', 1, [[100, 0], [10, 50]], [0, 1]],
])('%s', (_, limit, demands, expected) => {
  expect(share(limit, ...demands)).toEqual(expected);
}); // prettier-ignore

const demands: fc.Arbitrary<Demand[]> = fc
  .array(fc.record({ weight: fc.integer({ min: 1, max: 100 }), lines: fc.integer({ min: 0, max: 200 }), tookAt: fc.nat(5) }), {
    maxLength: 8,
  })
  .map((all) => all.map((demand, index) => ({ ...demand, id: `c${index}` })));
const limits = fc.integer({ min: 0, max: 400 });
const many = { seed: 1, numRuns: 3_000 };

test('every line that somebody could use is given, and none twice', () => {
  fc.assert(
    fc.property(limits, demands, (limit, all) => {
      const shares = fairShares(limit, all);
      const wanted = all.reduce((sum, { lines }) => sum + lines, 0);
      const given = [...shares.values()].reduce((sum, lines) => sum + lines, 0);
      expect(given).toBe(Math.min(limit, wanted));
      expect(all.filter(({ id, lines }) => (shares.get(id) ?? Infinity) > lines)).toEqual([]);
    }),
    many,
  );
});

test('everybody who wants a line gets one while there are enough, else the heaviest do', () => {
  fc.assert(
    fc.property(limits, demands, (limit, all) => {
      const shares = fairShares(limit, all);
      const wanting = all.filter(({ lines }) => lines > 0);
      const served = wanting.filter(({ id }) => (shares.get(id) ?? 0) > 0);
      expect(served.length).toBe(Math.min(limit, wanting.length));
      const lightestServed = Math.min(...served.map(({ weight }) => weight));
      expect(wanting.filter(({ id, weight }) => (shares.get(id) ?? 0) === 0 && weight > lightestServed)).toEqual([]);
    }),
    many,
  );
});

test('where lines are too few, the heavier come first, and of equals those that have waited longest', () => {
  const demand = (id: string, weight: number, tookAt: number): Demand => ({ id, weight, lines: 5, tookAt });
  const all = [demand('a', 10, 30), demand('b', 10, 10), demand('c', 10, 20), demand('d', 20, 40), demand('e', 5, 0)];
  const served = (limit: number) => [...fairShares(limit, all)].filter(([, lines]) => lines > 0).map(([id]) => id);
  expect([1, 2, 3, 4, 5].map((limit) => served(limit).join(''))).toEqual(['d', 'bd', 'bcd', 'abcd', 'abcde']);
});

test('no line could be moved to a campaign that is worse off for its weight', () => {
  fc.assert(
    fc.property(limits, demands, (limit, all) => {
      const shares = fairShares(limit, all);
      for (const poor of all) {
        const has = shares.get(poor.id) ?? 0;
        if (has === 0 || has >= poor.lines) continue;
        for (const rich of all) {
          const more = shares.get(rich.id) ?? 0;
          if (more > 1 && more / rich.weight > (has + 1) / poor.weight + 1e-9) expect([poor, rich]).toBe('fairly served');
        }
      }
    }),
    many,
  );
});

test('the order of the campaigns does not matter', () => {
  const shuffled = demands.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
  );
  fc.assert(
    fc.property(limits, shuffled, (limit, [all, other]) => {
      const [one, two] = [fairShares(limit, all), fairShares(limit, other)];
      expect(all.filter(({ id }) => two.get(id) !== one.get(id))).toEqual([]);
    }),
    many,
  );
});

/** Eight campaigns, five with an equal share of their weight: thirds that floating point rounds differently. */
const equalAtFiveThirds: Demand[] = (
  [[48, 80], [23, 37], [21, 35], [58, 96], [15, 24], [15, 24], [57, 95], [4, 6]] as const
).map(([weight, lines], index) => ({ id: `c${index}`, weight, lines, tookAt: 0 })); // prettier-ignore

test('one more line takes none from anybody', () => {
  fc.assert(
    fc.property(limits, demands, (limit, all) => {
      const [before, after] = [fairShares(limit, all), fairShares(limit + 1, all)];
      expect(all.filter(({ id }) => (after.get(id) ?? -1) < (before.get(id) ?? 0))).toEqual([]);
    }),
    { ...many, examples: [[395, equalAtFiveThirds]] },
  );
});

test('a million lines cost as little as a hundred', () => {
  let looks = 0;
  const demand = (id: string, weight: number, wanted: number) => ({
    id,
    weight,
    tookAt: 0,
    get lines() {
      looks += 1;
      return wanted;
    },
  });
  const shares = fairShares(900_000, [demand('a', 20, 1_000_000), demand('b', 10, 1_000_000), demand('c', 10, 100_000)]);
  expect([...shares.values()]).toEqual([533_334, 266_666, 100_000]);
  expect(looks).toBeLessThan(1_000);
});

const at = Date.UTC(2030, 0, 15, 12, 0, 0);
const ago = (...minutes: number[]): number[] => minutes.map((each) => at - each * minuteMs);

/** The rooms of campaigns a, b, … that use one number. */
function rooms(...users: (Partial<Omit<CallerUser, 'limits'>> & { limits?: Partial<CallerLimits> })[]): number[] {
  const all = users.map(({ limits, ...user }, index): CallerUser => {
    const plain = { id: 'abc'[index] ?? '', weight: 10, due: 50, planned: 0, rings: [], promised: [], isFree: true };
    return { ...plain, ...user, limits: limits && { perHour: null, perDay: null, ...limits } };
  });
  const rings = all.flatMap((user) => user.rings);
  return all.map((asker) => sharedCapacity(asker, { users: all, rings, now: at }));
}

const ten = { perHour: 10 };
const spread = { spreadMs: 10 * minuteMs };
test.each<[string, Parameters<typeof rooms>, number[]]>([
  ['of one number all keep to the limits of the strictest and share them', [{ limits: ten }, { limits: { perHour: 60 } }, {}], [4, 3, 3]],
  ['twice the weight is twice the calls', [{ limits: { perHour: 9 }, weight: 20 }, { weight: 10 }], [6, 3]],
  ['a stricter campaign without recipients leaves all', [{ limits: ten, due: 0 }, { limits: { perHour: 60 } }], [0, 50]],
  ['calls that are planned are its own', [{ limits: ten, due: 2, planned: 3 }, {}], [2, 5]],
  ['calls before the share was needed leave the hour first', [{ limits: ten }, { rings: ago(...Array.from({ length: 9 }, () => 30)) }], [1, 0]],
  ['of two that a spread keeps apart the one that called last waits', [{ limits: spread, rings: ago(11) }, { rings: ago(22) }], [0, 1]],
  ['not for one whose lines are all busy', [{ limits: spread, rings: ago(11) }, { rings: ago(22), isFree: false }], [1, 1]],
  ['nor for longer than five minutes', [{ limits: spread, rings: ago(16) }, { rings: ago(22) }], [1, 1]],
  ['the lightest has its turn, too', [{ limits: { perHour: 1 }, weight: 100, rings: ago(61) }, { weight: 1, rings: ago(125) }], [0, 1]],
  ['a callback keeps its room under the limits of who promised it',
    [{ limits: { perHour: 3 }, due: 0, promised: [at + hourMs / 2] }, { rings: ago(5) }], [Infinity, 1]],
  ['and not so long before that a call of now is forgotten', [{ limits: { perHour: 3 }, due: 0, promised: [at + 2 * hourMs] }, {}], [Infinity, Infinity]],
])('%s', (_, users, expected) => {
  expect(rooms(...users)).toEqual(expected);
}); // prettier-ignore

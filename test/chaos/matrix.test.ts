import { expect, test } from 'vitest';
import { pickPerCell, type Case } from './design.ts';
import { cellOf, faultKinds, Matrix, possible } from './matrix.ts';
import { scenarios } from './scenarios.ts';

const [scenario] = scenarios as [Case['scenario']];

function aCase(nth: number, transitions: Case['transitions'], kind: 'fails' | 'unheard'): Case {
  const at = { scenario, kind: 'struck', operation: 'submit', what: 'commit' } as const;
  return { ...at, transitions, intervention: { step: 1, nth, strike: kind } };
}

test('so many cases are picked for each cell as are asked for, or as there are', () => {
  const often = Array.from({ length: 30 }, (_, nth) => aCase(nth, ['batch · → intent'], 'fails'));
  const both = aCase(40, ['batch · → intent', 'batch unknown → held'], 'fails');
  const other = aCase(41, ['batch · → intent'], 'unheard');
  const picked = pickPerCell([...often, both, other], 3);
  expect(picked).toContain(both);
  expect(picked).toContain(other);
  expect(picked).toHaveLength(4);
  // From here and there: neighbours have the same person in the same state.
  const nths = picked.flatMap(({ intervention: { nth } }) => (nth < 30 ? [nth] : []));
  expect(Math.max(...nths) - Math.min(...nths)).toBeGreaterThan(9);
  expect(pickPerCell([other], 5)).toEqual([other]);
});

test('the matrix adds up what several processes have found, and names what nobody has reached', () => {
  const matrix = new Matrix();
  for (const times of [2, 3]) matrix.addAll(new Map([[cellOf('batch unknown → held', 'fails'), times]]));
  expect(matrix.count('batch unknown → held', 'fails')).toBe(5);
  expect([matrix.filled, matrix.size]).toEqual([1, possible.length * faultKinds.length]);
  expect(matrix.format()).toContain('- `batch held → redial`: every kind');
  const all = possible.flatMap((transition) => faultKinds.map((kind) => [cellOf(transition, kind), 1] as const));
  matrix.addAll(new Map(all));
  expect(matrix.format()).toContain(`${matrix.size} of ${matrix.size} cells reached.`);
  expect(matrix.format()).not.toContain('Empty');
});

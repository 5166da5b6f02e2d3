import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { WordsCounter, type WordsForecast } from '../../../src/rules/forecast/words-forecast.ts';

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

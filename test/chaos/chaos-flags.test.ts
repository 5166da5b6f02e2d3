import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { help, parseFlags } from './chaos-flags.ts';
import { scenarios } from './scenarios.ts';

test.each([
  { args: ['--level', 'planet'], says: '--level is ledger, activities or system, not "planet".' },
  { args: ['--seeds', 'many'], says: '--seeds takes a whole number from 1, not "many".' },
  { args: ['--seeds', '3', '--seed', '0'], says: '--seed takes a whole number from 1, not "0".' },
  { args: ['--seed', '42'], says: '--seed goes with --seeds.' },
  {
    args: ['--level', 'activities', '--scenario', 'calm'],
    says: '--every, --per-cell and --scenario are for the design',
  },
  { args: ['--level', 'system', '--every', '5'], says: '--every, --per-cell and --scenario are for the design' },
  { args: ['--level', 'activities', '--per-cell', '1'], says: '--every, --per-cell and --scenario are for the design' },
  { args: ['--every', '5', '--per-cell', '1'], says: '--every and --per-cell both say which cases are run' },
  { args: ['--per-cell', '0'], says: '--per-cell takes a whole number from 1, not "0".' },
  { args: ['--level', 'system', '--processes', '2'], says: '--level system has processes of its own' },
  { args: ['--level', 'system', '--database', 'sqlite'], says: '--level system runs on PostgreSQL' },
  { args: ['--scenario', 'stormy'], says: 'There is no scenario "stormy".' },
  { args: ['--database', 'oracle'], says: '--database is sqlite or postgres, not "oracle".' },
  { args: ['--sedes', '3'], says: "Unknown option '--sedes'." },
])('chaos names what is wrong with $args', ({ args, says }) => {
  expect(() => parseFlags(args)).toThrow(says);
});

test('chaos runs the whole design on both databases unless it is told otherwise', () => {
  expect(parseFlags([])).toEqual({
    kind: 'ledger',
    options: {
      databases: ['sqlite', 'postgres'],
      design: { scenarios, choice: { every: 1 } },
      seeds: null,
      processes: availableParallelism(),
    },
    write: false,
  });
  expect(parseFlags(['--seeds', '7', '--seed', '42', '--database', 'postgres'])).toMatchObject({
    options: { databases: ['postgres'], design: null, seeds: { from: 42, count: 7 } },
  });
  expect(parseFlags(['--seeds', '7', '--every', '20'])).toMatchObject({
    options: { design: { scenarios, choice: { every: 20 } }, seeds: { from: 1, count: 7 } },
  });
  expect(parseFlags(['--per-cell', '2', '--processes', '3'])).toMatchObject({
    options: { design: { scenarios, choice: { perCell: 2 } }, seeds: null, processes: 3 },
  });
  expect(parseFlags(['--level', 'activities'])).toEqual({
    kind: 'activities',
    options: { database: 'sqlite', seeds: { from: 1, count: 100 } },
    write: false,
  });
  expect(parseFlags(['--level', 'system', '--seed', '7'])).toEqual({
    kind: 'system',
    options: { seeds: { from: 7, count: 10 }, rows: 500 },
    write: false,
  });
});

test('every example in the help of chaos is one that it takes', () => {
  const examples = [...(help.split('Examples:')[1] ?? '').matchAll(/npm run chaos -- (.*?)(?: {2}|$)/gm)];
  expect(examples.length).toBeGreaterThan(3);
  for (const [, flags = ''] of examples)
    expect(parseFlags([...flags.matchAll(/"(.*?)"|\S+/g)].map(([all, quoted]) => quoted ?? all)).kind).not.toBe('help');
});

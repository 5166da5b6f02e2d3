import { expect, test } from 'vitest';
import { help, parseFlags } from './chaos-flags.ts';
import { scenarios } from './scenarios.ts';

test.each([
  { args: ['--level', 'planet'], says: '--level is ledger or activities, not "planet".' },
  { args: ['--seeds', 'many'], says: '--seeds takes a whole number from 1, not "many".' },
  { args: ['--seeds', '3', '--seed', '0'], says: '--seed takes a whole number from 1, not "0".' },
  { args: ['--seed', '42'], says: '--seed goes with --seeds.' },
  { args: ['--level', 'activities', '--scenario', 'calm'], says: '--every and --scenario are for the design' },
  { args: ['--scenario', 'stormy'], says: 'There is no scenario "stormy".' },
  { args: ['--database', 'oracle'], says: '--database is sqlite or postgres, not "oracle".' },
  { args: ['--sedes', '3'], says: "Unknown option '--sedes'." },
])('chaos names what is wrong with $args', ({ args, says }) => {
  expect(() => parseFlags(args)).toThrow(says);
});

test('chaos runs the whole design on both databases unless it is told otherwise', () => {
  expect(parseFlags([])).toEqual({
    kind: 'ledger',
    options: { databases: ['sqlite', 'postgres'], design: { scenarios, every: 1 }, seeds: null },
    write: false,
  });
  expect(parseFlags(['--seeds', '7', '--seed', '42', '--database', 'postgres'])).toMatchObject({
    options: { databases: ['postgres'], design: null, seeds: { from: 42, count: 7 } },
  });
  expect(parseFlags(['--seeds', '7', '--every', '20'])).toMatchObject({
    options: { design: { scenarios, every: 20 }, seeds: { from: 1, count: 7 } },
  });
  expect(parseFlags(['--level', 'activities'])).toEqual({
    kind: 'activities',
    options: { database: 'sqlite', seeds: { from: 1, count: 100 } },
    write: false,
  });
});

test('every example in the help of chaos is one that it takes', () => {
  const examples = [...(help.split('Examples:')[1] ?? '').matchAll(/npm run chaos -- (.*?)(?: {2}|$)/gm)];
  expect(examples.length).toBeGreaterThan(3);
  for (const [, flags = ''] of examples)
    expect(parseFlags([...flags.matchAll(/"(.*?)"|\S+/g)].map(([all, quoted]) => quoted ?? all)).kind).not.toBe('help');
});

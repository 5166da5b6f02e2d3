import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scenarios } from '../chaos/scenarios.ts';
import { guards } from './guards.ts';
import { guardsOfLedger } from './guards-of-ledger.ts';
import { guardsOfRows } from './guards-of-rows.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

test.for(guards)('$name: what `npm run proof` takes out is there, once, and so is the test it names', (guard) => {
  expect(guard.edits.filter(({ file, text }) => read(file).split(text).length !== 2)).toEqual([]);
  const known = scenarios.map(({ name }) => name);
  expect(guard.aim?.scenarios.filter((name) => !known.includes(name)) ?? []).toEqual([]);
  expect(guard.aim ?? guard.test ?? guard.worlds ?? []).not.toEqual([]);
  const [file, name] = guard.test ?? [];
  if (file !== undefined) expect(read(`test/${file}.test.ts`)).toContain(name);
});

test('every guard of the ledger is looked for in interleavings, or has a test that sees it', () => {
  expect([...guardsOfLedger, ...guardsOfRows].filter(({ aim, test }) => aim === undefined && test === undefined)).toEqual([]);
});

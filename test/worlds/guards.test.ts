import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guards } from './guards.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

test.for(guards)('$name: what `npm run proof` takes out is there, once, and so is the test it names', (guard) => {
  expect(guard.edits.filter(({ file, text }) => read(file).split(text).length !== 2)).toEqual([]);
  expect(guard.test === undefined ? guard.worlds : guard.test.name).not.toEqual([]);
  if (guard.test !== undefined) expect(read(guard.test.file)).toContain(guard.test.name);
});

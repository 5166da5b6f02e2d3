import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Edit } from './guard.ts';

const root = join(import.meta.dirname, '../..');
const parts = ['src', 'activities', 'workflows', 'test', 'rules', 'examples', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

/** A copy of the code with these edits, in a folder of its own. Throws where a text does not stand in its file exactly once. */
export function copyWithout(edits: readonly Edit[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-proof-'));
  for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'));
  for (const { file, text, without } of edits) {
    const path = join(folder, file);
    const [before = '', after, ...more] = readFileSync(path, 'utf8').split(text);
    if (after === undefined || more.length > 0) {
      rmSync(folder, { recursive: true, force: true });
      throw new Error(`${file} holds this ${after === undefined ? 'no more' : 'more than once'}: ${text}`);
    }
    writeFileSync(path, before + without + after);
  }
  return folder;
}

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

const end = '<!-- end of soaks -->';

/** Adds a line to the table of soaks in docs/proof.md: date and commit, then these cells. */
export async function recordSoak(cells: readonly (string | number)[]): Promise<void> {
  const root = join(import.meta.dirname, '../..');
  const path = join(root, 'docs/proof.md');
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const made = `${new Date().toISOString().slice(0, 10)}, ${commit}`;
  const [before = '', after] = readFileSync(path, 'utf8').split(end);
  if (after === undefined) throw new Error(`${path} has no mark ${end}.`);
  const text = `${before.trimEnd()}\n| ${[made, ...cells].join(' | ')} |\n\n${end}${after}`;
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}

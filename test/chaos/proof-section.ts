import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Matrix } from './matrix.ts';

const root = join(import.meta.dirname, '../..');
const [from, to] = ['<!-- interleavings -->', '<!-- end of interleavings -->'];

/** Writes what a run came to between its marks in docs/proof.md. */
export function writeSection({ figures, command, matrix }: { figures: string; command: string; matrix: Matrix }): void {
  const path = join(root, 'docs/proof.md');
  const text = readFileSync(path, 'utf8');
  if (!text.includes(from) || !text.includes(to)) throw new Error(`${path} has no marks ${from} and ${to}.`);
  const date = new Date().toISOString().slice(0, 10);
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout.trim();
  const made = `\`${command}\`, ${date}, ${commit}:`;
  const body = [made, ...figures.split('\n').map((line) => `- ${line}`)];
  const section = [from, '', body[0], '', ...body.slice(1), '', matrix.format(), '', to].join('\n');
  writeFileSync(path, text.slice(0, text.indexOf(from)) + section + text.slice(text.indexOf(to) + to.length));
}

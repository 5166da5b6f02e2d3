import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

const root = join(import.meta.dirname, '../..');
const path = join(root, 'docs/proof.md');

function cutAtMarks(name: string): { before: string; between: string; after: string } {
  const [from, to] = [`<!-- chaos: ${name} -->`, `<!-- end of chaos: ${name} -->`];
  const text = readFileSync(path, 'utf8');
  if (!text.includes(from) || !text.includes(to)) throw new Error(`${path} has no marks ${from} and ${to}.`);
  const begin = text.indexOf(from) + from.length;
  const end = text.indexOf(to);
  return { before: text.slice(0, begin), between: text.slice(begin, end), after: text.slice(end) };
}

/** The rows of the table between the marks of this name, without its head. */
export function readTable(name: string): string[][] {
  const lines = cutAtMarks(name)
    .between.split('\n')
    .filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** Writes a text between the marks of this name in docs/proof.md, laid out as the rest of it. */
export async function writeBetweenMarks(name: string, text: string): Promise<void> {
  const { before, after } = cutAtMarks(name);
  const written = `${before}\n\n${text}\n\n${after}`;
  writeFileSync(path, await format(written, { ...(await resolveConfig(path)), filepath: path }));
}

/** When and from what it was made. */
export function madeNow(): string {
  const date = new Date().toISOString().slice(0, 10);
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout.trim();
  return `${date}, ${commit}`;
}

export async function writeSection(name: 'sqlite' | 'postgres' | 'activities' | 'system', figures: string): Promise<void> {
  const flags = process.argv
    .slice(2)
    .filter((flag) => flag !== '--write')
    .map((flag) => (flag.includes(' ') ? `"${flag}"` : flag));
  const command = ['npm run chaos', ...(flags.length === 0 ? [] : ['--', ...flags])].join(' ');
  const lines = figures.split('\n').map((line) => `- ${line}`);
  await writeBetweenMarks(name, [`\`${command}\` (${madeNow()}):`, '', ...lines].join('\n'));
}

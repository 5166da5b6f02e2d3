/** Takes guards out of a copy of the code, one at a time, and says which case of the design catches it: npm run chaos:guards -- --help */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { copyWithout } from '../worlds/copy-without.ts';
import type { Guard } from '../worlds/guard.ts';
import { guards } from '../worlds/guards.ts';
import type { Caught } from './first-caught.ts';
import { madeNow, writeBetweenMarks } from './proof-section.ts';

/** Guards that interleavings can miss, and the cases in which each is looked for. */
const chosen: readonly { name: string; options: readonly string[] }[] = [
  { name: 'compare-and-set of batches', options: ['--kind', 'beside', '--act', 'submit'] },
  { name: 'states from which a batch may move', options: ['--kind', 'beside', '--act', 'submit'] },
  { name: 'the second entry makes it unknown', options: ['--kind', 'struck'] },
  { name: 'do-not-call in the dial transaction', options: ['--kind', 'beside', '--act', 'suppress'] },
  {
    name: 'the lock of the do-not-call list',
    options: ['--kind', 'inside', '--act', 'suppress', '--database', 'postgres'],
  },
  { name: 'wishes by id', options: ['--kind', 'person struck', '--act', 'pause'] },
];

const help = `Takes guards out of a copy of the code, one at a time, and looks for the case of the design that catches it.

Usage: npm run chaos:guards -- [--guard NAME] [--write]

  --guard NAME   one of them:
${chosen.map(({ name }) => `                   "${name}"`).join('\n')}
  --write        writes the table into docs/proof.md

Example: npm run chaos:guards -- --guard "wishes by id"

Exits with 0 if each was caught and the whole code is clean in the same cases, with 1 if not, and with 2 on wrong usage.
`;

const longestMs = 20 * 60_000;

function refuse(problem: string): never {
  process.stderr.write(`${problem} See npm run chaos:guards -- --help.\n`);
  process.exit(2);
}

function readFlags() {
  const string = { type: 'string' } as const;
  const boolean = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ options: { guard: string, write: boolean, help: boolean } }).values;
  } catch (error) {
    return refuse(`${(error as Error).message.split('. ')[0]}.`);
  }
}

/** Runs the cases on a copy of the code without these texts. */
function search(edits: Guard['edits'], options: readonly string[]): Caught {
  const folder = copyWithout(edits);
  try {
    const { stdout, error } = spawnSync(
      process.execPath,
      ['--import', 'tsx', 'test/chaos/first-caught.ts', ...options],
      {
        cwd: folder,
        encoding: 'utf8',
        timeout: longestMs,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    if (error !== undefined) throw error;
    return JSON.parse(stdout) as Caught;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const flags = readFlags();
if (flags.help) {
  process.stdout.write(help);
  process.exit(0);
}
const asked = chosen.filter(({ name }) => flags.guard === undefined || name === flags.guard);
if (asked.length === 0) refuse(`There is no guard "${flags.guard}".`);
let missed = 0;
const rows: string[][] = [];
for (const { name, options } of asked) {
  const guard = guards.find((each) => each.name === name);
  if (guard === undefined) throw new Error(`No guard is named "${name}".`);
  const { caught, cases } = search(guard.edits, options);
  const whole = caught === null ? null : search([], [...options, '--limit', String(cases)]);
  const clean = whole?.caught === null;
  if (!clean) missed += 1;
  const by = caught === null ? `not within ${cases} cases` : `${caught.by}: ${caught.rule}`;
  rows.push([name, by, whole === null ? '' : clean ? `${cases} clean` : `broken too, ${whole.caught?.by}`, madeNow()]);
  process.stdout.write(`${rows.at(-1)?.slice(0, 3).join('; ')}\n`);
}
if (flags.write) {
  const head = ['Without', 'First case that catches it', 'The same cases with it', 'Made'];
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  await writeBetweenMarks('guards', lines.join('\n'));
}
process.exit(missed === 0 ? 0 : 1);

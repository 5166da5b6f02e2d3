/** Takes each guard out of a copy of the code and looks for what breaks: npm run proof [-- --guard NAME] [--seeds 200] */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { copyWithout } from './copy-without.ts';
import type { Edit, Guard } from './guard.ts';
import { guards } from './guards.ts';
import { readRows, writeRows, type Row } from './proof-table.ts';
import { runGuardTests } from './run-guard-tests.ts';

const { values } = parseArgs({
  options: {
    /** Part of the name; may be given several times. All guards when left out. */
    guard: { type: 'string', multiple: true, default: [] },
    /** 0: only the tests; what a row says of seeds stays. */
    seeds: { type: 'string', default: '200' },
  },
});
const root = join(import.meta.dirname, '../..');
/** A seed takes about a second. */
const longestSeedMs = 90_000;

let child: ChildProcess | undefined;
const folders: string[] = [];
function cleanUp(): void {
  child?.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
process.on('exit', cleanUp);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

function copyKept(edits: readonly Edit[]): string {
  const folder = copyWithout(edits);
  folders.push(folder);
  return folder;
}

interface Seed {
  world: string;
  seed: number;
  broken?: string;
}

/** The first seed that breaks a promise; of one that never ends it says so. Null: none of them. */
async function findBroken(folder: string, { worlds, api = 'contract' }: Guard, seeds: number): Promise<Seed | null> {
  const args = ['--import', 'tsx', 'test/worlds/first-broken.ts', '--api', api, '--worlds', worlds.join(','), '--seeds', String(seeds)];
  const running = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  child = running;
  let at: (Seed & { clean?: number }) | undefined;
  let hangs = false;
  const stop = (): void => {
    hangs = true;
    running.kill('SIGKILL');
  };
  let timer = setTimeout(stop, longestSeedMs);
  for await (const line of createInterface({ input: running.stdout })) {
    at = JSON.parse(line) as Seed;
    clearTimeout(timer);
    timer = setTimeout(stop, longestSeedMs);
  }
  clearTimeout(timer);
  if (at === undefined) throw new Error(`No seed of ${worlds.join(', ')} could be run in ${folder}.`);
  if (at.clean !== undefined) return null;
  return { ...at, broken: at.broken ?? (hangs ? 'it never ends' : 'its process ends') };
}

const path = join(root, 'docs/proof.md');
const date = new Date().toISOString().slice(0, 10);
const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout.trim();

const whole = copyKept([]);

async function prove(guard: Guard): Promise<Row & { seed: Seed | null }> {
  const { worlds, test, api } = guard;
  const folder = copyKept(guard.edits);
  try {
    const seeds = Number(values.seeds);
    const seed = worlds.length === 0 || seeds === 0 ? null : await findBroken(folder, guard, seeds);
    const tests = test === undefined || seed !== null ? undefined : runGuardTests(folder, test, false);
    const bySeed =
      seed !== null
        ? `\`${seed.world}\` ${seed.seed}${api === undefined ? '' : ` with \`${api}\``}: ${seed.broken}`
        : worlds.length === 0
          ? 'not a matter of seeds'
          : seeds === 0
            ? (readRows(path).find((row) => row.guard === guard.name)?.bySeed ?? 'not run')
            : `not within ${seeds} seeds of ${worlds.map((name) => `\`${name}\``).join(', ')}`;
    const byTest = test === undefined || tests === undefined ? '' : `\`${test.file}\`: ${tests.failed} of ${tests.run} fail`;
    return { guard: guard.name, keeps: guard.keeps, bySeed, byTest, made: `${date}, ${commit}`, seed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const chosen = guards.filter(({ name }) => values.guard.length === 0 || values.guard.some((part) => name.includes(part)));
if (chosen.length === 0) throw new Error(`No guard is named so. There are: ${guards.map(({ name }) => name).join('; ')}.`);

/** The same seeds of the same worlds, up to the one that broke, or the same tests, with the guard in place. */
async function runWhole(guard: Guard, row: Row, seed: Seed | null): Promise<void> {
  const { test } = guard;
  if (seed !== null) {
    const broken = await findBroken(whole, guard, seed.seed);
    row.bySeed += broken === null ? `; whole: ${seed.seed} clean` : `; whole: broken too, \`${broken.world}\` ${broken.seed}`;
  } else if (test !== undefined) {
    const { failed, run } = runGuardTests(whole, test, true);
    row.byTest += failed === 0 ? `; whole: ${run} pass` : `; whole: ${failed} of ${run} fail`;
  }
}

let failures = 0;
for (const guard of chosen) {
  try {
    const { seed, ...row } = await prove(guard);
    await runWhole(guard, row, seed);
    const others = readRows(path).filter((known) => known.guard !== row.guard);
    const order = guards.map(({ name }) => name);
    writeRows(path, [...others, row], order);
    process.stdout.write(`${guard.name}: ${row.bySeed}; ${row.byTest}\n`);
  } catch (error) {
    failures += 1;
    process.stdout.write(`${guard.name}: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
process.exit(failures === 0 ? 0 : 1);

/** Takes each guard out of a copy of the code and looks for what breaks: npm run proof [-- --guard NAME] [--seeds 200] */
import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { copyWithout } from './copy-without.ts';
import type { Edit, Guard } from './guard.ts';
import { guards } from './guards.ts';
import { runGuardTests } from './run-guard-tests.ts';

const { values } = parseArgs({
  options: {
    /** Part of the name; may be given several times. All guards when left out. */
    guard: { type: 'string', multiple: true, default: [] },
    /** 0: only the tests. */
    seeds: { type: 'string', default: '200' },
  },
});
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

const whole = copyKept([]);

/** What showed that a guard was gone; `caught`: it did, and nothing showed it with the guard in its place. */
interface Finding {
  caught: boolean;
  text: string;
}

async function prove(guard: Guard): Promise<Finding> {
  const { worlds, test } = guard;
  const folder = copyKept(guard.edits);
  try {
    const seeds = Number(values.seeds);
    const seed = worlds.length === 0 || seeds === 0 ? null : await findBroken(folder, guard, seeds);
    if (seed !== null) {
      const broken = await findBroken(whole, guard, seed.seed);
      const beside = broken === null ? `whole: ${seed.seed} clean` : `whole: broken too, ${broken.world} ${broken.seed}`;
      return { caught: broken === null, text: `${seed.world} ${seed.seed}: ${seed.broken}; ${beside}` };
    }
    const tried = worlds.length === 0 || seeds === 0 ? '' : `not within ${seeds} seeds of ${worlds.join(', ')}; `;
    if (test === undefined) return { caught: false, text: `${tried}no test is named for it` };
    const without = runGuardTests(folder, test, false);
    const within = runGuardTests(whole, test, true);
    const text = `${tried}${test.file}: ${without.failed} of ${without.run} fail; whole: ${within.failed} of ${within.run} fail`;
    return { caught: without.failed > 0 && within.failed === 0, text };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const chosen = guards.filter(({ name }) => values.guard.length === 0 || values.guard.some((part) => name.includes(part)));
if (chosen.length === 0) throw new Error(`No guard is named so. There are: ${guards.map(({ name }) => name).join('; ')}.`);

let missed = 0;
for (const guard of chosen) {
  const { caught, text } = await prove(guard).catch((error: Error): Finding => ({ caught: false, text: error.message }));
  if (!caught) missed += 1;
  process.stdout.write(`${caught ? '' : 'NOT CAUGHT: '}${guard.name}: ${text}\n`);
}
process.stdout.write(`${chosen.length - missed} of ${chosen.length} guards were caught.\n`);
process.exit(missed === 0 ? 0 : 1);

/** Takes guards out of a copy of the code, one at a time, and says which case of the design catches it: npm run chaos:guards */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { copyWithout } from '../worlds/copy-without.ts';
import { guards } from '../worlds/guards.ts';

/** Guards that the interleavings can miss, and the acts beside which they are looked for first. */
const chosen: readonly { name: string; options: readonly string[] }[] = [
  { name: 'compare-and-set of batches', options: ['--kind', 'beside', '--act', 'submit'] },
  { name: 'states from which a batch may move', options: ['--kind', 'beside', '--act', 'submit'] },
  { name: 'the second entry makes it unknown', options: ['--kind', 'struck'] },
  { name: 'do-not-call in the dial transaction', options: ['--kind', 'beside', '--act', 'suppress'] },
  {
    name: 'the lock of the do-not-call list',
    options: ['--kind', 'inside', '--act', 'suppress', '--database', 'postgres'],
  },
  { name: 'the wait of an unknown batch', options: ['--kind', 'struck'] },
  { name: 'the settle deadline', options: ['--kind', 'struck'] },
  { name: 'a lost answer to the commit', options: ['--kind', 'struck'] },
];

for (const { name, options } of chosen) {
  const guard = guards.find((each) => each.name === name);
  if (guard === undefined) throw new Error(`No guard is named "${name}".`);
  const folder = copyWithout(guard.edits);
  try {
    const args = ['--import', 'tsx', 'test/chaos/first-caught.ts', ...options];
    const { stdout } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    process.stdout.write(`${name}: ${stdout.trim()}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

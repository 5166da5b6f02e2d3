import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const source = fileURLToPath(new URL('../prepare.mjs', import.meta.url));

/** What `npm ci` runs at its end, in a checkout with or without the compiler. */
async function prepare({ compiler, build = 'node -e 0' }: { compiler: boolean; build?: string }) {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-prepare-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await copyFile(source, join(folder, 'prepare.mjs'));
  if (compiler) await mkdir(join(folder, 'node_modules', 'typescript'), { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts: { build, prepare: 'node prepare.mjs' } }));
  const { status, stderr } = spawnSync('npm run prepare', { cwd: folder, shell: true, encoding: 'utf8' });
  return { status, stderr };
}

test('npm ci --omit=dev does not fail in prepare', async () => {
  const { status, stderr } = await prepare({ compiler: false, build: 'node -e "process.exit(3)"' });
  expect(status).toBe(0);
  expect(stderr).toMatch(/not built here: that takes development dependencies/);
});

test('with the compiler the build runs, and its failure is one', async () => {
  expect(await prepare({ compiler: true })).toMatchObject({ status: 0 });
  expect((await prepare({ compiler: true, build: 'node -e "process.exit(3)"' })).status).toBe(3);
});

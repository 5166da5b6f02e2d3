/** Writes every face's output into a folder, to compare two commits: npm run masters -- DIR [--of COMMIT] */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const usage = 'npm run masters -- DIR [--of COMMIT]. Compare two folders with diff -r.';
const carried = ['test', 'vitest.config.ts'];

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();

function write(folder: string, root: string, of?: string): number {
  const env = { ...process.env, MASTERS: folder, ...(of === undefined ? {} : { MASTERS_OF: of }) };
  const command = ['vitest', 'run', 'test/masters/masters.test.ts'];
  return spawnSync('npx', command, { cwd: root, env, stdio: ['ignore', 2, 2] }).status === 0 ? 0 : 1;
}

/** In a temporary worktree. Packages are installed only if the commit has others. */
function writeOf(commit: string, folder: string): number {
  const parent = mkdtempSync(join(tmpdir(), 'carillon-masters-'));
  const root = join(parent, 'tree');
  git('worktree', 'add', '--quiet', '--detach', root, commit);
  try {
    if (readFileSync('package-lock.json').equals(readFileSync(join(root, 'package-lock.json'))))
      symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
    else execFileSync('npm', ['ci'], { cwd: root, stdio: ['ignore', 2, 2] });
    for (const path of carried) {
      rmSync(join(root, path), { recursive: true, force: true });
      cpSync(path, join(root, path), { recursive: true });
    }
    return write(folder, root, commit);
  } finally {
    git('worktree', 'remove', '--force', root);
    rmSync(parent, { recursive: true });
  }
}

function readArguments() {
  try {
    return parseArgs({ options: { of: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    return fail(`${(error as Error).message}: ${usage}`);
  }
}

const { values, positionals } = readArguments();
const [folder, ...others] = positionals;
if (folder === undefined || others.length > 0) fail(`Give one folder: ${usage}`);
if (existsSync(folder) && readdirSync(folder).length > 0)
  fail(`${folder} is not empty: other masters would stay in it. Give another folder.`);
mkdirSync(folder, { recursive: true });
process.stderr.write('This takes about five minutes.\n');
process.exitCode = values.of === undefined ? write(resolve(folder), '.') : writeOf(git('rev-parse', values.of), resolve(folder));

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { startSandbox } from '../src/sandbox/start.ts';
import { execute, linkPackage, openProject, programOf } from './service/convai/installed-package.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'carillon-packages-'));

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
}
const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const tarballs = [`carillon-${version}.tgz`, `carillon-convai-${version}.tgz`];

async function mustRun(program: string, args: string[], cwd: string): Promise<string> {
  const { code, output } = await execute(program, args, cwd);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
  return output;
}

beforeAll(() => mustRun(process.execPath, [join(root, 'packages.mjs'), folder], root));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A project with the program as packed in it; what that needs is linked from this checkout. */
async function installProgram(name: string): Promise<string> {
  const project = newProject(name);
  const installed = join(project, 'node_modules', 'carillon');
  mkdirSync(installed);
  await mustRun('tar', ['-xzf', join(folder, tarballs[0] ?? ''), '--strip-components=1', '-C', installed], folder);
  for (const dependency of Object.keys(dependencies)) linkPackage(project, dependency);
  return project;
}

function newProject(name: string): string {
  const project = join(folder, name);
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  return project;
}

test.each(tarballs)('the installation of %s builds nothing', async (tarball) => {
  const names = (await mustRun('tar', ['-tzf', tarball], folder)).trim().split('\n');
  const manifest = await mustRun('tar', ['-xzOf', tarball, 'package/package.json'], folder);
  // These two are what npm acts on.
  expect(JSON.parse(manifest)).not.toHaveProperty('scripts');
  expect(names).not.toContain('package/binding.gyp');
  expect(names.filter((name) => name.endsWith('.tsbuildinfo'))).toEqual([]);
  expect(names.filter((name) => /(?<!\.d)\.ts$|\.test\.|node_modules/.test(name))).toEqual([]);
});

test('the program as packed checks its own example by its own rules', async () => {
  const project = await installProgram('program');
  const installed = join(project, 'node_modules', 'carillon');
  const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { bin: { carillon: string } };
  const carillon = (...args: string[]) => mustRun(process.execPath, [join(installed, bin.carillon), ...args], project);
  expect(await carillon('--version')).toBe(`${version}\n`);
  await carillon('init', 'first');
  expect(await carillon('check', 'first/campaign.yaml', '--offline')).toMatch(/^Ready to start\. No call was placed\.$/m);
  expect(existsSync(join(installed, 'dist/workflow-bundle.js'))).toBe(true);
  const served = [
    'sandbox/page/browser/page.js',
    'interfaces/console/browser/page.js',
    'presentation/html/browser/times.js',
    'presentation/html/browser/styles/colours.css',
  ];
  for (const name of served) expect([name, existsSync(join(installed, 'dist/src', name))]).toEqual([name, true]);
  expect(existsSync(join(installed, 'dist/src/interfaces/console/browser/tsconfig.json'))).toBe(false);
});

test("the sandbox as packed starts inside a stranger's tests, with types for every option that the pages name", async () => {
  const project = await installProgram('tests');
  linkPackage(project, 'vitest');
  const pages = readdirSync(join(root, 'docs/sandbox')).map((name) => readFileSync(join(root, 'docs/sandbox', name), 'utf8'));
  const named = [...pages.join('').matchAll(/`startSandbox\(\{ (\w+)/g)].map(([, option = '']) => option);
  expect(new Set(named)).toEqual(new Set(['conduct', 'webhooks', 'world', 'fixture', 'sockets', 'controlToken', 'speed', 'clock']));
  const lines = named.map((name, at) => `export type Named${at} = SandboxOptions['${name}'];`);
  const wrong = "// @ts-expect-error there is no such option\nexport type Wrong = SandboxOptions['manners'];";
  const options = `import type { SandboxOptions } from 'carillon/sandbox';\n${lines.join('\n')}\n${wrong}`;
  const example = programOf(readFileSync(join(root, 'docs/sandbox/README.md'), 'utf8'));
  expect(await openProject(project).check('calls.test.ts', `${example}\n${options}`)).toEqual({ code: 0, output: '' });
  writeFileSync(join(project, 'calls.test.ts'), example);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const run = () => execute(process.execPath, [vitest, 'run'], project, { CI: 'true', NO_COLOR: '1' });
  const { code, output } = await run();
  expect(output).toMatch(/Tests +1 passed/);
  expect(code).toBe(0);
  writeFileSync(join(project, 'calls.test.ts'), example.replace('+12125550101 busy', '+12125550101 answered'));
  expect((await run()).code).toBe(1);
});

test('the client alone is three packages, installed without a network, and runs every example of its page', async () => {
  const project = newProject('client');
  for (const name of ['undici', 'zod'])
    await mustRun('npm', ['pack', join(root, 'node_modules', name), '--ignore-scripts', '--silent'], project);
  const own = ['undici', 'zod'].map((name) => {
    const path = join(root, 'node_modules', name, 'package.json');
    return `./${name}-${(JSON.parse(readFileSync(path, 'utf8')) as Manifest).version}.tgz`;
  });
  const flags = ['--offline', '--no-audit', '--no-fund'];
  await mustRun('npm', ['install', ...flags, `../${tarballs[1] ?? ''}`, ...own], project);
  const listed = (await mustRun('npm', ['ls', '--all', '--parseable'], project)).trim().split('\n');
  const packages = listed.filter((line) => line.includes('node_modules'));
  expect(packages.map((path) => path.replace(/.*node_modules\//, '')).sort()).toEqual(['carillon-convai', 'undici', 'zod']);

  const sandbox = await startSandbox({ speed: 600, seed: 'docs' });
  onTestFinished(() => sandbox.close());
  const page = readFileSync(join(root, 'docs/convai.md'), 'utf8');
  const program = programOf(page).replaceAll(`'carillon/convai'`, `'carillon-convai'`);
  expect(program).toContain(`from 'carillon-convai'`);
  const env = { SVC_BASE_URL: sandbox.url, SVC_API_KEY: 'sk_sandbox_ok' };
  const { code, output } = await openProject(project).run('examples.ts', program, env);
  expect(output).toMatch(/there is no such agent/);
  expect(code).toBe(0);
  expect(sandbox.calls().map(({ to }) => to)).toEqual(['+12125550100', '+442079460101']);
});

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

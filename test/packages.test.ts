import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { startSandbox } from '../src/sandbox/start.ts';
import { ApiWorld } from './interfaces/api/api-world.ts';
import { openCleanStore } from './ledger/clean-store.ts';
import { beginCampaign } from './ledger/scenario.ts';
import { execute, linkPackage, openProject, programOf } from './service/convai/installed-package.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'carillon-packages-'));

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
}
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
/** Option names in the sandbox's pages. */
const namedOptions = 'conduct webhooks world fixture sockets controlToken speed clock dialect batchCalling campaigns'.split(' ');
const tarballs = ['carillon', 'carillon-convai', 'carillon-client', 'carillon-sandbox'].map((name) => `${name}-${version}.tgz`);

async function mustRun(program: string, args: string[], cwd: string): Promise<string> {
  const { code, output } = await execute(program, args, cwd);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
  return output;
}

beforeAll(() => mustRun(process.execPath, [join(root, 'packages.mjs'), folder], root));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A project with the packed package; only its stated dependencies are linked from this checkout. */
async function installPacked(name: string, packed = 'carillon'): Promise<string> {
  const project = newProject(name);
  const installed = join(project, 'node_modules', packed);
  mkdirSync(installed);
  await mustRun('tar', ['-xzf', join(folder, `${packed}-${version}.tgz`), '--strip-components=1', '-C', installed], folder);
  const needs = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;
  for (const dependency of Object.keys(needs.dependencies)) linkPackage(project, dependency);
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
  // npm acts on these two.
  expect(JSON.parse(manifest)).not.toHaveProperty('scripts');
  expect(names).not.toContain('package/binding.gyp');
  expect(names.filter((name) => name.endsWith('.tsbuildinfo'))).toEqual([]);
  expect(names.filter((name) => /(?<!\.d)\.ts$|\.test\.|node_modules/.test(name))).toEqual([]);
});

test('the program as packed checks its own example by its own rules', async () => {
  const project = await installPacked('program');
  const installed = join(project, 'node_modules', 'carillon');
  const { bin, exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    bin: { carillon: string };
    exports: Record<string, string | Record<string, string>>;
  };
  const carillon = (...args: string[]) => mustRun(process.execPath, [join(installed, bin.carillon), ...args], project);
  expect(await carillon('--version')).toBe(`${version}\n`);
  await carillon('init', 'first');
  expect(await carillon('check', 'first/campaign.yaml', '--offline')).toMatch(/^Ready to start\. No call was placed\.$/m);
  expect(existsSync(join(installed, 'dist/workflow-bundle.js'))).toBe(true);
  const served = [
    'sandbox/page/browser/page.js',
    'interfaces/console/browser/page.js',
    'presentation/html/browser/times.js',
    'presentation/html/browser/styles/tokens.css',
  ];
  const exported = Object.values(exports).flatMap((targets) => (typeof targets === 'string' ? [targets] : Object.values(targets)));
  for (const name of [...served.map((name) => `dist/src/${name}`), ...exported])
    expect([name, existsSync(join(installed, name))]).toEqual([name, true]);
  expect(existsSync(join(installed, 'dist/src/interfaces/console/browser/tsconfig.json'))).toBe(false);
});

test("the sandbox as packed starts inside a stranger's tests, with types for every option that the pages name", async () => {
  const project = await installPacked('tests');
  linkPackage(project, 'vitest');
  const pages = readdirSync(join(root, 'docs/sandbox')).map((name) => readFileSync(join(root, 'docs/sandbox', name), 'utf8'));
  const named = [...pages.join('').matchAll(/`startSandbox\(\{ (\w+)/g)].map(([, option = '']) => option);
  expect(new Set(named)).toEqual(new Set(namedOptions));
  const lines = named.map((name, at) => `export type Named${at} = SandboxOptions['${name}'];`);
  const wrong = "// @ts-expect-error there is no such option\nexport type Wrong = SandboxOptions['manners'];";
  const options = `import type { SandboxOptions } from 'carillon/sandbox';\n${lines.join('\n')}\n${wrong}`;
  const example = programOf(readFileSync(join(root, 'docs/sandbox/README.md'), 'utf8'));
  expect(await openProject(project).check('calls.test.ts', `${example}\n${options}`)).toEqual({ code: 0, output: '' });
  writeFileSync(join(project, 'calls.test.ts'), example);
  // A copy with a wrong expectation.
  writeFileSync(join(project, 'wrong.test.ts'), example.replace('+12125550101 busy', '+12125550101 answered'));
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { code, output } = await execute(process.execPath, [vitest, 'run'], project, { CI: 'true', NO_COLOR: '1' });
  expect(output).toMatch(/Tests +1 failed \| 1 passed/);
  expect(output).toMatch(/FAIL +wrong\.test\.ts/);
  expect(code).toBe(1);
});

const mistakes = [
  { what: 'a change without its campaign', line: `await client.pauseCampaign({});`, says: /'campaign' is missing/ },
  { what: 'a state that no row has', line: `await client.listRows({ campaign: 'a', query: { state: 'gone' } });`, says: /not assignable/ },
  { what: 'a list that is no Blob', line: `await client.updateList({ campaign: 'a', list: 'list.csv' });`, says: /not assignable/ },
  {
    what: 'an answer that is something else',
    line: `(await client.showFunnel({ campaign: 'a' })).listed satisfies string;`,
    says: /satisfy/,
  },
];

test('the client of the API alone runs every example of its page, and its types refuse a wrong input and a wrong reading', async () => {
  const installed = await installPacked('client', 'carillon-client');
  // It knows the operations, and loads no schemas.
  const own = join(installed, 'node_modules', 'carillon-client', 'dist', 'operations');
  expect(readdirSync(own).filter((name) => name.endsWith('.js'))).toEqual(['operation.js', 'outlines.js']);
  const project = openProject(installed);
  const store = await openCleanStore('sqlite');
  await beginCampaign(store);
  const world = await ApiWorld.over(store);
  const env = { API_URL: await world.app.listen({ port: 0, host: '127.0.0.1' }), API_TOKEN: world.tokenText('operate') };
  const program = programOf(readFileSync(join(root, 'docs/client.md'), 'utf8')).replaceAll(`'carillon/client'`, `'carillon-client'`);
  const ran = await project.run('examples.ts', program, env);
  expect(ran.output).toMatch(/there is no such campaign[^]*campaign\.state/);
  expect(ran.code).toBe(0);

  const begin = `import { createCarillonClient } from 'carillon-client'; const client = createCarillonClient({ baseUrl: '', token: '' });`;
  const { code, output } = await project.check('wrong.ts', [begin, ...mistakes.map(({ line }) => line)].join('\n'));
  expect(code).not.toBe(0);
  for (const [index, { what, says }] of mistakes.entries()) {
    const found = output.split(/^(?=wrong\.ts\()/m).filter((text) => text.startsWith(`wrong.ts(${index + 2},`));
    expect({ what, found: found.join('') }).toEqual({ what, found: expect.stringMatching(says) });
  }
  expect(output).not.toContain('wrong.ts(1,');
});

test('the sandbox alone has its command and its types, and the workflow of its page runs where nothing else is', async () => {
  const project = await installPacked('sandbox', 'carillon-sandbox');
  const installed = join(project, 'node_modules', 'carillon-sandbox');
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest & { bin: Record<string, string> };
  expect(Object.keys(manifest.dependencies).filter((name) => /temporal|^pg$|kysely/.test(name))).toEqual([]);
  const main = join(installed, manifest.bin['carillon-sandbox'] ?? '');
  const help = await mustRun(process.execPath, [main, '--help'], project);
  expect(help).toMatch(/^ {2}carillon-sandbox exec -- npm test/m);
  expect(help).not.toContain('carillon sandbox');

  const page = readFileSync(join(root, 'docs/sandbox/ci.md'), 'utf8');
  const [, script = ''] = /^```js\n(.*?)^```/ms.exec(page) ?? [];
  writeFileSync(join(project, 'calls.test.mjs'), script);
  const [, workflow = ''] = /^```yaml\n(.*?)^```/ms.exec(page) ?? [];
  const { jobs } = parse(workflow) as { jobs: { test: { steps: { run?: string }[] } } };
  const [, ...words] = jobs.test.steps
    .flatMap(({ run = '' }) => run.split(' '))
    .join(' ')
    .split('npx carillon-sandbox ');
  const ran = await execute(process.execPath, [main, ...words.join('').split(' ')], project);
  expect(ran.output).toMatch(/two people are called/);
  expect(ran).toMatchObject({ code: 0 });
  expect(readFileSync(join(project, 'conduct.xml'), 'utf8')).toMatch(/<testsuite/);

  const program = `import { startSandbox, type RunningSandbox } from 'carillon-sandbox';
    const sandbox: RunningSandbox = await startSandbox({ seed: 7 });
    console.log((await fetch(sandbox.url)).status, (await fetch(sandbox.url + '/v1/convai/agents')).status);
    await sandbox.close();`;
  expect(await openProject(project).run('page.ts', program, {})).toEqual({ code: 0, output: '200 401\n' });
});

test('the client of the service alone is three packages, which npm installs without a network, and runs every example of its page', async () => {
  const project = newProject('convai');
  const needs = ['undici', 'zod'];
  await mustRun('npm', ['pack', ...needs.map((name) => join(root, 'node_modules', name)), '--ignore-scripts', '--silent'], project);
  const own = readdirSync(project).filter((name) => name.endsWith('.tgz'));
  const packed = [`../carillon-convai-${version}.tgz`, ...own.map((name) => `./${name}`)];
  await mustRun('npm', ['install', '--offline', '--no-audit', '--no-fund', ...packed], project);
  const { packages } = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8')) as { packages: object };
  expect(Object.keys(packages).toSorted()).toEqual(['carillon-convai', ...needs].map((name) => `node_modules/${name}`));

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

test.each([
  {
    what: 'without the compiler nothing is built',
    compiler: false,
    build: 'process.exit(3)',
    ends: 0,
    says: /not built here: that takes dev/,
  },
  { what: 'with the compiler the build runs', compiler: true, build: '0', ends: 0, says: /^$/ },
  { what: 'a build that fails is a failure', compiler: true, build: 'process.exit(3)', ends: 3, says: /^/ },
])('at the end of npm ci, $what', async ({ compiler, build, ends, says }) => {
  const folder = temporaryFolder();
  await copyFile(source, join(folder, 'prepare.mjs'));
  if (compiler) await mkdir(join(folder, 'node_modules', 'typescript'), { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts: { build: `node -e "${build}"` } }));
  const { status, stderr } = spawnSync(process.execPath, ['prepare.mjs'], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toMatch(says);
  expect(status).toBe(ends);
});

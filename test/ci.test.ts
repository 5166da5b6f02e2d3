import { spawnSync } from 'node:child_process';
import { cp, writeFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { tellSlow } from './support/timings.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const ci = fileURLToPath(new URL('../.ci', import.meta.url));

interface Steps {
  exits?: Partial<Record<'ci' | 'test' | 'databases' | 'check' | 'demo', number>>;
  report?: object | null;
  audit?: string;
}

const green = { testResults: [{ status: 'passed', assertionResults: [{ status: 'passed' }, { status: 'passed' }] }] };

const noAnswer = JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405, error: { summary: '' } });

function auditOf(...severities: string[]): string {
  const found = severities.map((severity) => [`pkg-${severity}`, { name: `pkg-${severity}`, severity, range: '<1.2.3' }]);
  return JSON.stringify({ vulnerabilities: Object.fromEntries(found), metadata: { vulnerabilities: {} } });
}

interface CiEnd {
  code: number | null;
  lastLine: string;
  stdout: string;
}

/** Runs the script in its own folder, with fake `npm` and `npx`. */
async function runCi({ exits = {}, report = green, audit = noAnswer }: Steps = {}): Promise<CiEnd> {
  const root = temporaryFolder();
  await cp(ci, join(root, '.ci'), { recursive: true });
  await mkdir(join(root, 'bin'));
  const npm = `#!/bin/sh
depth=$TEST_DEPTH$CARILLON_REQUIRE_TEMPORAL_SERVER
case "$1 $2$depth" in
  "audit "*) cat '${root}/audit.json'; exit 1 ;;
  "ci "*) exit ${exits.ci ?? 0} ;;
  "test --" | "vitest rundatabases1")
    for word; do case "$word" in --outputFile.json=*) ${report === null ? ':' : `cp '${root}/report.json' "\${word#*=}"`} ;; esac; done
    [ "$1" = test ] && exit ${exits.test ?? 0}
    exit ${exits.databases ?? 0} ;;
  "run check"*) exit ${exits.check ?? 0} ;;
  "run demo"*) exit ${exits.demo ?? 0} ;;
esac
exit 99
`;
  for (const name of ['npm', 'npx']) await writeFile(join(root, 'bin', name), npm, { mode: 0o755 });
  await writeFile(join(root, 'report.json'), JSON.stringify(report));
  await writeFile(join(root, 'audit.json'), audit);
  const path = [join(root, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const { status, stdout } = spawnSync('bash', ['.ci/run'], {
    cwd: root,
    // A preset browser keeps the script from installing one.
    env: { PATH: path, HOME: root, CARILLON_CHROMIUM: '/bin/true' },
    encoding: 'utf8',
  });
  return { code: status, lastLine: stdout.trimEnd().split('\n').at(-1) ?? '', stdout };
}

test('when all is well every test, the checks and the demo count as passed', async () => {
  expect(await runCi()).toMatchObject({ code: 0, lastLine: '6 passed, 0 failed' });
});

const withFailures = {
  testResults: [
    {
      name: '/test/a.test.ts',
      status: 'failed',
      assertionResults: [
        { status: 'passed' },
        { status: 'failed', fullName: 'a holds', failureMessages: ['Error: expected 1 to be 2\n    at a.test.ts:3'] },
        { status: 'failed', fullName: 'b holds', failureMessages: [] },
      ],
    },
    { name: '/test/b.test.ts', status: 'failed', message: 'Cannot find module', assertionResults: [] },
    { status: 'passed', assertionResults: [{ status: 'passed' }, { status: 'skipped' }] },
  ],
};

test.each<[string, Steps, string]>([
  ['failed tests and a file that does not load', { report: withFailures, exits: { test: 1 } }, '6 passed, 6 failed'],
  ['a red run without a failed test', { exits: { test: 1 } }, '6 passed, 1 failed'],
  ['a red run of the databases', { exits: { databases: 1 } }, '6 passed, 1 failed'],
  ['a test run without a report', { report: null, exits: { test: 1 } }, '2 passed, 2 failed'],
  ['a test run that tests nothing', { report: { testResults: [] } }, '2 passed, 2 failed'],
  ['failed checks', { exits: { check: 1 } }, '5 passed, 1 failed'],
  ['a demo that fails or takes too long', { exits: { demo: 124 } }, '5 passed, 1 failed'],
  ['an installation that fails', { exits: { ci: 1 } }, '0 passed, 1 failed'],
])('%s: the rest is still counted and the run is red', async (_, steps, lastLine) => {
  expect(await runCi(steps)).toMatchObject({ code: 1, lastLine });
});

test('the end of the output names each failed test with its message', async () => {
  const { stdout } = await runCi({ report: withFailures, exits: { test: 1 } });
  const end = stdout.slice(stdout.indexOf('== Failed:'));
  expect(end).toMatch(/a\.test\.ts > a holds\n {4}Error: expected 1 to be 2\n {8}at a\.test\.ts:3\n.*a\.test\.ts > b holds\n/s);
  expect(end).toMatch(/b\.test\.ts\n {4}Cannot find module/);
});

test.each([
  ['refuses it', noAnswer],
  ['answers with a page', '<html>'],
  ['is silent until the time limit', ''],
])('an audit is not made where the registry %s: one line says so, and nothing is counted', async (_, audit) => {
  const { code, lastLine, stdout } = await runCi({ audit });
  expect({ code, lastLine }).toEqual({ code: 0, lastLine: '6 passed, 0 failed' });
  expect(stdout.match(/npm audit: .*/g)).toEqual(['npm audit: not made, since the registry gave no answer']);
});

test('an audit that finds nothing grave counts as passed, one of severity high or critical as failed', async () => {
  expect(await runCi({ audit: auditOf('low', 'moderate') })).toMatchObject({
    code: 0,
    lastLine: '7 passed, 0 failed',
    stdout: expect.stringContaining('== npm audit: passed'),
  });
  for (const severity of ['high', 'critical']) {
    expect(await runCi({ audit: auditOf('low', severity) })).toMatchObject({
      code: 1,
      lastLine: '6 passed, 1 failed',
      stdout: expect.stringMatching(new RegExp(`^pkg-${severity} <1.2.3: ${severity}$`, 'm')),
    });
  }
});

test('files of more than 20 seconds are named at the end of a run, the slowest first', () => {
  const timings = { 'a.test.ts': { seconds: 20, tests: 1 }, 'b.test.ts': { seconds: 21, tests: 2 } };
  expect(tellSlow({ 'a.test.ts': timings['a.test.ts'] })).toBe('');
  const told = tellSlow({ ...timings, 'c.test.ts': { seconds: 300.04, tests: 3 } });
  expect(told.match(/\S+ s .*/g)?.slice(1)).toEqual(['300.0 s  c.test.ts (3 tests)', '21.0 s  b.test.ts (2 tests)']);
});

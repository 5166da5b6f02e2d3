import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile, chmod, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const ci = fileURLToPath(new URL('../.ci', import.meta.url));

interface Steps {
  /** Exit codes of `npm ci`, `npm test`, `npm run check` and `npm run demo`. */
  exits?: Partial<Record<'ci' | 'test' | 'check' | 'demo', number>>;
  report?: object | null;
}

const green = { testResults: [{ status: 'passed', assertionResults: [{ status: 'passed' }, { status: 'passed' }] }] };

/** Runs the script in a folder of its own, with an `npm` that does as told. */
async function runCi({ exits = {}, report = green }: Steps = {}): Promise<{ code: number | null; lastLine: string }> {
  const root = await mkdtemp(join(tmpdir(), 'carillon-ci-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await cp(ci, join(root, '.ci'), { recursive: true });
  await mkdir(join(root, 'bin'));
  const npm = `#!/bin/sh
case "$1 $2" in
  "ci "*) exit ${exits.ci ?? 0} ;;
  "test "*)
    for word; do case "$word" in --outputFile.json=*) ${report === null ? ':' : `cp '${root}/report.json' "\${word#*=}"`} ;; esac; done
    exit ${exits.test ?? 0} ;;
  "run check") exit ${exits.check ?? 0} ;;
  "run demo") exit ${exits.demo ?? 0} ;;
esac
exit 99
`;
  await writeFile(join(root, 'bin', 'npm'), npm);
  await chmod(join(root, 'bin', 'npm'), 0o755);
  await writeFile(join(root, 'report.json'), JSON.stringify(report));
  const path = [join(root, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const { status, stdout } = spawnSync('bash', ['.ci/run'], {
    cwd: root,
    // With a browser said to be there, the script installs none.
    env: { PATH: path, HOME: root, CARILLON_CHROMIUM: '/bin/true' },
    encoding: 'utf8',
  });
  return { code: status, lastLine: stdout.trimEnd().split('\n').at(-1) ?? '' };
}

test('when all is well every test, the checks and the demo count as passed', async () => {
  expect(await runCi()).toEqual({ code: 0, lastLine: '4 passed, 0 failed' });
});

const withFailures = {
  testResults: [
    { status: 'failed', assertionResults: [{ status: 'passed' }, { status: 'failed' }, { status: 'failed' }] },
    { status: 'failed', assertionResults: [] },
    { status: 'passed', assertionResults: [{ status: 'passed' }, { status: 'skipped' }] },
  ],
};

test.each<[string, Steps, string]>([
  ['failed tests and a file that does not load', { report: withFailures, exits: { test: 1 } }, '4 passed, 3 failed'],
  ['a red run without a failed test', { exits: { test: 1 } }, '4 passed, 1 failed'],
  ['a test run without a report', { report: null, exits: { test: 1 } }, '2 passed, 1 failed'],
  ['a test run that tests nothing', { report: { testResults: [] } }, '2 passed, 1 failed'],
  ['failed checks', { exits: { check: 1 } }, '3 passed, 1 failed'],
  ['a demo that fails or takes too long', { exits: { demo: 124 } }, '3 passed, 1 failed'],
  ['an installation that fails', { exits: { ci: 1 } }, '0 passed, 1 failed'],
])('%s: the rest is still counted and the run is red', async (_, steps, lastLine) => {
  expect(await runCi(steps)).toEqual({ code: 1, lastLine });
});

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Guard } from './guard.ts';

const longestTestMs = 300_000;

interface Report {
  testResults: { assertionResults: { fullName: string; status: string }[] }[];
}

/** How many tests of the name fail in this copy of the code, and how many there are. `isWhole`: every guard is in its place. */
export function runGuardTests(
  folder: string,
  { file, name }: NonNullable<Guard['test']>,
  isWhole: boolean,
): { failed: number; run: number } {
  const report = join(folder, `${file.replaceAll('/', '-')}.json`);
  // With every guard in place one run of a file answers for all its tests.
  if (!isWhole || !existsSync(report)) {
    const args = ['node_modules/vitest/vitest.mjs', 'run', file, '--reporter=json', `--outputFile=${report}`];
    if (!isWhole && name !== '') args.push('-t', name);
    const { error } = spawnSync(process.execPath, args, { cwd: folder, stdio: 'ignore', timeout: longestTestMs });
    // A test that never ends fails as well.
    if (error !== undefined) return { failed: 1, run: 1 };
  }
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const statuses = tests.flatMap(({ fullName, status }) => (fullName.includes(name) ? [status] : []));
  const failed = statuses.filter((status) => status === 'failed').length;
  const run = failed + statuses.filter((status) => status === 'passed').length;
  if (run === 0) throw new Error(`No test of ${file} is named "${name}".`);
  return { failed, run };
}

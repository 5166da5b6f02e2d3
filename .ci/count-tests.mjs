// Prints "PASSED FAILED" from Vitest's JSON report. A run that failed without a failed test (a file that does not load, an error outside
// of tests, a time limit, no report at all) counts as one failure at least: a red run must never read as green.
import { readFileSync } from 'node:fs';

const [path, exitCode] = process.argv.slice(2);
let passed = 0;
let failed = 0;
try {
  const { testResults } = JSON.parse(readFileSync(path, 'utf8'));
  for (const { status, assertionResults } of testResults) {
    const count = (wanted) => assertionResults.filter((test) => test.status === wanted).length;
    passed += count('passed');
    failed += status === 'failed' ? Math.max(1, count('failed')) : count('failed');
  }
} catch (error) {
  console.error(`no usable test report: ${error.message}`);
  failed += 1;
}
if (exitCode !== '0' && failed === 0) failed = 1;
if (exitCode === '0' && passed === 0 && failed === 0) failed = 1;
console.log(`${passed} ${failed}`);

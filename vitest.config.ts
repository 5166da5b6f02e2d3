import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readTimings, TimingsReporter } from './test/support/timings.ts';

/**
 * In which order files begin that were never run here, as seconds in descending order: what takes longest first, since it would run alone at
 * the end; and what waits most of its time between what computes, since a small machine has two cores for six of them.
 */
const usual = {
  'e2e/console': 400,
  'e2e/': 300,
  'shape/production-shape': 250,
  'chaos/': 150,
  'world/': 140,
  'interfaces/console/walk/': 60,
  'activities/reported-calls': 200,
  'interfaces/cli/rehearse/rehearsal': 120,
  'interfaces/cli/schedule/schedule': 100,
  packages: 50,
  'interfaces/one-why': 70,
  'interfaces/cli/rows/resolve': 70,
  'interfaces/console/browser': 60,
  'sandbox/page/': 60,
  'activities/mixes/': 50,
  'temporal/campaign-workflow': 50,
  'sandbox/exec': 50,
  'ledger/random-walk': 40,
  'list/list-limits': 40,
  'service/convai/library': 40,
  'temporal/': 30,
  'interfaces/cli/': 20,
  'sandbox/': 10,
};

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const timings = readTimings();
    const secondsOf = ({ moduleId }: TestSpecification): number => {
      const path = relative(import.meta.dirname, moduleId).replaceAll('\\', '/');
      return timings[path]?.seconds ?? Object.entries(usual).find(([start]) => path.startsWith(`test/${start}`))?.[1] ?? 5;
    };
    return (await super.sort(files)).toSorted((one, other) => secondsOf(other) - secondsOf(one));
  }
}

const all = ['test/**/*.test.ts'];

/** Files that replace a module of ours: whatever has loaded it must be loaded anew, and be gone after them. */
const replacing = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes('vi.mock('));

const asksForReport = process.argv.some((word) => word.startsWith('--outputFile.json='));

const limits = {
  // Only what hangs takes so long: no test is told apart by how busy the machine is.
  testTimeout: 900_000,
  hookTimeout: 300_000,
  // What is polled for comes by itself; its default limit of a second is no time on a busy machine.
  expect: { poll: { timeout: 240_000 } },
  unstubEnvs: true,
  // Titles made from tables are whole: guards name them.
  chaiConfig: { truncateThreshold: 200 },
  pool: 'forks',
  // More than a small machine has cores, since the longest files wait most of their time; TEST_WORKERS says another number.
  maxWorkers: Number(process.env['TEST_WORKERS'] ?? 6),
} as const;

export default defineConfig({
  test: {
    ...limits,
    globalSetup: ['test/support/shared-servers.ts'],
    sequence: { sequencer: LongestFirst },
    // A report in JSON is written where the command line says where to.
    reporters: ['default', new TimingsReporter(), ...(asksForReport ? ['json'] : [])],
    projects: [
      // Files share the modules that a worker has loaded: loading them again for each takes minutes in all.
      { test: { ...limits, name: 'shared', include: all, exclude: replacing, isolate: false } },
      { test: { ...limits, name: 'alone', include: replacing } },
    ],
  },
});

import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Minutes each, most of it waiting: they begin first, so that nothing waits for them at the end. */
const longest = [
  'e2e/production-shape',
  'activities/mixes/mixes',
  'e2e/worker-killed',
  'e2e/ten-kills',
  'worlds/worlds-sqlite',
  'worlds/worlds-postgres',
  'activities/mixes/broken-ledger',
  'e2e/readme-tour',
  'e2e/',
  'cli/schedule/schedule',
  'cli/rows/resolve',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((name) => moduleId.includes(`/test/${name}`));
      return index === -1 ? longest.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

const all = ['test/**/*.test.ts'];

/** Files that replace a module of ours: whatever has loaded it must be loaded anew, and be gone after them. */
const replacing = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes('vi.mock('));

const limits = {
  // Only what hangs takes so long: no test is told apart by how busy the machine is.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // What is polled for comes by itself; its default limit of a second is no time on a busy machine.
  expect: { poll: { timeout: 240_000 } },
  unstubEnvs: true,
  pool: 'forks',
  // More than a small machine's two cores, since the longest files wait most of their time.
  maxWorkers: 4,
} as const;

export default defineConfig({
  test: {
    ...limits,
    globalSetup: ['test/support/shared-servers.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      // Files share the modules that a worker has loaded: loading them again for each takes minutes in all.
      { test: { ...limits, name: 'shared', include: all, exclude: replacing, isolate: false } },
      { test: { ...limits, name: 'alone', include: replacing } },
    ],
  },
});

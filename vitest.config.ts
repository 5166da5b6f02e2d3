import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Minutes each, most of it waiting: they begin first, so that nothing waits for them at the end. */
const longest = [
  'activities/mixes/mixes',
  'e2e/worker-killed',
  'e2e/ten-kills',
  'worlds/worlds-sqlite',
  'worlds/worlds-postgres',
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

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is polled for comes by itself; its default limit of a second is no time on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    globalSetup: ['test/support/shared-servers.ts'],
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // Files share the modules that a worker has loaded: loading them again takes minutes in all.
    isolate: false,
    // More than a small machine's two cores, since the longest files wait most of their time.
    maxWorkers: 4,
  },
});

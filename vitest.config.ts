import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is polled for comes by itself; its default limit of a second is no time on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    globalSetup: ['test/support/shared-servers.ts'],
    pool: 'forks',
    maxWorkers: 2,
  },
});

import { defineConfig } from 'vitest/config';

/** For every save: the rules, the ledger on SQLite, lists, the client and the sending of a batch. They need neither Temporal nor PostgreSQL nor a build. */
export default defineConfig({
  test: {
    include: ['test/{rules,ledger,list,service}/**/*.test.ts', 'test/activities/{failures,lost-commit,posting-deadline,submit-*}.test.ts'],
    // Long walks, locks of PostgreSQL, lists of hundreds of thousands of rows, and tests that start processes of their own: `npm test` has them.
    exclude: [
      'test/ledger/random-walk.test.ts',
      'test/ledger/{collect/locks-records,rows/locks-interleavings}.test.ts',
      'test/ledger/rows/rings-under-caps.test.ts',
      'test/ledger/worker-lock.test.ts',
      'test/list/list-limits.test.ts',
      'test/service/convai/library.test.ts',
    ],
    env: { DIALECTS: 'sqlite' },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
    pool: 'forks',
    // Files share the modules that a worker has loaded: loading them takes as long as the tests.
    isolate: false,
    maxWorkers: 2,
  },
});

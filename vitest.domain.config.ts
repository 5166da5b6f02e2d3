import { defineConfig } from 'vitest/config';

/** The tests of the rules alone, for mutation testing: they need neither Temporal nor a database. */
export default defineConfig({
  test: { include: ['test/rules/**/*.test.ts'], testTimeout: 60_000 },
});

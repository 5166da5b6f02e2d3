/**
 * How much the tests show, read here only. `npm test` shows every promise once. `TEST_DEPTH=full`, as `.ci/run` has it, adds
 * longer seeds, PostgreSQL where it does the same as SQLite, the full product of deaths of a worker, and the production shape.
 */
export const isFull = process.env['TEST_DEPTH'] === 'full';

/** Cases that show the same once more, such as that of another kind of service: all of them, or the first. */
export function someOf<Case>(cases: readonly Case[]): readonly Case[] {
  return isFull ? cases : cases.slice(0, 1);
}

/** Tests draw their seeds this many times; `SEED_FACTOR` says how often. */
export const seedFactor = Number(process.env['SEED_FACTOR'] ?? 1);

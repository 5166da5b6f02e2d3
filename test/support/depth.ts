/**
 * `npm test` shows every promise once. `TEST_DEPTH=databases` adds PostgreSQL's own, over whole processes, and the production shape. `full`
 * adds longer seeds, PostgreSQL where it equals SQLite, and every death.
 */
const depth = process.env['TEST_DEPTH'] ?? 'usual';
const depths = ['usual', 'databases', 'full'];
// A misspelt one would silently skip its tests.
if (!depths.includes(depth)) throw new Error(`TEST_DEPTH is "${depth}"; it must be one of ${depths.join(', ')}.`);
export const isFull = depth === 'full';
export const hasDatabases = depth !== 'usual';

/** Redundant cases: all of them, or the first. */
export function someOf<Case>(cases: readonly Case[]): readonly Case[] {
  return isFull ? cases : cases.slice(0, 1);
}

/** Multiplies the tests' seeds. */
export const seedFactor = Number(process.env['SEED_FACTOR'] ?? 1);

const soakSeed = process.env['SOAK_SEED'];

/** Whether `npm run soak` plays: its seeds are drawn, so checks of single seeds are skipped. */
export const isSoak = soakSeed !== undefined;

/** The same seeds at each run; under `npm run soak`, from the drawn one on. `usual`: those of `npm test`. */
export function seedsFrom(first: number, count: number, usual?: readonly number[]): readonly number[] {
  if (usual !== undefined && !isSoak && !isFull && seedFactor === 1) return usual;
  const from = isSoak ? Number(soakSeed) : first;
  return Array.from({ length: Math.round(count * seedFactor) }, (_, index) => from + index);
}

export function describeSeeds(seeds: readonly number[]): string {
  const isRow = seeds.every((seed, index) => index === 0 || seed === (seeds[index - 1] ?? 0) + 1);
  return isRow && seeds.length > 2 ? `seeds ${seeds[0]} to ${seeds.at(-1)}` : `seeds ${seeds.join(', ')}`;
}

/**
 * How much the tests show. `npm test` shows every promise once. `TEST_DEPTH=databases` adds what PostgreSQL alone has, over whole
 * processes, and the production shape. `full` adds longer seeds, PostgreSQL where it does the same as SQLite, and every death too.
 */
const depth = process.env['TEST_DEPTH'] ?? 'usual';
const depths = ['usual', 'databases', 'full'];
// A misspelt one would silently leave out what it names.
if (!depths.includes(depth)) throw new Error(`TEST_DEPTH is "${depth}"; it must be one of ${depths.join(', ')}.`);
export const isFull = depth === 'full';
export const hasDatabases = depth !== 'usual';

/** Cases that show the same again: all of them, or the first. */
export function someOf<Case>(cases: readonly Case[]): readonly Case[] {
  return isFull ? cases : cases.slice(0, 1);
}

/** Tests draw their seeds this many times. */
export const seedFactor = Number(process.env['SEED_FACTOR'] ?? 1);

const soakSeed = process.env['SOAK_SEED'];

/** Whether `npm run soak` plays: its seeds are drawn, so what a test says of its own is not asked. */
export const isSoak = soakSeed !== undefined;

/** The same seeds at each run; under `npm run soak`, from the drawn one on. `usual`: how many `npm test` plays. */
export function seedsFrom(first: number, count: number, usual?: readonly number[]): readonly number[] {
  if (usual !== undefined && !isSoak && !isFull && seedFactor === 1) return usual;
  const from = isSoak ? Number(soakSeed) : first;
  return Array.from({ length: Math.round(count * seedFactor) }, (_, index) => from + index);
}

export function describeSeeds(seeds: readonly number[]): string {
  const isRow = seeds.every((seed, index) => index === 0 || seed === (seeds[index - 1] ?? 0) + 1);
  return isRow && seeds.length > 2 ? `seeds ${seeds[0]} to ${seeds.at(-1)}` : `seeds ${seeds.join(', ')}`;
}

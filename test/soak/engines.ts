/** Promises that an engine can break; each engine's verifier reads the service's own call log and the list. */
export const promises = ['twice', 'rows', 'hours', 'limits', 'consent', 'callbacks', 'crash'] as const;

export interface Engine {
  /** The file whose tests play drawn seeds. */
  file: string;
  promises: readonly (typeof promises)[number][];
  /** Default: the contract's. */
  api?: 'published' | 'all';
  /** Default: SQLite. */
  database?: 'postgres' | 'both';
}

const mixes = 'test/activities/mixes';

/** Every file that draws seeds, played in this order, in a loop. */
export const engines: readonly Engine[] = [
  { file: `${mixes}/mixes.test.ts`, promises: ['twice', 'rows', 'crash'], api: 'all', database: 'both' },
  { file: 'test/world/worlds.test.ts', promises: ['twice', 'rows'] },
  { file: 'test/world/worlds-postgres.test.ts', promises: ['twice', 'rows'], database: 'postgres' },
  { file: 'test/world/reported-worlds.test.ts', promises: ['twice', 'rows'], api: 'published' },
  { file: 'test/chaos/weaves.test.ts', promises: ['twice', 'rows', 'crash', 'limits'] },
  { file: 'test/chaos/weaves-postgres.test.ts', promises: ['twice', 'rows', 'crash', 'limits'], database: 'postgres' },
  { file: 'test/chaos/reported-weaves.test.ts', promises: ['twice', 'rows', 'crash', 'limits'], api: 'published' },
  { file: `${mixes}/own-hours.test.ts`, promises: ['hours'] },
  { file: `${mixes}/house.test.ts`, promises: ['hours', 'limits'] },
  { file: `${mixes}/priority.test.ts`, promises: ['limits'] },
  { file: `${mixes}/caller-limits.test.ts`, promises: ['limits'] },
  { file: `${mixes}/pilot.test.ts`, promises: ['limits'] },
  { file: `${mixes}/consent.test.ts`, promises: ['consent'] },
  { file: `${mixes}/stays-open.test.ts`, promises: ['twice', 'hours'] },
  { file: `${mixes}/promises.test.ts`, promises: ['callbacks'], api: 'all' },
  { file: 'test/shape/production-shape.test.ts', promises: ['twice', 'rows', 'crash'], database: 'postgres' },
  { file: 'test/ledger/random-walk.test.ts', promises: ['rows', 'limits'], database: 'both' },
];

import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { TestDialect } from '../ledger/test-stores.ts';

/** What an engine of proof can break; each engine's judge reads the service's own call log and the list. */
export const promises = ['twice', 'rows', 'hours', 'limits', 'consent', 'callbacks', 'crash'] as const;

export interface Engine {
  /** The file whose tests play drawn seeds. */
  file: string;
  promises: readonly (typeof promises)[number][];
  api: ServiceApi | 'published' | 'all';
  database: TestDialect | 'both';
}

const mixes = 'test/activities/mixes';

/** Every file that draws seeds. They are played in this order, again and again. */
export const engines: readonly Engine[] = [
  { file: `${mixes}/mixes.test.ts`, promises: ['twice', 'rows', 'crash'], api: 'contract', database: 'sqlite' },
  { file: 'test/worlds/worlds-sqlite.test.ts', promises: ['twice', 'rows'], api: 'contract', database: 'sqlite' },
  { file: 'test/chaos/weaves-sqlite.test.ts', promises: ['twice', 'rows', 'crash', 'limits'], api: 'all', database: 'sqlite' },
  { file: 'test/worlds/worlds-reported.test.ts', promises: ['twice', 'rows'], api: 'published', database: 'sqlite' },
  { file: `${mixes}/reported-mixes.test.ts`, promises: ['twice', 'rows', 'crash'], api: 'published', database: 'sqlite' },
  { file: 'test/worlds/worlds-postgres.test.ts', promises: ['twice', 'rows'], api: 'contract', database: 'postgres' },
  { file: 'test/chaos/weaves-postgres.test.ts', promises: ['twice', 'rows', 'crash', 'limits'], api: 'contract', database: 'postgres' },
  { file: `${mixes}/chained.test.ts`, promises: ['twice', 'crash'], api: 'contract', database: 'sqlite' },
  { file: `${mixes}/tangled.test.ts`, promises: ['twice'], api: 'contract', database: 'sqlite' },
  { file: `${mixes}/own-hours.test.ts`, promises: ['hours'], api: 'contract', database: 'sqlite' },
  { file: `${mixes}/house.test.ts`, promises: ['hours', 'limits'], api: 'contract', database: 'sqlite' },
  { file: `${mixes}/priority.test.ts`, promises: ['limits'], api: 'contract', database: 'sqlite' },
  { file: `${mixes}/caller-limits.test.ts`, promises: ['limits'], api: 'contract', database: 'sqlite' },
  { file: `${mixes}/pilot.test.ts`, promises: ['limits'], api: 'contract', database: 'sqlite' },
  { file: `${mixes}/consent.test.ts`, promises: ['consent'], api: 'contract', database: 'sqlite' },
  { file: `${mixes}/stays-open.test.ts`, promises: ['twice', 'hours'], api: 'contract', database: 'sqlite' },
  { file: `${mixes}/promises.test.ts`, promises: ['callbacks'], api: 'all', database: 'sqlite' },
  { file: 'test/ledger/random-walk.test.ts', promises: ['rows', 'limits'], api: 'contract', database: 'both' },
];

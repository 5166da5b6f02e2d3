import { expect, test } from 'vitest';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { describeSeeds, isSoak, seedsFrom } from '../support/depth.ts';
import { createDatabase } from '../support/postgres-server.ts';
import { sharedServer } from '../support/shared-server.ts';
import { formatCutLines } from './cut-lines.ts';
import { drawWorld, nameOfSeed, worldNames } from './inputs/draw-world.ts';
import { addUp, formatFigures, runWorlds, type Figures } from './run-worlds.ts';

/**
 * Tests that the promises hold over seeds of the worlds, and that campaigns whose calls can be told apart lose nothing. With a service that
 * reports its calls: also that calls taken back did not ring, and that no row is in doubt where batches can be read.
 */
function testWorlds(seeds: readonly number[], database: 'sqlite' | 'postgres', api: ServiceApi = 'contract'): void {
  const isHere = bothDialects.includes(database);
  const figures = new Map<string, Figures>();
  const where = api === 'contract' ? `on ${database}` : `with ${api}`;
  const worlds = seeds.map((seed) => ({ seed, name: nameOfSeed(seed, api) }));
  test.skipIf(!isHere).each(worlds)(
    `nobody who answered or opted out is called again: world $name, seed $seed ${where}`,
    async ({ seed }) => {
      const databaseUrl = database === 'sqlite' ? undefined : await createDatabase(await sharedServer('postgres'), `world_${seed}`);
      const run = await runWorlds([drawWorld(seed, undefined, { databaseUrl, api })]);
      for (const [name, each] of run.figures)
        figures.set(name, addUp([...(figures.has(name) ? [figures.get(name) as Figures] : []), each]) ?? each);
      expect(run.broken.join('\n\n')).toBe('');
    },
  );

  // Fewer seeds than there are worlds may not come to it.
  const testFigures = (least: number) => test.runIf(!isSoak && isHere && api === 'contract' && seeds.length > least);
  testFigures(20)(`where calls can be told apart, next to nobody is left in doubt, ${where}: ${describeSeeds(seeds)}`, () => {
    const apart = addUp([...figures].flatMap(([name, each]) => (name.startsWith('apart_') ? [each] : [])));
    if (apart === undefined) throw new Error('None of the seeds drew a world in which calls can be told apart.');
    const story = formatFigures(figures);
    expect(apart.unresolved / apart.rows, story).toBeLessThanOrEqual(0.01);
    expect(apart.givenUp / apart.rows, story).toBeLessThanOrEqual(0.01);
    expect(apart.presses, story).toBeLessThanOrEqual(1);
    expect(apart.retries, story).toBeGreaterThan(apart.rows / 2);
  });

  testFigures(worldNames.length)(`where people interrupt the agent, few whose names it has spoken are left in doubt, ${where}`, () => {
    const { cut = {}, rows = 0 } = figures.get('interrupted') ?? {};
    const named = Object.entries(cut).filter(([words]) => Number(words) >= 2);
    const story = formatCutLines(cut, rows);
    const sumOf = (key: 'records' | 'rows') => named.reduce((sum, [, each]) => sum + each[key], 0);
    expect(sumOf('records'), story).toBeGreaterThan(0);
    expect(sumOf('rows') / rows, story).toBeLessThanOrEqual(0.1);
  });
}

// Each world once: where two workers may meet, on PostgreSQL; those of services that report their calls with one of the two.
testWorlds(seedsFrom(1, 35, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 26, 27, 28]), 'sqlite');
testWorlds(seedsFrom(15, 10, [15, 16, 17, 18, 19]), 'postgres');
testWorlds(seedsFrom(1, 37, [28, 30, 31, 33, 35]), 'sqlite', 'batch-calling');
testWorlds(seedsFrom(1, 37, [29, 32, 34, 36]), 'sqlite', 'campaigns');

import { expect, test } from 'vitest';
import { bothDialects } from '../ledger/test-stores.ts';
import { describeSeeds, isSoak, seedsFrom } from '../support/depth.ts';
import { createDatabase } from '../support/postgres-server.ts';
import { sharedServer } from '../support/shared-server.ts';
import { formatCutLines } from './cut-lines.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { drawWorld, worldNames, type World } from './inputs/draw-world.ts';
import { addUp, formatFigures, runWorlds, type Figures } from './run-worlds.ts';

/** Tests that the promises hold over seeds of the worlds, and that campaigns whose calls can be told apart lose nothing by it. */
function testWorlds(seeds: readonly number[], database: 'sqlite' | 'postgres'): void {
  const testHere = test.skipIf(!bothDialects.includes(database));
  const figures = new Map<string, Figures>();
  async function* draw(): AsyncGenerator<World> {
    for (const seed of seeds) {
      const databaseUrl = database === 'sqlite' ? undefined : await createDatabase(await sharedServer('postgres'), `world_${seed}`);
      yield drawWorld(seed, undefined, { databaseUrl });
    }
  }

  // Fewer seeds than there are worlds may not come to it.
  const isEnough = !isSoak && seeds.length > 20;
  const which = `on ${database}: ${describeSeeds(seeds)}`;
  testHere(`nobody who answered or opted out is called again in any world, ${which}`, async () => {
    const run = await runWorlds(draw());
    for (const [name, more] of run.figures) figures.set(name, more);
    expect(run.broken.join('\n\n')).toBe('');
  });

  test.runIf(isEnough && bothDialects.includes(database))(
    `where calls can be told apart, next to nobody is left in doubt, ${which}`,
    () => {
      const apart = addUp([...figures].flatMap(([name, each]) => (name.startsWith('apart_') ? [each] : [])));
      if (apart === undefined) throw new Error('None of the seeds drew a world in which calls can be told apart.');
      const story = formatFigures(figures);
      expect(apart.unresolved / apart.rows, story).toBeLessThanOrEqual(0.01);
      expect(apart.givenUp / apart.rows, story).toBeLessThanOrEqual(0.01);
      expect(apart.presses, story).toBeLessThanOrEqual(1);
      expect(apart.retries, story).toBeGreaterThan(apart.rows / 2);
    },
  );

  test.runIf(isEnough && seeds.length > worldNames.length)(
    `where people interrupt the agent, few whose names it has spoken are left in doubt, ${which}`,
    () => {
      const { cut = {}, rows = 0 } = figures.get('interrupted') ?? {};
      const named = Object.entries(cut).filter(([words]) => Number(words) >= 2);
      const story = formatCutLines(cut, rows);
      expect(
        named.reduce((sum, [, each]) => sum + each.records, 0),
        story,
      ).toBeGreaterThan(0);
      expect(named.reduce((sum, [, each]) => sum + each.rows, 0) / rows, story).toBeLessThanOrEqual(0.1);
    },
  );
}

/**
 * Tests that the promises hold over seeds of the worlds with a service that reports its calls: beside those to people, that what was taken
 * back did not ring, and that nobody is left in doubt where batches can be read.
 */
function testReportedWorlds(api: Exclude<ServiceApi, 'contract'>, seeds: readonly number[]): void {
  const which = `with ${api}: ${describeSeeds(seeds)}`;
  test(`nobody is called twice, rings after a withdrawal, or is left in doubt for nothing, ${which}`, async () => {
    const run = await runWorlds(seeds.map((seed) => drawWorld(seed, undefined, { api })));
    expect(run.broken.join('\n\n')).toBe('');
  });
}

// Each world once: where two workers may meet, on PostgreSQL; those of services that report their calls with one of the two.
testWorlds(seedsFrom(1, 35, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 25, 26, 27, 28]), 'sqlite');
testWorlds(seedsFrom(15, 10, [15, 16, 17, 18, 19]), 'postgres');
testReportedWorlds('batch-calling', seedsFrom(1, 37, [28, 30, 31, 33, 35]));
testReportedWorlds('campaigns', seedsFrom(1, 37, [29, 32, 34, 36]));

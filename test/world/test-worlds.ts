import { expect, test } from 'vitest';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { newDatabase } from '../ledger/clean-store.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { describeSeeds, isSoak } from '../support/depth.ts';
import { drawWorld, nameOfSeed } from './inputs/draw-world.ts';
import { addUp, formatCutLines, formatFigures, runWorlds, type Figures } from './run-worlds.ts';

/**
 * Tests that the promises hold over seeds of the worlds, and that campaigns whose calls can be told apart lose nothing. With a service that
 * reports its calls: also that calls taken back did not ring, and that no row is in doubt where batches can be read.
 */
export function testWorlds(seeds: readonly number[], database: 'sqlite' | 'postgres', api: ServiceApi = 'contract'): void {
  const isHere = bothDialects.includes(database);
  const figures = new Map<string, Figures>();
  const where = api === 'contract' ? `on ${database}` : `with ${api}`;
  const worlds = seeds.map((seed) => ({ seed, name: nameOfSeed(seed, api) }));
  test.skipIf(!isHere).each(worlds)(
    `nobody who answered or opted out is called again: world $name, seed $seed ${where}`,
    async ({ seed }) => {
      const { databaseUrl } = database === 'sqlite' ? {} : await newDatabase(database);
      const run = await runWorlds([drawWorld(seed, undefined, { databaseUrl, api })]);
      for (const [name, each] of run.figures)
        figures.set(name, addUp([...(figures.has(name) ? [figures.get(name) as Figures] : []), each]) ?? each);
      expect(run.broken.join('\n\n')).toBe('');
    },
  );

  // Drawn seeds may not come to it.
  const isJudged = !isSoak && isHere && api === 'contract' && database === 'sqlite';
  const testFigures = (kind: RegExp) => test.runIf(isJudged && worlds.some(({ name }) => kind.test(name)));
  testFigures(/^apart_/)(`where calls can be told apart, next to nobody is left in doubt, ${where}: ${describeSeeds(seeds)}`, () => {
    const apart = addUp([...figures].flatMap(([name, each]) => (name.startsWith('apart_') ? [each] : [])));
    if (apart === undefined) throw new Error('None of the seeds drew a world in which calls can be told apart.');
    const story = formatFigures(figures);
    expect(apart.unresolved / apart.rows, story).toBeLessThanOrEqual(0.01);
    expect(apart.givenUp / apart.rows, story).toBeLessThanOrEqual(0.01);
    expect(apart.presses, story).toBeLessThanOrEqual(1);
    expect(apart.retries, story).toBeGreaterThan(apart.rows / 2);
  });

  testFigures(/^interrupted$/)(`where people interrupt the agent, few whose names it has spoken are left in doubt, ${where}`, () => {
    const { cut = {}, rows = 0 } = figures.get('interrupted') ?? {};
    const named = Object.entries(cut).filter(([words]) => Number(words) >= 2);
    const story = formatCutLines(cut, rows);
    const sumOf = (key: 'records' | 'rows') => named.reduce((sum, [, each]) => sum + each[key], 0);
    expect(sumOf('records'), story).toBeGreaterThan(0);
    expect(sumOf('rows') / rows, story).toBeLessThanOrEqual(0.1);
  });
}

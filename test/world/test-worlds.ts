import { expect, test } from 'vitest';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { newDatabase } from '../ledger/clean-store.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { describeSeeds, isSoak } from '../support/depth.ts';
import { drawWorld, nameOfSeed } from './inputs/draw-world.ts';
import { runWorld, type Figures } from './run-worlds.ts';

/**
 * The promises hold over seeds of the worlds, and campaigns whose calls can be told apart lose nothing. With a reporting service: calls
 * taken back did not ring, and no row is in doubt where batches can be read.
 */
export function testWorlds(seeds: readonly number[], database: 'sqlite' | 'postgres', api: ServiceApi = 'contract'): void {
  const isHere = bothDialects.includes(database);
  const played: { name: string; figures: Figures }[] = [];
  const where = api === 'contract' ? `on ${database}` : `with ${api}`;
  const worlds = seeds.map((seed) => ({ seed, name: nameOfSeed(seed, api) }));
  test.skipIf(!isHere).each(worlds)(
    `nobody who answered or opted out is called again: world $name, seed $seed ${where}`,
    async ({ seed, name }) => {
      const { databaseUrl } = database === 'sqlite' ? {} : await newDatabase(database);
      const { figures, story } = await runWorld(drawWorld(seed, undefined, { databaseUrl, api }));
      played.push({ name, figures });
      expect(story).toBe('');
    },
  );

  // Drawn seeds may not come to it.
  const isJudged = !isSoak && isHere && api === 'contract' && database === 'sqlite';
  const testFigures = (kind: RegExp, title: string, check: (some: readonly Figures[]) => void) =>
    test.runIf(isJudged && worlds.some(({ name }) => kind.test(name)))(title, () =>
      check(played.flatMap(({ name, figures }) => (kind.test(name) ? [figures] : []))),
    );
  const apart = `where calls can be told apart, next to nobody is left in doubt, ${where}: ${describeSeeds(seeds)}`;
  testFigures(/^apart_/, apart, (some) => {
    const story = JSON.stringify(some);
    const sumOf = (key: 'rows' | 'retries' | 'unresolved' | 'givenUp') => some.reduce((sum, figures) => sum + figures[key], 0);
    expect(sumOf('unresolved') / sumOf('rows'), story).toBeLessThanOrEqual(0.01);
    expect(sumOf('givenUp') / sumOf('rows'), story).toBeLessThanOrEqual(0.01);
    expect(Math.max(...some.map(({ presses }) => presses)), story).toBeLessThanOrEqual(1);
    expect(sumOf('retries'), story).toBeGreaterThan(sumOf('rows') / 2);
  });

  testFigures(/^interrupted$/, `where people interrupt the agent, few whose names it has spoken are left in doubt, ${where}`, (some) => {
    for (const { cut, rows } of some) {
      expect(cut.records, JSON.stringify(some)).toBeGreaterThan(0);
      expect(cut.rows / rows, JSON.stringify(some)).toBeLessThanOrEqual(0.1);
    }
  });
}

import { expect, test } from 'vitest';
import { range } from '../activities/mixes/run-mixes.ts';
import { createDatabase } from '../support/postgres-server.ts';
import { sharedServer } from '../support/shared-server.ts';
import { formatCutLines } from './cut-lines.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { drawWorld, worldNames, type World } from './draw-world.ts';
import { addUp, formatFigures, runWorlds, type Figures } from './run-worlds.ts';

const atOnce = 25;

/** Tests that the promises hold over seeds of the worlds, and that campaigns whose calls can be told apart lose nothing by it. */
export function testWorlds(from: number, to: number, database: 'sqlite' | 'postgres'): void {
  const figures = new Map<string, Figures>();
  async function* draw(seeds: number[]): AsyncGenerator<World> {
    for (const seed of seeds) {
      const databaseUrl = database === 'sqlite' ? undefined : await createDatabase(await sharedServer('postgres'), `world_${seed}`);
      yield drawWorld(seed, undefined, { databaseUrl });
    }
  }

  const starts = range(from, to).filter((seed) => (seed - from) % atOnce === 0);
  test.for(starts)(
    `nobody who answered or opted out is called again in any world, on ${database}: ${atOnce} seeds from %i`,
    async (start) => {
      const run = await runWorlds(draw(range(start, Math.min(to, start + atOnce - 1))));
      for (const [name, more] of run.figures) {
        const sum = addUp([figures.get(name) ?? [], more].flat());
        if (sum !== undefined) figures.set(name, sum);
      }
      expect(run.broken.join('\n\n')).toBe('');
    },
  );

  test(`where calls can be told apart, next to nobody is left in doubt, on ${database}: seeds ${from} to ${to}`, () => {
    const apart = addUp([...figures].flatMap(([name, each]) => (name.startsWith('apart_') ? [each] : [])));
    if (apart === undefined) throw new Error('None of the seeds drew a world in which calls can be told apart.');
    const story = formatFigures(figures);
    expect(apart.unresolved / apart.rows, story).toBeLessThanOrEqual(0.01);
    expect(apart.givenUp / apart.rows, story).toBeLessThanOrEqual(0.01);
    expect(apart.presses, story).toBeLessThanOrEqual(1);
    expect(apart.retries, story).toBeGreaterThan(apart.rows / 2);
  });

  const name = `where people interrupt the agent, few whose names it has spoken are left in doubt, on ${database}: seeds ${from} to ${to}`;
  // Fewer seeds than there are worlds may not come to it.
  test.runIf(to - from >= worldNames.length)(name, () => {
    const { cut = {}, rows = 0 } = figures.get('interrupted') ?? {};
    const named = Object.entries(cut).filter(([words]) => Number(words) >= 2);
    const story = formatCutLines(cut, rows);
    expect(
      named.reduce((sum, [, each]) => sum + each.records, 0),
      story,
    ).toBeGreaterThan(0);
    expect(named.reduce((sum, [, each]) => sum + each.rows, 0) / rows, story).toBeLessThanOrEqual(0.1);
  });
}

/**
 * Tests that the promises hold over seeds of the worlds with a service that reports its calls: beside those to people, that what was taken
 * back did not ring, and that nobody is left in doubt where batches can be read.
 */
export function testReportedWorlds(api: Exclude<ServiceApi, 'contract'>, from: number, to: number): void {
  const starts = range(from, to).filter((seed) => (seed - from) % atOnce === 0);
  test.for(starts)(
    `nobody is called twice, rings after a withdrawal, or is left in doubt for nothing, with ${api}: ${atOnce} seeds from %i`,
    async (start) => {
      const seeds = range(start, Math.min(to, start + atOnce - 1));
      const run = await runWorlds(seeds.map((seed) => drawWorld(seed, undefined, { api })));
      expect(run.broken.join('\n\n')).toBe('');
    },
  );
}

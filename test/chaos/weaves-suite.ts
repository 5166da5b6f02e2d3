import { expect, onTestFinished, test } from 'vitest';
import { range } from '../activities/mixes/run-mixes.ts';
import { createDatabase } from '../support/postgres-server.ts';
import { sharedServer } from '../support/shared-server.ts';
import { designOf } from './design.ts';
import { Place } from './places.ts';
import { emptyWeaves, formatWeaves, runCase, runSeed } from './run-weaves.ts';
import { scenarios } from './scenarios.ts';

export async function openPlace(database: 'sqlite' | 'postgres', name: string): Promise<Place> {
  const place = await Place.open(
    database === 'sqlite' ? undefined : await createDatabase(await sharedServer('postgres'), `chaos_${name}`),
  );
  onTestFinished(() => place.close());
  return place;
}

/** Tests one case in so many of the design, and some seeds, on one database; `npm run chaos` runs them all. */
export function testWeaves(database: 'sqlite' | 'postgres', { every, seeds }: { every: number; seeds: number }): void {
  test(
    `wherever a worker dies or another one comes between, nobody is called twice, on ${database}`,
    { timeout: 300_000 },
    async () => {
      const place = await openPlace(database, 'design');
      const weaves = emptyWeaves();
      for (const scenario of scenarios) {
        const cases = await designOf(place, scenario);
        for (const [index, each] of cases.entries()) if (index % every === 0) await runCase(place, each, weaves);
      }
      expect(weaves.broken.join('\n\n')).toBe('');
      // They are no proof where they come to nothing.
      expect(weaves.missed, formatWeaves(weaves)).toBeLessThan(weaves.cases / 20);
    },
  );

  test(`nor when several things happen at once: seeds 1 to ${seeds} on ${database}`, { timeout: 300_000 }, async () => {
    const place = await openPlace(database, 'seeds');
    const weaves = emptyWeaves();
    for (const seed of range(1, seeds)) await runSeed(place, seed, weaves);
    expect(weaves.broken.join('\n\n')).toBe('');
  });
}

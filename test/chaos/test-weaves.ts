import { expect, test } from 'vitest';
import { bothDialects } from '../ledger/test-stores.ts';
import { describeSeeds, isSoak, seedFactor, seedsFrom } from '../support/depth.ts';
import { chooseCases } from './design.ts';
import type { databases } from './command.ts';
import { openPlace } from './places.ts';
import { emptyWeaves, formatWeaves, runCase, runSeed } from './run-weaves.ts';
import { scenarios } from './scenarios.ts';

type Amount = Record<'every' | 'everyScenario' | 'seeds', number>;

/** Tests one in so many of the cases that reach each cell of the matrix once, and some seeds; `npm run chaos` runs them all. */
export function testWeaves(database: (typeof databases)[number], { every, everyScenario, seeds }: Amount): void {
  // The cases of the design are the same whatever the seed.
  test.skipIf(isSoak || !bothDialects.includes(database))(
    `wherever a worker dies or another one comes between, nobody is called twice, on ${database}`,
    async () => {
      const place = await openPlace(database);
      const weaves = emptyWeaves();
      const played = scenarios.filter((_, index) => index % everyScenario === 0);
      const cases = await chooseCases(place, played, { perCell: 1 });
      for (const each of cases.filter((_, index) => index % Math.max(1, Math.round(every / seedFactor)) === 0))
        await runCase(place, each, weaves);
      expect(weaves.broken.join('\n\n')).toBe('');
      // They are no proof where they come to nothing.
      expect(weaves.cases).toBeGreaterThan(played.length);
      expect(weaves.missed, formatWeaves(weaves)).toBeLessThan(weaves.cases / 20);
    },
  );

  const drawn = seedsFrom(1, seeds);
  test.skipIf(!bothDialects.includes(database))(
    `nor when several things happen to a campaign: ${describeSeeds(drawn)} on ${database}`,
    async () => {
      const place = await openPlace(database);
      const weaves = emptyWeaves();
      for (const seed of drawn) await runSeed(place, seed, weaves);
      expect(weaves.broken.join('\n\n')).toBe('');
    },
  );
}

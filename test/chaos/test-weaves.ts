import { expect, test } from 'vitest';
import { bothDialects, type TestDialect } from '../ledger/test-stores.ts';
import { describeSeeds, isSoak, seedFactor, seedsFrom } from '../support/depth.ts';
import { casesOf, onePerCell } from './design.ts';
import { openPlace } from './places.ts';
import { runCase, runSeed } from './run-weaves.ts';
import { scenarios } from './scenarios.ts';

type Amount = Record<'every' | 'everyScenario' | 'seeds', number>;

/** A soak plays one in so many of a scenario's thousands of cases. */
const everyOfSoak = 97;

/** Plays one in so many of the cases that reach each cell once, and some seeds; a soak: any cases of a drawn scenario. */
export function testWeaves(database: TestDialect, { every, everyScenario, seeds }: Amount): void {
  const drawn = seedsFrom(1, seeds);
  const [first = 0] = drawn;
  test.skipIf(!bothDialects.includes(database))(
    `wherever a worker dies or another one comes between, nobody is called twice, on ${database}`,
    async () => {
      const place = await openPlace(database);
      const played = scenarios.filter((_, index) => (isSoak ? index === first % scenarios.length : index % everyScenario === 0));
      const all = await casesOf(place, played);
      const step = Math.max(1, Math.round(every / seedFactor));
      const cases = isSoak
        ? all.filter((_, index) => (index + first) % everyOfSoak === 0)
        : onePerCell(all).filter((_, index) => index % step === 0);
      let missed = 0;
      for (const each of cases) {
        const { story, ending } = await runCase(place, each);
        expect(story).toBe('');
        // What happened before was not quite the same.
        if (ending.done.length === 0) missed += 1;
      }
      if (isSoak) return;
      // They are no proof where they come to nothing.
      expect(cases.length).toBeGreaterThan(played.length);
      expect(missed).toBeLessThan(cases.length / 20);
    },
  );

  test.skipIf(!bothDialects.includes(database))(
    `nor when several things happen to a campaign: ${describeSeeds(drawn)} on ${database}`,
    async () => {
      const place = await openPlace(database);
      for (const seed of drawn) expect((await runSeed(place, seed)).story).toBe('');
    },
  );
}

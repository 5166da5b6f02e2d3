import { expect, test } from 'vitest';
import { bothDialects } from '../ledger/test-stores.ts';
import { describeSeeds, isFull, isSoak, seedFactor, seedsFrom } from '../support/depth.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { chooseCases } from './design.ts';
import type { Transition } from './effect-log.ts';
import type { databases } from './command.ts';
import { possibleOf } from './matrix.ts';
import { openPlace } from './open-place.ts';
import { emptyWeaves, formatWeaves, runCase, runSeed } from './run-weaves.ts';
import { scenarios, scenariosOf } from './scenarios.ts';

type Amount = Record<'every' | 'everyScenario' | 'seeds', number>;

/** Tests one in so many of the cases that reach each cell of the matrix once, and some seeds; `npm run chaos` runs them all. */
function testWeaves(database: (typeof databases)[number], { every, everyScenario, seeds }: Amount): void {
  // The cases of the design are the same whatever the seed.
  test.skipIf(isSoak || !bothDialects.includes(database))(
    `wherever a worker dies or another one comes between, nobody is called twice, on ${database}`,
    async () => {
      const place = await openPlace(database, 'design');
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
      const place = await openPlace(database, 'seeds');
      const weaves = emptyWeaves();
      for (const seed of drawn) await runSeed(place, seed, weaves);
      expect(weaves.broken.join('\n\n')).toBe('');
    },
  );
}

/** Where a service reports its calls: a lost request is looked up, and what waits is taken back. */
const telling = ['request lost', 'waiting, and pause', 'waiting, and suppress'];

/** The same of its requests: nobody is called twice, rings once taken back, or is left in doubt; and some seeds. */
function testReportedWeaves(api: Exclude<ServiceApi, 'contract'>, database: (typeof databases)[number], seeds: number): void {
  const drawn = seedsFrom(1, seeds);
  const name = `wherever a process dies around a request of ${api}, and in ${describeSeeds(drawn)}, on ${database}`;
  test.skipIf(!bothDialects.includes(database))(name, async () => {
    const place = await openPlace(database, `reported_${api.replace('-', '_')}`, api);
    const weaves = emptyWeaves(api);
    const chosen = scenariosOf(api).filter(({ name }) => telling.includes(name));
    const cases = await chooseCases(place, chosen, { perCell: 1 });
    const deaths = cases.filter(({ transitions, intervention }) => transitions.some(isOfRequest) && intervention.strike === 'dies after');
    if (!isSoak) for (const each of deaths) await runCase(place, each, weaves);
    const neverDead = possibleOf(api).filter((move) => isOfRequest(move) && weaves.matrix.count(move, 'dies after') === 0);
    for (const seed of drawn) await runSeed(place, seed, weaves);
    expect(weaves.broken.join('\n\n')).toBe('');
    if (!isSoak) expect(neverDead).toEqual([]);
  });
}

const isOfRequest = (transition: Transition): boolean => transition.startsWith('request');

// PostgreSQL adds its locks, which a few scenarios come to.
testWeaves('sqlite', isFull ? { every: 8, everyScenario: 1, seeds: 10 } : { every: 13, everyScenario: 1, seeds: 5 });
testWeaves('postgres', isFull ? { every: 10, everyScenario: 1, seeds: 4 } : { every: 26, everyScenario: 4, seeds: 3 });
testReportedWeaves('batch-calling', 'sqlite', 4);
testReportedWeaves('campaigns', 'sqlite', 4);

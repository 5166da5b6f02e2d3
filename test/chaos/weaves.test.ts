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

interface Amount {
  /** One in so many of the cases that reach each cell of the matrix once. */
  every: number;
  /** One in so many of the scenarios. */
  everyScenario: number;
  seeds: number;
}

/** Tests some of the cases of the design, and some seeds; `npm run chaos` runs them all. */
function testWeaves(database: (typeof databases)[number], { every, everyScenario, seeds }: Amount): void {
  const testHere = test.skipIf(!bothDialects.includes(database));

  // The cases of the design are the same whatever the seed.
  const testDesign = test.skipIf(isSoak || !bothDialects.includes(database));
  testDesign(`wherever a worker dies or another one comes between, nobody is called twice, on ${database}`, async () => {
    const place = await openPlace(database, 'design');
    const weaves = emptyWeaves();
    const step = Math.max(1, Math.round(every / seedFactor));
    const played = scenarios.filter((_, index) => index % everyScenario === 0);
    const cases = await chooseCases(place, played, { perCell: 1 });
    for (const each of cases.filter((_, index) => index % step === 0)) await runCase(place, each, weaves);
    expect(weaves.broken.join('\n\n')).toBe('');
    // They are no proof where they come to nothing.
    expect(weaves.cases).toBeGreaterThan(played.length);
    expect(weaves.missed, formatWeaves(weaves)).toBeLessThan(weaves.cases / 20);
  });

  const drawn = seedsFrom(1, seeds);
  testHere(`nor when several things happen to a campaign: ${describeSeeds(drawn)} on ${database}`, async () => {
    const place = await openPlace(database, 'seeds');
    const weaves = emptyWeaves();
    for (const seed of drawn) await runSeed(place, seed, weaves);
    expect(weaves.broken.join('\n\n')).toBe('');
  });
}

/** Where a service is asked that reports its calls: a lost request is looked up, and what waits is taken back. */
const telling = ['request lost', 'waiting, and pause', 'waiting, and suppress'];

/** The same of requests that the contract has not: nobody is called twice, rings once taken back, or is left in doubt; and some seeds. */
function testReportedWeaves(api: Exclude<ServiceApi, 'contract'>, database: (typeof databases)[number], seeds: number): void {
  const testHere = test.skipIf(!bothDialects.includes(database));
  const drawn = seedsFrom(1, seeds);
  testHere(`wherever a process dies around a request of ${api}, and in ${describeSeeds(drawn)}, on ${database}`, async () => {
    const place = await openPlace(database, `reported_${api.replace('-', '_')}`, api);
    const weaves = emptyWeaves(api);
    const chosen = scenariosOf(api).filter(({ name }) => telling.includes(name));
    const cases = await chooseCases(place, chosen, { perCell: 1 });
    const deaths = cases.filter(({ transitions, intervention }) => transitions.some(isOfRequest) && intervention.strike === 'dies after');
    if (!isSoak) for (const each of deaths) await runCase(place, each, weaves);
    const dead = possibleOf(api)
      .filter(isOfRequest)
      .map((transition) => [transition, weaves.matrix.count(transition, 'dies after')]);
    for (const seed of drawn) await runSeed(place, seed, weaves);
    expect(weaves.broken.join('\n\n')).toBe('');
    if (!isSoak) expect(dead.filter(([, times]) => times === 0)).toEqual([]);
  });
}

const isOfRequest = (transition: Transition): boolean => transition.startsWith('request');

// Fewer than this would come to nothing in too many of the scenarios. PostgreSQL adds its locks, which a few scenarios come to.
testWeaves('sqlite', isFull ? { every: 8, everyScenario: 1, seeds: 10 } : { every: 13, everyScenario: 1, seeds: 5 });
testWeaves('postgres', isFull ? { every: 10, everyScenario: 1, seeds: 4 } : { every: 26, everyScenario: 4, seeds: 3 });
testReportedWeaves('batch-calling', 'sqlite', 4);
testReportedWeaves('campaigns', 'sqlite', 4);

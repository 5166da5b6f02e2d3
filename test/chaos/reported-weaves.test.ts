import { expect, test } from 'vitest';
import { bothDialects } from '../ledger/test-stores.ts';
import { describeSeeds, isSoak, seedsFrom } from '../support/depth.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { chooseCases } from './design.ts';
import type { Transition } from './effect-log.ts';
import { possibleOf } from './matrix.ts';
import { openPlace } from './places.ts';
import { emptyWeaves, runCase, runSeed } from './run-weaves.ts';
import { scenariosOf } from './scenarios.ts';

/** Where a service reports its calls: a lost request is looked up, and what waits is taken back. */
const telling = ['request lost', 'waiting, and pause', 'waiting, and suppress'];

/** The same of its requests: nobody is called twice, rings once taken back, or is left in doubt; and some seeds. */
function testReportedWeaves(api: Exclude<ServiceApi, 'contract'>, seeds: number): void {
  const drawn = seedsFrom(1, seeds);
  const name = `wherever a process dies around a request of ${api}, and in ${describeSeeds(drawn)}`;
  test.skipIf(!bothDialects.includes('sqlite'))(name, async () => {
    const place = await openPlace('sqlite', api);
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

testReportedWeaves('batch-calling', 4);
testReportedWeaves('campaigns', 4);

import { expect, test } from 'vitest';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { describeSeeds, isFull, isSoak, seedsFrom } from '../support/depth.ts';
import { casesOf, casesOfSoak, onePerCell } from './design.ts';
import { noteOfWithdrawal, type Transition } from './effect-log.ts';
import { openPlace } from './places.ts';
import { possibleRequests } from './requests.ts';
import { runCase, runSeed } from './run-weaves.ts';
import { scenariosOf } from './scenarios.ts';

const telling = ['request lost', 'waiting, and pause', 'waiting, and suppress'];

/** No recipient is called twice, rings after a withdrawal, or stays in doubt; plus some seeds. */
function testReportedWeaves(api: Exclude<ServiceApi, 'contract'>, seeds: number): void {
  const drawn = seedsFrom(1, seeds);
  const name = `wherever a process dies around a request of ${api}, and in ${describeSeeds(drawn)}`;
  test.skipIf(!bothDialects.includes('sqlite'))(name, async () => {
    const place = await openPlace('sqlite', api);
    const requests = [...possibleRequests(api), noteOfWithdrawal];
    const isOfRequest = (move: Transition): boolean => move.startsWith('request');
    const died = new Set<Transition>();
    const [first = 0] = drawn;
    const scenarios = scenariosOf(api);
    const picked = isSoak
      ? await casesOfSoak(place, scenarios, first)
      : onePerCell(await casesOf(place, scenarios.filter(({ name }) => telling.includes(name)))); // prettier-ignore
    for (const each of picked) {
      const dies = each.transitions.some(isOfRequest) && each.intervention.strike === 'dies after';
      if (!dies && !isFull && !isSoak) continue;
      const { story, ending } = await runCase(place, each);
      expect(story).toBe('');
      for (const { strike, transitions } of ending.effects) if (strike === 'dies after') for (const move of transitions) died.add(move);
    }
    if (!isSoak) expect(requests.filter((move) => !died.has(move))).toEqual([]);
    for (const seed of drawn) expect((await runSeed(place, seed)).story).toBe('');
  });
}

testReportedWeaves('batch-calling', 4);
testReportedWeaves('campaigns', 4);

import { expect, test } from 'vitest';
import { bothDialects, type TestDialect } from '../ledger/test-stores.ts';
import { describeSeeds, isFull, isSoak, seedFactor, seedsFrom } from '../support/depth.ts';
import { casesOf, casesOfSoak, isKill, onePerCell } from './design.ts';
import { openPlace } from './places.ts';
import { runCase, runSeed } from './run-weaves.ts';
import { scenarios } from './scenarios.ts';

type Amount = Record<'every' | 'everyScenario' | 'seeds', number>;

/** At full depth one scenario in this many has workers killed at each effect; all at `SEED_FACTOR=8`. */
const everyOfKills = 8;

/** Plays one case per cell, at full depth some scenarios' kills, and some seeds. */
export function testWeaves(database: TestDialect, { every, everyScenario, seeds }: Amount): void {
  const drawn = seedsFrom(1, seeds);
  const [first = 0] = drawn;
  const stepOf = (usual: number): number => Math.max(1, Math.round(usual / seedFactor));
  const oneIn = <One>(all: readonly One[], step: number): One[] => all.filter((_, index) => index % step === 0);
  test.skipIf(!bothDialects.includes(database))(
    `wherever a worker dies or another one comes between, nobody is called twice, on ${database}`,
    async () => {
      const place = await openPlace(database);
      const played = oneIn(scenarios, everyScenario);
      const picked = isSoak ? await casesOfSoak(place, scenarios, first) : oneIn(onePerCell(await casesOf(place, played)), stepOf(every));
      const kills = isFull && !isSoak ? (await casesOf(place, oneIn(scenarios, stepOf(everyOfKills)))).filter(isKill) : [];
      const cases = [...picked, ...kills];
      const missed = { picked: 0, kills: 0 };
      for (const each of cases) {
        const { story, ending } = await runCase(place, each);
        expect(story).toBe('');
        // The run before diverged from the design, so the case was missed.
        if (ending.done.length === 0) missed[picked.includes(each) ? 'picked' : 'kills'] += 1;
      }
      // Cases that are missed prove nothing.
      expect(picked.length).toBeGreaterThan(isSoak ? 0 : played.length);
      if (isSoak) return;
      expect(missed.picked).toBeLessThan(picked.length / 20);
      expect(kills.length > 0).toBe(isFull);
      expect(missed.kills).toBeLessThanOrEqual(kills.length / 20);
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

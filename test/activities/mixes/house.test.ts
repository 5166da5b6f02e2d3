import { expect, test } from 'vitest';
import { storeAccountRules } from '../../../src/ledger/limits/house.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { buildRow, buildRules, dayMs, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { isFull, seedsFrom } from '../../support/depth.ts';
import { drawPeople } from '../../world/population.ts';
import { createWaitableClock } from '../../world/clock.ts';
import { drawPostFaults } from '../../world/inputs/draw-mix.ts';
import { Drive } from '../../world/drive.ts';
import { judge } from '../../world/judge/judge.ts';
import type { Cap } from '../../world/judge/limits.ts';
import type { Mix } from '../../world/mix.ts';
import type { WorldEvent } from '../../world/mix.ts';
import { range } from '../../world/run-mixes.ts';
import { type AccountRules, weekdays } from '../../../src/rules/campaign-rules.ts';

const perWeek = 3;
const perPerson = 5;
const open = { calendar: { hours: null, closedOn: [] }, callerLimits: null, requires: { consent: false, optOut: false } };
/** Until 10:00 in New York, where all rows are: 15:00 UTC in January. */
const until10 = Object.fromEntries(weekdays.map((day) => [day, [{ from: 0, to: 600 }]]));
const closesAtMs = 3 * hourMs;
/** A hanging request may be carried out this much later. */
const lateMs = 20 * minuteMs;

test.for(seedsFrom(1, isFull ? 4 : 2))(
  'five campaigns over overlapping lists keep the house rules together, and tighter ones from their commit on: seed %i',
  async (seed) => {
    const random = new Random('house', seed);
    const isCalm = seed % 2 === 0;
    const startsAt = createWaitableClock().now();
    const people = drawPeople(random, { count: 24, optOutEvery: 12, answering: 0.2, names: 24 });
    // Two numbers per person, whom the lists identify by one id.
    const personOf = new Map(people.map(({ e164 }, at) => [e164, `person-${Math.floor(at / 2)}`]));
    const campaigns = range(1, 5).map((place) => {
      const mine = people.filter(() => random.chance(0.7));
      const pacing = { batchSize: random.pick([1, 4, 8]), refillThreshold: 1, maxConcurrentCalls: 6 };
      return {
        campaignId: `campaign-${place}`,
        rules: buildRules({ endsAt: startsAt + 12 * hourMs, retry: { maxAttempts: 3 }, pacing }),
        rows: mine.map(({ e164, name }, at) => ({
          ...buildRow(at + 1, e164, [e164, `${name} of ${place}`]),
          externalId: personOf.get(e164) ?? null,
          notBefore: startsAt + Math.round(random.between(minuteMs, 4 * hourMs)),
        })),
      };
    });
    let tightenedAt = Infinity;
    const set = async (rules: Omit<AccountRules, 'version'>) => {
      const { version, changed } = await storeAccountRules(drive.store, { text: JSON.stringify(rules), rules, now: drive.clock.now() });
      expect(changed).toBe(true);
      return version;
    };
    const caps = [{ by: 'number' as const, calls: perWeek, withinMs: 7 * dayMs }];
    const ofPerson = { by: 'person' as const, calls: perPerson, withinMs: 7 * dayMs };
    const events: WorldEvent[] = [
      { afterMs: 0, happen: () => set({ ...open, caps: [...caps, ofPerson] }) },
      {
        afterMs: Math.round(random.between(40 * minuteMs, 90 * minuteMs)),
        happen: async (sandbox) => {
          await set({ ...open, caps: [{ ...caps[0]!, calls: perWeek - 1 }, ofPerson], calendar: { hours: until10, closedOn: [] } });
          tightenedAt = sandbox.clock.now();
        },
      },
    ];
    const { faults, hangs } = isCalm ? { faults: [], hangs: [] } : drawPostFaults(random);
    const strikes = [
      { point: 'place: dies after', nth: random.pick([1, 2, 3]) } as const,
      { point: 'place: dies before', nth: 2 } as const,
    ];
    const mix: Mix = {
      seed: `house ${seed}`,
      sandbox: { concurrency: 20, seedData: true },
      campaigns,
      faults,
      hangs,
      strikes: isCalm ? [] : strikes,
      workers: [() => 0, () => 0],
      events,
    };
    const drive: Drive = new Drive(mix);
    const { evidence, ledger, calls, proven } = await drive.run();
    const tight = { by: 'accepted', at: tightenedAt + (isCalm ? 0 : lateMs) + 1 } as const;
    const why = 'called against the house rules';
    const weekly = { why, withinMs: 7 * dayMs, by: 'accepted' } as const;
    const held: Cap[] = [
      { ...weekly, of: 'number', most: perWeek },
      { ...weekly, of: 'person', most: perPerson },
      { ...weekly, of: 'number', most: perWeek - 1, since: tight },
    ];
    const closed = [{ why, by: 'rang', from: Math.max(startsAt + closesAtMs, tight.at) } as const];
    expect([...judge({ ...evidence, caps: held, closed }), ...proven]).toEqual([]);
    // The world exercises each rule.
    const reasons = ledger.recipients.map(({ reason }) => reason);
    expect(reasons).toContain('capped_until_end');
    expect(tightenedAt).toBeLessThan(Infinity);
    expect(calls.length).toBeGreaterThan(20);
  },
);

import { expect, test } from 'vitest';
import { Random } from '../../../src/sandbox/core/random.ts';
import { buildRow, buildRules, dayMs, hourMs } from '../../support/campaign-rules.ts';
import { isFull, seedsFrom } from '../../support/depth.ts';
import { drawPeople } from '../../world/population.ts';
import { createWaitableClock } from '../../world/clock.ts';
import { drawPostFaults } from '../../world/inputs/draw-mix.ts';
import { Drive } from '../../world/drive.ts';
import { campaignOf } from '../../world/judge/calls.ts';
import { judge } from '../../world/judge/judge.ts';
import type { Mix } from '../../world/mix.ts';

test.for(seedsFrom(1, isFull ? 4 : 2))(
  'where a person may be called once, the campaign of higher priority calls them: seed %i',
  async (seed) => {
    const random = new Random('priority', seed);
    const startsAt = createWaitableClock().now();
    const people = drawPeople(random, { count: 30, optOutEvery: 15, answering: 0.3, names: 30 });
    const caps = [{ by: 'number' as const, calls: 1, withinMs: 7 * dayMs }];
    const campaigns = (['low', 'high'] as const).map((campaignId) => {
      const pacing = {
        priority: campaignId === 'high' ? 50 : 5,
        batchSize: random.pick([1, 4]),
        refillThreshold: 1,
        maxConcurrentCalls: 3,
      };
      const rules = buildRules({ endsAt: startsAt + 8 * hourMs, retry: { maxAttempts: 2 }, caps, pacing });
      const mine = people.filter((_, at) => at % 5 !== (campaignId === 'high' ? 0 : 1));
      return { campaignId, rules, rows: mine.map(({ e164, name }, at) => buildRow(at + 1, e164, [e164, `${name} of ${campaignId}`])) };
    });
    const { faults, hangs } = seed % 2 === 0 ? drawPostFaults(random) : { faults: [], hangs: [] };
    const workers = [() => 0, () => 0];
    const mix: Mix = { seed: `priority ${seed}`, sandbox: { concurrency: 10, seedData: true }, campaigns, faults, hangs, workers };
    const drive: Drive = new Drive(mix);
    const { evidence, calls, proven } = await drive.run();
    const inHigh = campaigns[1]?.rows.map(({ e164 }) => e164) ?? [];
    const closed = [
      { why: 'called though another campaign goes first', campaignId: 'low', numbers: inHigh, by: 'accepted', from: 0 } as const,
    ];
    const once = { why: 'called too often', of: 'number', most: 1, withinMs: Infinity, by: 'accepted' } as const;
    expect([...judge({ ...evidence, closed, caps: [once] }), ...proven]).toEqual([]);
    // Only the lower-priority campaign calls rows that only its list has.
    expect(calls.filter((call) => campaignOf(call) === 'low').length).toBeGreaterThan(0);
    expect(calls.length).toBeGreaterThan(20);
  },
);

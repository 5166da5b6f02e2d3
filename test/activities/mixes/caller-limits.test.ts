import { expect, test } from 'vitest';
import { Random } from '../../../src/sandbox/core/random.ts';
import { buildRow, buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { isFull, seedsFrom } from '../../support/depth.ts';
import { drawPeople } from '../../world/population.ts';
import { drawPostFaults } from '../../world/inputs/draw-mix.ts';
import { Drive } from '../../world/drive.ts';
import { judge } from '../../world/judge/judge.ts';
import type { Cap } from '../../world/judge/limits.ts';
import type { Mix } from '../../world/mix.ts';

const perHour = 9;

test.for(seedsFrom(3, isFull ? 4 : 2))(
  `three campaigns that call from one number make no more than ${perHour} calls in any hour together: seed %i`,
  async (seed) => {
    const random = new Random('caller limits', seed);
    const spreadMs = seed % 4 > 1 ? 5 * minuteMs : 0;
    const people = drawPeople(random, { count: 45, optOutEvery: 9, answering: 0.5 });
    const rules = buildRules({
      callers: { numbers: ['pn_main'], choice: 'region', limits: { perHour, perDay: null, ...(spreadMs > 0 && { spreadMs }) } },
      retry: { maxAttempts: 2 },
      pacing: { batchSize: random.pick([1, 4, 20]), refillThreshold: 1, maxConcurrentCalls: 30 },
    });
    const campaigns = ['first', 'second', 'third'].map((campaignId, at) => ({
      campaignId,
      rules,
      rows: people.slice(15 * at, 15 * (at + 1)).map(({ e164, name }, index) => buildRow(index + 1, e164, [e164, name])),
    }));
    const { faults, hangs } = seed % 2 === 0 ? drawPostFaults(random) : { faults: [], hangs: [] };
    const strikes = [
      { point: 'place: dies after', nth: random.pick([1, 2, 3]) } as const,
      { point: 'place: dies before', nth: 2 } as const,
    ];
    const workers = [() => 0, () => 0];
    const sandbox = { concurrency: 30, seedData: true };
    const mix: Mix = { seed: `caller ${seed}`, sandbox, campaigns, faults, hangs, workers, strikes: seed % 2 === 0 ? strikes : [] };
    const { evidence, calls, proven } = await new Drive(mix).run();
    // A hanging request may be carried out long after its ledger time, a dead worker's never.
    const isCalm = faults.length + hangs.length + (mix.strikes ?? []).length === 0;
    const why = 'too many calls of a number';
    const caps: Cap[] = [
      { why, of: 'all', most: perHour, withinMs: hourMs, by: 'accepted' },
      { why, of: 'all', most: perHour, withinMs: hourMs, by: 'rang' },
      ...(isCalm && spreadMs > 0 ? [{ why, of: 'all', most: 1, withinMs: spreadMs, by: 'rang' } as const] : []),
    ];
    expect([...judge({ ...evidence, caps }), ...proven]).toEqual([]);
    // The limit delayed calls, but none forever.
    expect(calls.length).toBeGreaterThan(3 * perHour);
    if (isCalm) expect(new Set(calls.map(({ to }) => to)).size).toBe(people.length);
  },
);

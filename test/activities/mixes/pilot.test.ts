import { expect, test } from 'vitest';
import { Random } from '../../../src/sandbox/core/random.ts';
import { readEvents } from '../../../src/ledger/events.ts';
import { buildRow, buildRules, hourMs } from '../../support/campaign-rules.ts';
import { isFull, seedsFrom } from '../../support/depth.ts';
import { drawPeople } from '../../world/population.ts';
import { drawPostFaults } from '../../world/inputs/draw-mix.ts';
import { Drive } from '../../world/drive.ts';
import { judge } from '../../world/judge/judge.ts';
import type { Mix } from '../../world/mix.ts';
import type { WorldEvent } from '../../world/mix.ts';
import { range } from '../../world/run-mixes.ts';

const count = 120;
const rows = 25;

test.for(seedsFrom(1, isFull ? 4 : 2))(
  'before a person has decided nobody is called but the sample, whatever dies: seed %i',
  async (seed) => {
    const random = new Random('pilot', seed);
    const isCalm = seed % 2 === 0;
    const campaignId = `pilot-${seed}`;
    const people = drawPeople(random, { count, optOutEvery: 12, answering: 0.4, names: count });
    const rules = buildRules({
      pilot: { rows, pick: 'spread', next: 'ask' },
      retry: { maxAttempts: 2 },
      pacing: { batchSize: random.pick([7, 20]), refillThreshold: 1, maxConcurrentCalls: 15 },
    });
    const decisions: number[] = [];
    /** The operator checks every half hour, and resumes it where something else paused it. */
    const look: WorldEvent['happen'] = async (sandbox, hands) => {
      const row = await drive.store.db.selectFrom('campaigns').select(['state', 'pilot_state as pilot']).executeTakeFirst();
      if (row?.pilot === 'asked') decisions.push(sandbox.clock.now());
      if (row?.pilot === 'asked' && decisions.length === 1) return hands.callSample(0);
      if (row?.state === 'paused') return hands.change(0, 'resume');
    };
    const events = range(1, 60).map((nth): WorldEvent => ({ afterMs: (nth * hourMs) / 2, happen: look }));
    const drawn: number[][] = [];
    const { faults, hangs } = isCalm ? { faults: [], hangs: [] } : drawPostFaults(random);
    const strikes = [
      { point: 'place: dies after', nth: random.pick([1, 2, 3]) },
      { point: 'place: dies before', nth: random.pick([2, 4]) },
    ] as const;
    const mix: Mix = {
      seed: `pilot ${seed}`,
      sandbox: { concurrency: 15, seedData: true },
      campaigns: [{ campaignId, rules, rows: people.map(({ e164, name }, at) => buildRow(at + 1, e164, [e164, name])) }],
      faults,
      hangs,
      strikes: isCalm ? [] : [...strikes],
      workers: [() => 0, () => 0],
      events,
      leavesPaused: true,
      atEnd: async () => {
        const told = await readEvents(drive.store.db, campaignId, { afterSeq: 0, limit: 10, types: ['pilot.drawn'] });
        for (const { data } of told) drawn.push((JSON.parse(JSON.stringify(data)) as { rows: number[] }).rows);
      },
    };
    const drive: Drive = new Drive(mix);
    const { evidence, calls, proven, faults: unclear } = await drive.run();
    const samples = drawn.map((sample) => sample.map((row) => people[row - 1]?.e164 ?? ''));
    expect(samples.map(({ length }) => length)).toEqual([rows, rows]);
    const [first = [], second = []] = samples;
    expect(new Set([...first, ...second]).size).toBe(2 * rows);
    const [sampled = Infinity, wentOn = Infinity] = decisions;
    const at = { campaignId, by: 'accepted' } as const;
    const pilots = [
      { ...at, decidedAt: sampled, sample: first },
      { ...at, decidedAt: wentOn, sample: [...first, ...second] },
    ];
    expect([...judge({ ...evidence, faults: unclear, pilots }), ...proven]).toEqual([]);
    // The world exercises the rule.
    const calledBefore = (instant: number) => new Set(calls.filter(({ acceptedAt }) => acceptedAt < instant).map(({ to }) => to)).size;
    const [one, two] = [calledBefore(sampled), calledBefore(wentOn)];
    expect(one).toBeGreaterThan(isCalm ? rows - 1 : rows / 2);
    expect(two).toBeGreaterThan(isCalm ? 2 * rows - 1 : rows);
    expect(calledBefore(Infinity)).toBeGreaterThan(count * 0.7);
  },
);

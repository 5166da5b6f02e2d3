import { expect, test } from 'vitest';
import { Random } from '../../../src/sandbox/core/random.ts';
import { buildRow, buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { isFull, seedsFrom } from '../../support/depth.ts';
import { drawPeople } from '../../world/population.ts';
import { drawPostFaults } from '../../world/inputs/draw-mix.ts';
import { Drive } from '../../world/drive.ts';
import { withoutBooks } from '../../world/gather.ts';
import type { Row } from '../../world/judge/evidence.ts';
import { judge } from '../../world/judge/judge.ts';
import type { Closed } from '../../world/judge/not-then.ts';
import type { Mix } from '../../world/mix.ts';
import type { WorldEvent } from '../../world/mix.ts';

const expiresAfterMs = 2 * hourMs;
const pausedFrom = 4 * hourMs;
const pausedForMs = 3 * hourMs;
const drainedAt = 12 * hourMs;
const skewMs = 4 * minuteMs;

test.for(seedsFrom(1, isFull ? 6 : 2))(
  'of leads that come one by one each is called once and in time, or not at all: seed %i',
  async (seed) => {
    const random = new Random('leads', seed);
    const isCalm = seed % 2 === 0;
    // Three of them share each name; some of those opening lines are equal.
    const people = drawPeople(random, { count: 60, optOutEvery: 9, answering: 0.5, names: 20 });
    const rules = buildRules({
      staysOpen: { expiresAfterMs, newestFirst: random.chance(0.5) },
      retry: { maxAttempts: 1 },
      pacing: { batchSize: random.pick([1, 4, 20]), refillThreshold: 1, maxConcurrentCalls: 10 },
    });
    /** When each lead was taken, by number; and numbers sent with a known id. */
    const takenAt = new Map<string, number>();
    const altered = new Set<string>();
    const lead = (at: number, e164: string) => ({ ...buildRow(1, e164, [e164, people[at]?.name ?? '']), externalId: `lead ${at}` });
    const add =
      (at: number, e164: string): WorldEvent['happen'] =>
      async (sandbox, hands) => {
        const [answer] = await hands.add(0, [lead(at, e164)]);
        if (answer?.result === 'accepted') takenAt.set(e164, sandbox.clock.now());
      };
    const events = people.flatMap(({ e164 }, at): WorldEvent[] => {
      const afterMs = Math.round(random.between(0, 9 * hourMs));
      const events: WorldEvent[] = [{ afterMs, happen: add(at, e164) }];
      if (random.chance(0.5)) events.push({ afterMs: afterMs + Math.round(random.between(0, 3 * hourMs)), happen: add(at, e164) });
      if (random.chance(0.2)) {
        const other = `+1917555${String(130 + at).padStart(4, '0')}`;
        altered.add(other);
        events.push({ afterMs: afterMs + minuteMs, happen: add(at, other) });
      }
      return events;
    });
    events.push(
      { afterMs: pausedFrom, happen: (_, hands) => hands.change(0, 'pause') },
      { afterMs: drainedAt, happen: (_, hands) => hands.change(0, 'drain') },
    );
    const { faults, hangs } = isCalm ? { faults: [], hangs: [] } : drawPostFaults(random);
    const strikes = isCalm
      ? []
      : ([
          { point: 'place: dies after', nth: 2 },
          { point: 'place: dies before', nth: 4 },
        ] as const);
    const mix: Mix = {
      seed: `leads ${seed}`,
      sandbox: { concurrency: 10, seedData: true },
      campaigns: [{ campaignId: 'leads', rules, rows: [] }],
      faults,
      hangs,
      strikes: [...strikes],
      workers: [() => 0, () => (seed % 3 === 0 ? -skewMs : skewMs)],
      resumeAfterMs: pausedForMs,
      events,
    };
    const { evidence, ledger, calls, proven, faults: stuck } = await new Drive(mix).run();
    const late = people.map(({ e164 }): Closed => {
      const from = (takenAt.get(e164) ?? 0) + expiresAfterMs + skewMs + 1;
      return { why: 'called after its time', numbers: [e164], by: 'accepted', from };
    });
    const leads = ledger.recipients.map(({ row_number: row, external_id: id }): Row => {
      return { campaignId: 'leads', row, id, numbers: people.flatMap(({ e164 }, at) => (`lead ${at}` === id ? [e164] : [])) };
    });
    // A call that failed before it rang may be repeated.
    const budgets = [{ campaignId: 'leads', attempts: 1, uncounted: Infinity, more: 0 }];
    const found = judge({ ...withoutBooks(evidence), rows: leads, faults: stuck, budgets, closed: late });
    expect([...found, ...proven]).toEqual([]);
    expect([takenAt.size, leads.length]).toEqual([people.length, people.length]);
    const called = calls.map(({ to }) => to);
    expect(new Set(called).size).toBeGreaterThan(people.length / 3);
    // Rows that were not called say why, and the pause has cost at least one its call.
    const spared = ledger.recipients.filter(({ e164 }) => !called.includes(e164 ?? ''));
    const outcomes = new Set(spared.map(({ outcome }) => outcome));
    expect(
      [...outcomes].filter((outcome) => !['expired', 'cancelled', 'unresolved', 'exhausted', 'undialable'].includes(outcome ?? '')),
    ).toEqual([]);
    expect(outcomes).toContain('expired');
    if (isCalm) expect(spared.filter(({ outcome }) => outcome !== 'expired')).toEqual([]);
  },
);

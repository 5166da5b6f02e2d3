import { expect, test } from 'vitest';
import { isPlaced, readEvidence, type Evidence } from '../../../src/ledger/read/evidence.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { buildRow, buildRules, dayMs, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { isFull, seedsFrom } from '../../support/depth.ts';
import { drawPeople } from '../../world/population.ts';
import { createWaitableClock } from '../../world/clock.ts';
import { drawPostFaults } from '../../world/inputs/draw-mix.ts';
import { Drive } from '../../world/drive.ts';
import { withoutBooks } from '../../world/gather.ts';
import { judge } from '../../world/judge/judge.ts';
import type { Closed } from '../../world/judge/not-then.ts';
import type { Mix } from '../../world/mix.ts';
import type { WorldEvent } from '../../world/mix.ts';

const maxAgeMs = 30 * dayMs;
const consent = { atColumn: 'agreed', sourceColumn: 'where', textColumn: 'words', proofColumn: null, purposeColumn: null, maxAgeMs };
const skewMs = 4 * minuteMs;
/** A hanging request may be carried out this much later. */
const lateMs = 20 * minuteMs;

test.for(seedsFrom(1, isFull ? 4 : 2))(
  'nobody rings without a consent that holds, nor after taking it back for what the campaign is for: seed %i',
  async (seed) => {
    const random = new Random('consent', seed);
    const isCalm = seed % 2 === 0;
    const startsAt = createWaitableClock().now();
    const people = drawPeople(random, { count: 60, optOutEvery: 9, answering: 0.4, names: 20 });
    const purposes = ['recall', 'reminder', undefined];
    const campaigns = purposes.map((purpose, place) => {
      const mine = people.filter((_, at) => at % 3 === place);
      const rules = buildRules({
        consent,
        ...(purpose === undefined ? {} : { purpose }),
        retry: { maxAttempts: 3 },
        pacing: { batchSize: random.pick([1, 4, 8]), refillThreshold: 1, maxConcurrentCalls: 3 },
      });
      return { campaignId: `campaign-${place}`, rules, people: mine, purpose };
    });
    const revokedAt = new Map<string, number>();
    const events: WorldEvent[] = [];
    for (const { people: mine, purpose } of campaigns)
      for (const { e164 } of mine) {
        if (!random.chance(0.4)) continue;
        const word = random.pick(['recall', 'reminder']);
        const afterMs = Math.round(random.between(0, 2 * hourMs));
        events.push({
          afterMs,
          happen: async (sandbox, hands) => {
            await hands.suppress(e164, `purpose:${word}`);
            if (purpose === undefined || purpose === word) revokedAt.set(e164, sandbox.clock.now());
          },
        });
      }
    /** By number: the span of its consent after the beginning; null: unknown. */
    const spans = new Map<string, { from: number; until: number } | null>();
    for (const { e164 } of people) {
      const kind = random.pick(['holds', 'holds', 'ends', 'begins', 'none']);
      const from = kind === 'ends' ? random.between(0, 2 * hourMs) - maxAgeMs : kind === 'begins' ? random.between(hourMs, dayMs) : -dayMs;
      spans.set(e164, kind === 'none' ? null : { from: Math.round(from), until: Math.round(from + maxAgeMs) });
    }
    const { faults, hangs } = isCalm ? { faults: [], hangs: [] } : drawPostFaults(random);
    const mix: Mix = {
      seed: `consent ${seed}`,
      sandbox: { concurrency: 10, seedData: true },
      campaigns: campaigns.map(({ campaignId, rules, people: mine }) => ({
        campaignId,
        rules,
        rows: mine.map(({ e164, name }, at) => {
          const span = spans.get(e164) ?? null;
          const notBefore = startsAt + Math.round(random.between(0, 2 * hourMs));
          return { ...buildRow(at + 1, e164, [e164, name]), notBefore, ...(span === null ? {} : { consentedAt: startsAt + span.from }) };
        }),
      })),
      faults,
      hangs,
      strikes: isCalm ? [] : [{ point: 'place: dies before', nth: 3 }],
      workers: [() => 0, () => (seed % 3 === 0 ? -skewMs : skewMs)],
      events: events.toSorted((a, b) => a.afterMs - b.afterMs),
    };
    const told = new Map<string, Evidence>();
    const drive: Drive = new Drive({
      ...mix,
      atEnd: async () => {
        for (const { e164 } of people) {
          const evidence = await readEvidence(drive.store, { e164, since: null, now: drive.clock.now() });
          if (evidence !== null) told.set(e164, evidence);
        }
      },
    });
    const { evidence, ledger, calls, proven, faults: stuck } = await drive.run();
    const slack = skewMs + (isCalm ? 0 : lateMs);
    const close = (e164: string, from: number, until = Infinity): Closed => ({ why: 'called without consent', numbers: [e164], by: 'accepted', from, until }); // prettier-ignore
    const closed = people.flatMap(({ e164 }): Closed[] => {
      const span = spans.get(e164) ?? null;
      if (span === null) return [close(e164, 0)];
      const revoked = close(e164, (revokedAt.get(e164) ?? Infinity) + (isCalm ? 1 : lateMs));
      return [close(e164, 0, startsAt + span.from - skewMs), close(e164, startsAt + span.until + slack - minuteMs + 1), revoked];
    });
    expect([...judge({ ...withoutBooks(evidence), faults: stuck, closed }), ...proven]).toEqual([]);
    expect(calls.length).toBeGreaterThan(15);
    // Each recipient gets only their own calls, each with the service's conversation.
    expect(told.size).toBe(people.length);
    for (const [e164, evidence] of told) {
      const own = calls.filter(({ to }) => to === e164);
      const placed = evidence.rows.flatMap(({ calls }) => calls.filter(isPlaced));
      const named = placed.flatMap(({ record }) => record?.conversationId ?? []);
      expect(named.filter((id) => !own.some(({ conversationId }) => conversationId === id))).toEqual([]);
      // A surplus call has unknown placement or left no record.
      const unseen = placed.filter(({ record }) => record === null);
      expect(named.length + unseen.length).toBeGreaterThanOrEqual(own.length);
      expect(placed.length - own.length).toBeLessThanOrEqual(unseen.length);
      const text = JSON.stringify(evidence);
      expect(people.filter((other) => other.e164 !== e164 && text.includes(other.e164))).toEqual([]);
      const span = spans.get(e164) ?? null;
      const heldFrom = evidence.rows[0]?.consent?.beginsAt ?? null;
      expect(heldFrom).toBe(span === null ? null : startsAt + span.from);
    }
    const reasons = new Set(ledger.recipients.map(({ reason }) => reason));
    for (const reason of ['missing_consent', 'consent_expired', 'consent_revoked']) expect(reasons).toContain(reason);
  },
);

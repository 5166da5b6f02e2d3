import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CallableRows, type LedgerFindings } from '../../../src/campaign/preflight/callable-rows.ts';
import type { ListRow } from '../../../src/list/recipients.ts';
import { forecast } from '../../../src/rules/forecast/forecast.ts';
import { rejectionReasons, type RejectionReason } from '../../../src/rules/outcome.ts';
import { buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';

/** Monday, 15:00 UTC: 10:00 in New York, 07:00 in Los Angeles. */
const monday = Date.UTC(2026, 0, 5, 15);
const officeHours = {
  hours: { mon: [{ from: 9 * 60, to: 17 * 60 }], tue: [{ from: 9 * 60, to: 17 * 60 }] },
  closedOn: [],
};

interface Drawn {
  rejected: RejectionReason | null;
  zone: string | null;
  notBefore: number | null;
  expiresAt: number | null;
  suppressed: boolean;
  capsAllowAt: number | null;
  budgetAllowsAt: number | null | undefined;
}

function rowOf(drawn: Drawn, index: number): ListRow {
  const own = { row: index + 1, line: index + 2, cells: [] };
  const e164 = numberOf(index);
  if (drawn.rejected !== null) {
    const nowhere = { zones: [], country: null, regions: null, notBefore: null, expiresAt: null } as const;
    const why = { reason: drawn.rejected, column: null, hint: '', externalId: null, e164: null } as const;
    return { ...own, ...why, ...nowhere, zones: [], verdict: 'rejected' };
  }
  const zones = drawn.zone === null ? [] : [drawn.zone];
  const { notBefore, expiresAt } = drawn;
  return {
    ...own,
    verdict: 'accepted',
    externalId: null,
    e164,
    zones,
    country: 'US',
    regions: ['NY'],
    notBefore,
    expiresAt,
  };
}

function numberOf(index: number): string {
  return `+1212555${String(index).padStart(4, '0')}`;
}

function ledgerOf(drawn: readonly Drawn[]): LedgerFindings {
  const of = (e164: string): Drawn | undefined => drawn[Number(e164.slice(-4))];
  return {
    suppressed: new Map(drawn.flatMap(({ suppressed }, index) => (suppressed ? [[numberOf(index), 'suppressed' as const]] : []))),
    capsAllowAt: ({ e164 }) => of(e164)?.capsAllowAt ?? monday,
    budgetAllowsAt: ({ e164 }) => {
      const at = of(e164)?.budgetAllowsAt;
      return at === undefined ? null : (at ?? monday);
    },
  };
}

/** Quarter hours around the end of the day and the campaign, by which the funnel groups rows. */
const instant = fc.integer({ min: -8, max: 160 }).map((quarters) => monday + quarters * 15 * minuteMs);
const drawnRow: fc.Arbitrary<Drawn> = fc.record({
  rejected: fc.option(fc.constantFrom(...rejectionReasons), { nil: null, freq: 4 }),
  zone: fc.option(fc.constantFrom('America/New_York', 'America/Los_Angeles', 'Asia/Tokyo'), { nil: null, freq: 8 }),
  notBefore: fc.option(instant, { nil: null }),
  expiresAt: fc.option(instant, { nil: null }),
  suppressed: fc.boolean(),
  capsAllowAt: fc.option(instant, { nil: null }),
  budgetAllowsAt: fc.option(fc.option(instant, { nil: null }), { nil: undefined, freq: 6 }),
});

test('every row is in exactly one count, and whoever can be called is called when nothing is scarce', () => {
  const drawn = fc.record({
    rows: fc.array(drawnRow, { maxLength: 40 }),
    hours: fc.boolean(),
    endsAt: fc.option(instant, { nil: null }),
    asked: fc.boolean(),
  });
  const seen = new Set<string>();
  fc.assert(
    fc.property(drawn, ({ rows, hours, endsAt, asked }) => {
      const rules = buildRules({ calendar: hours ? officeHours : { hours: null, closedOn: [] }, endsAt });
      const counter = new CallableRows(rules, monday);
      const ledger = asked ? ledgerOf(rows) : null;
      rows.forEach((row, index) => counter.add(rowOf(row, index), ledger));
      const funnel = counter.counts();
      const sum = (counts: { count: number }[]): number => counts.reduce((total, { count }) => total + count, 0);
      expect(sum(funnel.rejections)).toBe(funnel.rejected);
      expect(sum(funnel.exclusions)).toBe(funnel.excluded);
      expect(funnel.rows).toBe(rows.length);
      expect(funnel.rejected + funnel.accepted).toBe(funnel.rows);
      expect(funnel.excluded + funnel.dialable).toBe(funnel.accepted);
      const { open, outsideHours, notBefore, capped, nextAt } = funnel.start;
      expect(open + outsideHours + notBefore + capped).toBe(funnel.dialable);
      expect(nextAt === null).toBe(open === funnel.dialable);
      expect(sum(counter.groups())).toBe(funnel.dialable);
      for (const { reason } of funnel.exclusions) seen.add(reason);

      const unlimited = forecast({
        groups: counter.groups(),
        course: { answerRate: 1, answeredMs: 1000, unansweredMs: 1000, retries: 0, retryAt: (_, at) => at },
        at: monday,
        endsAt,
        marginMs: rules.timing.dispatchMarginMs,
        linesAt: () => 1000,
        startLimits: [],
        caps: [],
      });
      expect(unlimited).toMatchObject({ calls: funnel.dialable, neverCalled: 0 });
    }),
    { seed: 11, numRuns: 400 },
  );
  expect([...seen].sort()).toEqual([
    'attempts_used_up',
    'campaign_end',
    'capped_until_end',
    'no_open_window_before_end',
    'row_expired',
    'suppressed',
    'unknown_timezone',
  ]);
});

test('each reason is told of the row it belongs to', () => {
  const clean: Drawn = {
    rejected: null,
    zone: 'America/New_York',
    notBefore: null,
    expiresAt: null,
    suppressed: false,
    capsAllowAt: null,
    budgetAllowsAt: null,
  };
  const rows: Drawn[] = [
    clean,
    { ...clean, zone: 'America/Los_Angeles' },
    { ...clean, notBefore: monday + hourMs },
    { ...clean, capsAllowAt: monday + hourMs },
    { ...clean, budgetAllowsAt: monday + 2 * hourMs },
    { ...clean, rejected: 'invalid_phone' },
    { ...clean, expiresAt: monday + minuteMs },
    { ...clean, notBefore: monday + 40 * hourMs },
    { ...clean, suppressed: true },
    { ...clean, budgetAllowsAt: undefined },
    { ...clean, zone: null },
    { ...clean, zone: 'Asia/Tokyo', expiresAt: monday + hourMs },
    { ...clean, capsAllowAt: monday + 40 * hourMs },
  ];
  const counter = new CallableRows(buildRules({ calendar: officeHours, endsAt: monday + 30 * hourMs }), monday);
  rows.forEach((row, index) => counter.add(rowOf(row, index), ledgerOf(rows)));
  expect(counter.counts()).toEqual({
    rows: 13,
    rejected: 1,
    rejections: [{ reason: 'invalid_phone', count: 1 }],
    accepted: 12,
    excluded: 7,
    exclusions: [
      'campaign_end',
      'row_expired',
      'suppressed',
      'attempts_used_up',
      'unknown_timezone',
      'no_open_window_before_end',
      'capped_until_end',
    ].map((reason) => ({ reason, count: 1 })),
    dialable: 5,
    start: { at: monday, open: 1, outsideHours: 1, notBefore: 1, capped: 2, nextAt: monday + hourMs },
    // The row is due after the end: a week later at nine.
    opensAfterEnd: monday + 7 * 24 * hourMs - hourMs,
  });
  const later = (hours: number): number => monday + hours * hourMs;
  expect(counter.groups().map(({ count, notBefore }) => [count, notBefore])).toEqual([
    [1, null],
    [1, null],
    [2, later(1)],
    [1, later(2)],
  ]);
});

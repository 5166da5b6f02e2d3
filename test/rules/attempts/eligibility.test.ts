import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  foresee,
  evaluateByBothClocks,
  evaluateEligibility,
  numberBusyRecheckMs,
  type EligibilityInput,
  type Foresight,
} from '../../../src/rules/attempts/eligibility.ts';
import type { WeeklyHours } from '../../../src/rules/campaign-rules.ts';

const noon = Date.parse('2026-01-15T12:00:00-05:00');
const hour = 3_600_000;
const weekdayHours = { thu: [{ from: 540, to: 1200 }], fri: [{ from: 540, to: 1200 }] };
const hoursOf = (hours: WeeklyHours | null) => [{ hours, closedOn: [] }];

const dialable: EligibilityInput = {
  at: noon,
  endsAt: null,
  calendars: hoursOf(weekdayHours),
  zones: ['America/New_York'],
  marginMs: 600_000,
  suppressed: false,
  numberBusy: false,
  capsAllowAt: 0,
  budgetAllowsAt: 0,
  attempted: false,
};

const ended = { verdict: 'final', outcome: 'expired', reason: 'campaign_end' } as const;
const suppressed = { verdict: 'final', outcome: 'suppressed', reason: 'suppressed' } as const;
const busy = { verdict: 'wait', until: noon + numberBusyRecheckMs, reason: 'number_busy' } as const;
const unknown = { verdict: 'final', outcome: 'undialable', reason: 'unknown_timezone' } as const;
const night = noon + 10 * hour;
const morning = noon + 21 * hour;

test.each<[string, Partial<EligibilityInput>, ReturnType<typeof evaluateEligibility>]>(
  // prettier-ignore
  [
    ['nothing against it', {}, { verdict: 'dial' }],
    ['no hours and no known zone', { calendars: hoursOf(null), zones: [] }, { verdict: 'dial' }],
    ['the campaign end beyond the margin', { endsAt: noon + 600_001 }, { verdict: 'dial' }],
    ['the campaign end within the margin', { endsAt: noon + 600_000 }, ended],
    ['the end of a campaign that had tried', { endsAt: noon, attempted: true }, ended],
    ['a suppression, before all but the end', { suppressed: true, numberBusy: true, zones: [] }, suppressed],
    ['another call to the number', { numberBusy: true, zones: [] }, busy],
    ['a cap that is used up', { capsAllowAt: noon + hour, zones: [] }, { verdict: 'wait', until: noon + hour, reason: 'frequency_cap' }],
    ['a cap that ends in time before the campaign does', { capsAllowAt: noon + hour, endsAt: noon + hour + 600_001 },
      { verdict: 'wait', until: noon + hour, reason: 'frequency_cap' }],
    ['a cap that outlasts the campaign', { capsAllowAt: noon + hour, endsAt: noon + hour + 600_000 },
      { verdict: 'final', outcome: 'undialable', reason: 'capped_until_end' }],
    ['a cap that outlasts the campaign, after an attempt', { capsAllowAt: noon + hour, endsAt: noon + hour, attempted: true },
      { verdict: 'final', outcome: 'expired', reason: 'capped_until_end' }],
    ['no known zone', { zones: [] }, unknown],
    ['no known zone after an attempt', { zones: ['Nowhere'], attempted: true }, unknown],
    ['the night', { at: night }, { verdict: 'wait', until: morning, reason: 'outside_hours' }],
    ['a night that outlasts the campaign', { at: night, endsAt: morning + 600_000 },
      { verdict: 'final', outcome: 'undialable', reason: 'no_open_window_before_end' }],
    ['a night that outlasts the campaign, after an attempt', { at: night, endsAt: morning + 600_000, attempted: true },
      { verdict: 'final', outcome: 'expired', reason: 'no_open_window_before_end' }],
    ['hours that never open', { calendars: hoursOf({}) }, { verdict: 'final', outcome: 'undialable', reason: 'no_open_window_before_end' }],
  ],
)('a recipient with %s is judged', (_, input, expected) => {
  expect(evaluateEligibility({ ...dialable, ...input })).toEqual(expected);
});

test.each<[string, Partial<EligibilityInput>, ReturnType<typeof evaluateEligibility>]>(
  // prettier-ignore
  [
    ['its own end', { rowEndsAt: noon + 600_000 }, { ...ended, reason: 'row_expired' }],
    ['its own end, which comes first', { endsAt: noon + 1, rowEndsAt: noon }, { ...ended, reason: 'row_expired' }],
    ['a beginning to come', { rowStartsAt: noon + hour }, { verdict: 'wait', until: noon + hour, reason: 'not_before' }],
    ['a beginning in time', { rowStartsAt: noon + hour, endsAt: noon + hour + 600_001 },
      { verdict: 'wait', until: noon + hour, reason: 'not_before' }],
    ['a beginning too late', { rowStartsAt: noon + hour, endsAt: noon + hour + 600_000 },
      { verdict: 'final', outcome: 'undialable', reason: 'no_open_window_before_end' }],
    ['a beginning too late, after an attempt', { rowStartsAt: noon + hour, rowEndsAt: noon + hour + 600_000, attempted: true },
      { verdict: 'final', outcome: 'expired', reason: 'no_open_window_before_end' }],
    ['a budget that is used up', { budgetAllowsAt: null, numberBusy: true },
      { verdict: 'final', outcome: 'exhausted', reason: 'attempts_used_up' }],
    ['a budget that is renewed', { budgetAllowsAt: noon + hour }, { verdict: 'wait', until: noon + hour, reason: 'attempt_budget' }],
    ['a budget that is renewed too late', { budgetAllowsAt: noon + hour, endsAt: noon + hour + 600_000 },
      { verdict: 'final', outcome: 'exhausted', reason: 'attempts_used_up' }],
    ['a budget that is renewed in time', { budgetAllowsAt: noon + hour, endsAt: noon + hour + 600_001 },
      { verdict: 'wait', until: noon + hour, reason: 'attempt_budget' }],
  ],
)('%s', (_, changes, expected) => {
  expect(evaluateEligibility({ ...dialable, ...changes })).toEqual(expected);
});

/** Rules from the one that outranks all others to the one that gives way to all. */
const ranked: [keyof typeof reasons, Partial<EligibilityInput>][] = [
  ['campaign_end', { endsAt: noon }],
  ['suppressed', { suppressed: true }],
  ['attempts_used_up', { budgetAllowsAt: null }],
  ['not_before', { rowStartsAt: noon + hour }],
  ['number_busy', { numberBusy: true }],
  ['frequency_cap', { capsAllowAt: noon + hour }],
  ['outside_hours', { calendars: hoursOf({ fri: [{ from: 540, to: 1200 }] }) }],
];
const reasons = {
  campaign_end: 'final',
  suppressed: 'final',
  attempts_used_up: 'final',
  not_before: 'wait',
  number_busy: 'wait',
  frequency_cap: 'wait',
  outside_hours: 'wait',
} as const;

test('of all rules that apply the first in order decides, whatever the others are', () => {
  fc.assert(
    fc.property(fc.subarray(ranked, { minLength: 0 }), (applying) => {
      const input = Object.assign({}, dialable, ...applying.map(([, changes]) => changes)) as EligibilityInput;
      const verdict = evaluateEligibility(input);
      const [first] = applying;
      if (first === undefined) expect(verdict).toEqual({ verdict: 'dial' });
      else expect(verdict).toMatchObject({ verdict: reasons[first[0]], reason: first[0] });
    }),
    { seed: 7, numRuns: 500 },
  );
});

test('nobody waits for an instant that has come, and nobody is told to wait beyond the end', () => {
  const instant = fc.integer({ min: noon - 3 * hour, max: noon + 30 * hour });
  const input = fc.record({
    endsAt: fc.option(instant),
    rowEndsAt: fc.option(instant),
    rowStartsAt: fc.option(instant),
    suppressed: fc.boolean(),
    numberBusy: fc.boolean(),
    capsAllowAt: instant,
    budgetAllowsAt: fc.option(instant),
    attempted: fc.boolean(),
    marginMs: fc.integer({ min: 0, max: hour }),
    zones: fc.constantFrom<string[]>(['America/New_York'], [], ['America/New_York', 'America/Los_Angeles']),
  });
  fc.assert(
    fc.property(input, (drawn) => {
      const verdict = evaluateEligibility({ ...dialable, ...drawn });
      if (verdict.verdict !== 'wait') return;
      expect(verdict.until).toBeGreaterThan(noon);
      const end = Math.min(drawn.endsAt ?? Infinity, drawn.rowEndsAt ?? Infinity);
      if (verdict.reason !== 'number_busy') expect(verdict.until + drawn.marginMs).toBeLessThan(end);
    }),
    { seed: 9, numRuns: 2_000 },
  );
});

test.each<[string, number, Partial<EligibilityInput>, ReturnType<typeof evaluateByBothClocks>]>(
  // prettier-ignore
  [
    ['open by both', 240_000, {}, { verdict: 'dial' }],
    ['open by this clock, soon by the other one', -3.05 * hour, {},
      { verdict: 'wait', until: noon + 0.05 * hour, reason: 'outside_hours' }],
    ['over by the other clock, which may be wrong', 240_000, { endsAt: noon + 700_000 },
      { verdict: 'wait', until: noon + 60_000, reason: 'outside_hours' }],
    ['promised by this clock, and not yet by the other one', -300, { promise: { isOwn: true, dueAt: noon, until: noon + hour } },
      { verdict: 'wait', until: noon + 300, reason: 'promised' }],
    ['over by this clock', -240_000, { endsAt: noon }, ended],
    ['a cap, which is kept by this clock alone', -240_000, { capsAllowAt: noon, budgetAllowsAt: noon }, { verdict: 'dial' }],
  ],
)('by two clocks: %s', (_name, aheadMs, changes, verdict) => {
  const input = { ...dialable, ...changes };
  expect(evaluateByBothClocks(input.at + aheadMs, input)).toEqual(verdict);
});

test.each<[string, Partial<EligibilityInput>, Foresight]>(
  // prettier-ignore
  [
    ['nothing', {}, { keptBy: [], at: noon, never: null }],
    ['an open call to the number, at first', { numberBusy: true }, { keptBy: ['number_busy'], at: noon + numberBusyRecheckMs, never: null }],
    ['its own beginning, then a cap', { rowStartsAt: noon + hour, capsAllowAt: noon + 2 * hour }, { keptBy: ['not_before', 'frequency_cap'], at: noon + 2 * hour, never: null }],
    ['a cap until the night, then the hours', { capsAllowAt: night }, { keptBy: ['frequency_cap', 'outside_hours'], at: morning, never: null }],
    ['a cap until the night, then the end', { capsAllowAt: night, endsAt: night + 2 * hour }, { keptBy: ['frequency_cap'], at: night, never: 'no_open_window_before_end' }],
    ['the do-not-call list, whatever else', { suppressed: true, capsAllowAt: night }, { keptBy: [], at: noon, never: 'suppressed' }],
  ],
)('what lies before a recipient: %s', (_, change, expected) => {
  expect(foresee({ ...dialable, ...change })).toEqual(expected);
});

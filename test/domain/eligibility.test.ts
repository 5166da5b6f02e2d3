import { expect, test } from 'vitest';
import type { WeeklyHours } from '../../src/domain/campaign-rules.ts';
import { judgeEligibility, numberBusyRecheckMs, type EligibilityInput } from '../../src/domain/eligibility.ts';

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
  reached: false,
  numberBusy: false,
  capsAllowAt: 0,
  budgetAllowsAt: 0,
  attempted: false,
};

const ended = { verdict: 'final', outcome: 'expired', reason: 'campaign_end' } as const;
const suppressed = { verdict: 'final', outcome: 'suppressed', reason: 'suppressed' } as const;
const reached = { verdict: 'final', outcome: 'completed', reason: 'already_reached' } as const;
const busy = { verdict: 'wait', until: noon + numberBusyRecheckMs, reason: 'number_busy' } as const;
const unknown = { verdict: 'final', outcome: 'undialable', reason: 'unknown_timezone' } as const;
const night = noon + 10 * hour;
const morning = noon + 21 * hour;

test.each<[string, Partial<EligibilityInput>, ReturnType<typeof judgeEligibility>]>([
  ['nothing against it', {}, { verdict: 'dial' }],
  ['no hours and no known zone', { calendars: hoursOf(null), zones: [] }, { verdict: 'dial' }],
  ['the campaign end beyond the margin', { endsAt: noon + 600_001 }, { verdict: 'dial' }],
  ['the campaign end within the margin', { endsAt: noon + 600_000 }, ended],
  ['the campaign end, before all other reasons', { endsAt: noon, suppressed: true, reached: true, zones: [] }, ended],
  ['the end of a campaign that had tried', { endsAt: noon, attempted: true }, ended],
  [
    'a suppression, before all but the end',
    { suppressed: true, reached: true, numberBusy: true, zones: [] },
    suppressed,
  ],
  ['a person who was reached', { reached: true, numberBusy: true, zones: [] }, reached],
  ['another call to the number', { numberBusy: true, zones: [] }, busy],
  [
    'a cap that is used up',
    { capsAllowAt: noon + hour, zones: [] },
    { verdict: 'wait', until: noon + hour, reason: 'frequency_cap' },
  ],
  ['another call to the number, before a cap', { numberBusy: true, capsAllowAt: noon + hour }, busy],
  ['a cap that allows it now', { capsAllowAt: noon }, { verdict: 'dial' }],
  [
    'a cap that outlasts the campaign',
    { capsAllowAt: noon + hour, endsAt: noon + hour + 600_000 },
    { verdict: 'final', outcome: 'undialable', reason: 'capped_until_end' },
  ],
  [
    'a cap that outlasts the campaign, after an attempt',
    { capsAllowAt: noon + hour, endsAt: noon + hour, attempted: true },
    { verdict: 'final', outcome: 'expired', reason: 'capped_until_end' },
  ],
  ['no known zone', { zones: [] }, unknown],
  ['no known zone after an attempt', { zones: ['Nowhere'], attempted: true }, unknown],
  ['the night', { at: night }, { verdict: 'wait', until: morning, reason: 'outside_hours' }],
  [
    'a night that outlasts the campaign',
    { at: night, endsAt: morning + 600_000 },
    { verdict: 'final', outcome: 'undialable', reason: 'no_open_window_before_end' },
  ],
  [
    'a night that outlasts the campaign, after an attempt',
    { at: night, endsAt: morning + 600_000, attempted: true },
    { verdict: 'final', outcome: 'expired', reason: 'no_open_window_before_end' },
  ],
  [
    'hours that never open',
    { calendars: hoursOf({}) },
    { verdict: 'final', outcome: 'undialable', reason: 'no_open_window_before_end' },
  ],
])('a recipient with %s is judged', (_, input, expected) => {
  expect(judgeEligibility({ ...dialable, ...input })).toEqual(expected);
});

test('waiting for the window ends when it opens', () => {
  const waiting = judgeEligibility({ ...dialable, at: night });
  expect(judgeEligibility({ ...dialable, at: waiting.verdict === 'wait' ? waiting.until : 0 })).toEqual({
    verdict: 'dial',
  });
});

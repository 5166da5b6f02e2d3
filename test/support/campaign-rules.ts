import type { CallbackRules } from '../../src/rules/callback-rules.ts';
import type { CampaignRules } from '../../src/rules/campaign-rules.ts';
import { defaultRetryDelays } from '../../src/rules/attempts/retry-schedule.ts';
import type { ResultRule } from '../../src/rules/talk-results.ts';
import type { ImportRow } from '../../src/ledger/campaign/row-hash.ts';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** At the time in the value `callback_at`. */
export const callbackRules: CallbackRules = {
  at: { kind: 'at', key: 'callback_at' },
  lateMs: 30 * minuteMs,
  missed: 'ask',
  unclear: 'ask',
  horizonMs: 14 * dayMs,
  most: 3,
};

/** Retries, pacing and times may be changed one by one. */
export type RulesChanges = Partial<Omit<CampaignRules, Nested>> & {
  [Key in Nested]?: Partial<CampaignRules[Key]> | undefined;
};
type Nested = 'retry' | 'pacing' | 'timing';

/** For the sandbox's first agent, with a busy day's retries in minutes instead of hours. */
export function buildRules({ retry, pacing, timing, ...changes }: RulesChanges = {}): CampaignRules {
  return {
    agentId: 'agent_reminders',
    callers: { numbers: ['pn_main'], choice: 'region' },
    list: {
      columns: ['phone', 'name'],
      phoneColumn: 'phone',
      idColumn: null,
      timezoneColumn: null,
      countryColumn: null,
      defaultRegion: 'US',
      regionColumn: null,
      zipColumn: null,
      notBeforeColumn: null,
      expiresAtColumn: null,
      fallbackTimezone: null,
    },
    firstMessage: 'Hello {{ name }}, this is about your appointment.',
    variables: { key: 'variables', values: { name: '{{ name }}' }, reference: 'carillon_ref' },
    calendar: { hours: null, closedOn: [] },
    law: [],
    caps: [],
    startsAt: null,
    endsAt: null,
    retry: {
      maxAttempts: 3,
      maxAttemptsPerNumber: null,
      resetAfterMs: null,
      jitterMs: 0,
      delays: {
        ...defaultRetryDelays,
        busy: [5 * minuteMs],
        no_answer: [10 * minuteMs],
        unreached: [5 * minuteMs],
        voicemail: 'never',
        failed: [10 * minuteMs],
      },
      maxUncounted: 3,
      ...retry,
    },
    pacing: {
      maxConcurrentCalls: 50,
      startsPerMinute: null,
      batchSize: 20,
      refillThreshold: 10,
      warmUpMs: 0,
      priority: 10,
      ...pacing,
    },
    breaker: null,
    preDial: null,
    onCompletion: null,
    onPause: null,
    optOut: [{ source: 'collected', key: 'opt_out', values: [true] }],
    dispositions: [],
    correlation: { calleeNumber: [], batchId: [], reference: [] },
    sharedWords: 'wait',
    timing: {
      dispatchMarginMs: 10 * minuteMs,
      settleMs: 20 * minuteMs,
      analysisWaitMs: 15 * minuteMs,
      lateDeliveryMs: 15 * minuteMs,
      lateLookbackMs: 2 * hourMs,
      pollMs: 10_000,
      clockToleranceMs: 300_000,
      ringLimitMs: 60_000,
      ...timing,
    },
    ...changes,
  };
}

export function buildRow(row: number, e164: string, cells: string[] = []) {
  const place = { zones: ['America/New_York'], country: 'US', regions: ['NY'] };
  return { row, cells, verdict: 'accepted' as const, externalId: null, e164, ...place };
}

export function buildRows(numbers: readonly string[], nameOf: (index: number) => string): ImportRow[] {
  return numbers.map((e164, index) => buildRow(index + 1, e164, [e164, nameOf(index)]));
}

export const resultRule = (result: string, more: Partial<ResultRule>): ResultRule => ({
  result,
  value: null,
  talkUnderMs: null,
  goal: false,
  ...more,
});

export const collectedRule = (
  result: string,
  key: string,
  values: (string | number | boolean)[],
  more: Partial<ResultRule> = {},
): ResultRule => resultRule(result, { value: { source: 'collected', key, values }, ...more });

/** Without the full stop that some agents write. */
export const saidIn = ({ collected }: Pick<CallTruth, 'collected'>, key: string): string =>
  (typeof collected[key] === 'string' ? collected[key] : '').replace(/\.$/, '').toLowerCase();

/** By a collected value and the talk's length: verify compares it with each record. */
export const talkResults: NonNullable<CampaignRules['results']> = [
  collectedRule('confirmed', 'appointment', ['confirmed'], { goal: true }),
  resultRule('short', { talkUnderMs: 30_000 }),
];

/** For recipients who want a callback. */
export const askingResult = collectedRule('asked', 'appointment', ['reschedule', 'declined'], {
  next: { kind: 'retry', afterMs: 10 * minuteMs },
});

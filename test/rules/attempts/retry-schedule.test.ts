import * as fc from 'fast-check';
import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import { retryAt } from '../../../src/rules/attempts/retry-delay.ts';
import { afterAttempt, defaultRetryDelays, type SettledAttempt } from '../../../src/rules/attempts/retry-schedule.ts';
import type { CampaignRules } from '../../../src/rules/campaign-rules.ts';
import type { Disposition } from '../../../src/rules/disposition.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const rules: CampaignRules['retry'] = {
  maxAttempts: 5,
  maxAttemptsPerNumber: null,
  resetAfterMs: null,
  jitterMs: 0,
  delays: { ...defaultRetryDelays },
  maxUncounted: 3,
};

function settled(disposition: Disposition, facts: Partial<SettledAttempt> = {}, counted = true): SettledAttempt {
  return {
    result: { disposition, detail: null, counted },
    countedAttempts: 1,
    uncountedInARow: 0,
    sameDisposition: 1,
    settledAt: 1_000,
    zones: [],
    attemptId: 'spring/1/1',
    rules,
    ...facts,
  };
}

test.each<[Disposition, number, number]>([
  ['busy', 1, 30 * minuteMs],
  ['no_answer', 1, 2 * hourMs],
  ['no_answer', 2, 24 * hourMs],
  ['no_answer', 3, 24 * hourMs],
  ['unreached', 1, 2 * hourMs],
  ['voicemail', 1, 24 * hourMs],
  ['failed', 1, 10 * minuteMs],
])('by default %s for the %i. time is retried after %i ms where no zone is known', (disposition, sameDisposition, delayMs) => {
  const next = afterAttempt(settled(disposition, { sameDisposition }));
  expect(next).toEqual({ kind: 'retry', at: 1_000 + delayMs, countsAs: true });
});

test('by default whom two calls did not reach is called again from the next local day on', () => {
  const settledAt = Date.parse('2030-01-15T20:00:00-05:00');
  const at = (sameDisposition: number) => {
    const next = afterAttempt(settled('no_answer', { sameDisposition, settledAt, zones: ['America/New_York', 'America/Chicago'] }));
    return next.kind === 'retry' ? new Date(next.at).toISOString() : next.kind;
  };
  expect([at(1), at(2), at(3)]).toEqual(['2030-01-16T03:00:00.000Z', '2030-01-16T06:00:00.000Z', '2030-01-16T06:00:00.000Z']);
});

test.each([
  ['answered', null, 'completed', 'answered'],
  ['answered', 'silent', 'completed', 'silent'],
  ['opted_out', null, 'opted_out', 'opted_out'],
  ['invalid_number', null, 'undialable', 'invalid_number'],
  ['unknown', null, 'unresolved', 'unknown'],
] as const)('%s (%s) ends the recipient as %s, whatever is left of the budget', (disposition, detail, outcome, reason) => {
  for (const countedAttempts of [1, 5]) {
    const next = afterAttempt(settled(disposition, { result: { disposition, detail, counted: true }, countedAttempts }));
    expect(next).toEqual({ kind: 'final', outcome, reason, countsAs: true });
  }
});

test('the last attempt of the budget is followed by none', () => {
  expect(afterAttempt(settled('busy', { countedAttempts: 4 })).kind).toBe('retry');
  const used = { kind: 'final', outcome: 'exhausted', reason: 'attempts_used_up', countsAs: true };
  expect(afterAttempt(settled('busy', { countedAttempts: 5 }))).toEqual(used);
  expect(afterAttempt(settled('busy', { countedAttempts: 6 }))).toEqual(used);
});

test('a budget that is renewed over time ends nobody', () => {
  const renewed = { ...rules, resetAfterMs: 24 * hourMs };
  const next = afterAttempt(settled('busy', { countedAttempts: 5, rules: renewed }));
  expect(next).toEqual({ kind: 'retry', at: 1_000 + 30 * minuteMs, countsAs: true });
});

test.each(['never', []] as const)('a delay of %o means no retry', (delay) => {
  const delays = { ...defaultRetryDelays, voicemail: delay === 'never' ? delay : [...delay] };
  const next = afterAttempt(settled('voicemail', { rules: { ...rules, delays } }));
  expect(next).toEqual({ kind: 'final', outcome: 'exhausted', reason: 'no_retry_after_voicemail', countsAs: true });
});

test('rules may retry an attempt of which nobody knows whether it was placed', () => {
  const retrying = { ...rules, delays: { ...defaultRetryDelays, unknown: [hourMs] } };
  expect(afterAttempt(settled('unknown', { rules: retrying }))).toEqual({
    kind: 'retry',
    at: 1_000 + hourMs,
    countsAs: true,
  });
  expect(afterAttempt(settled('unknown', { rules: retrying, countedAttempts: 5 }))).toMatchObject({
    outcome: 'exhausted',
  });
});

test('what a person has given up is dialled by no rule', () => {
  const retrying = { ...rules, delays: { ...defaultRetryDelays, unknown: [hourMs] } };
  for (const countedAttempts of [1, 5]) {
    const { result, ...rest } = settled('unknown', { rules: retrying, countedAttempts });
    expect(afterAttempt({ ...rest, result: { ...result, detail: 'given_up' } })).toEqual({
      kind: 'final',
      outcome: 'unresolved',
      reason: 'given_up',
      countsAs: true,
    });
  }
});

test('an uncounted failure leaves the budget alone until too many come in a row', () => {
  const failure = (uncountedInARow: number, countedAttempts: number) =>
    afterAttempt(settled('failed', { uncountedInARow, countedAttempts, sameDisposition: uncountedInARow }, false));
  const at = 1_000 + 10 * minuteMs;
  expect(failure(3, 4)).toEqual({ kind: 'retry', at, countsAs: false });
  expect(failure(4, 3)).toEqual({ kind: 'retry', at, countsAs: true });
  expect(failure(4, 4)).toEqual({ kind: 'final', outcome: 'exhausted', reason: 'attempts_used_up', countsAs: true });
});

const instant = (text: string): number => Date.parse(text);
const base = {
  nth: 1,
  from: instant('2030-01-15T12:00:00Z'),
  zones: ['America/New_York'],
  jitterMs: 0,
  key: 'spring/1/1',
};

test.each([
  ['shortly before midnight there', ['America/New_York'], '2030-01-16T04:59:59Z', '2030-01-16T05:00:00Z'],
  ['the day on which clocks go forward', ['America/New_York'], '2030-03-10T16:00:00Z', '2030-03-11T04:00:00Z'],
  ['the night in which there is no midnight', ['America/Havana'], '2030-03-09T17:00:00Z', '2030-03-10T05:00:00Z'],
  ['the last of several zones', ['America/New_York', 'Pacific/Honolulu'], '2030-01-15T12:00:00Z', '2030-01-16T10:00:00Z'],
  ['zones on both sides of midnight', ['Asia/Tokyo', 'America/New_York'], '2030-01-15T16:00:00Z', '2030-01-16T15:00:00Z'],
  ['no zone that is known', ['Nowhere/Land'], '2030-01-15T12:00:00Z', '2030-01-16T12:00:00Z'],
])('next_day is the local day after: %s', (_, zones, from, expected) => {
  const at = retryAt({ ...base, delays: ['next_day'], zones, from: instant(from) });
  expect(new Date(at ?? 0).toISOString()).toBe(new Date(expected).toISOString());
});

test('on the next day no zone has the date of the call any more', () => {
  const zone = fc.constantFrom('America/New_York', 'Pacific/Honolulu', 'Australia/Lord_Howe', 'Asia/Kolkata', 'America/Havana');
  fc.assert(
    fc.property(
      fc.integer({ min: instant('2029-01-01T00:00:00Z'), max: instant('2031-01-01T00:00:00Z') }),
      fc.array(zone, { minLength: 1, maxLength: 3 }),
      (from, zones) => {
        const at = retryAt({ ...base, delays: ['next_day'], zones, from }) ?? 0;
        const dateIn = (each: string, ms: number) => DateTime.fromMillis(ms, { zone: each }).toISODate() ?? '';
        for (const each of zones) expect(dateIn(each, at) > dateIn(each, from)).toBe(true);
        expect(zones.some((each) => dateIn(each, at - 1) === dateIn(each, from))).toBe(true);
      },
    ),
    { seed: 5, numRuns: 500 },
  );
});

test('jitter lengthens each delay by its own part of it, and repeats itself', () => {
  const jitterMs = 600_000;
  const lengthened = Array.from({ length: 2_000 }, (_, row) => {
    const key = `spring/${row}/1`;
    const at = retryAt({ ...base, delays: [hourMs], jitterMs, key }) ?? 0;
    expect(retryAt({ ...base, delays: [hourMs], jitterMs, key })).toBe(at);
    return at - base.from - hourMs;
  });
  expect(Math.min(...lengthened)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...lengthened)).toBeLessThanOrEqual(jitterMs);
  const least = Array.from({ length: 20 }, (_, row) => retryAt({ ...base, delays: [hourMs], jitterMs: 1, key: `spring/${row}/1` }));
  expect(new Set(least)).toEqual(new Set([base.from + hourMs, base.from + hourMs + 1]));
  // Every tenth of the range gets its share, give or take a fifth.
  const tenths = Array.from({ length: 10 }, () => 0);
  for (const ms of lengthened) tenths[Math.min(9, Math.floor((ms / (jitterMs + 1)) * 10))]! += 1;
  for (const count of tenths) expect(Math.abs(count - 200)).toBeLessThan(60);
  expect(retryAt({ ...base, delays: ['next_day'], jitterMs, key: 'spring/7/1' })).toBeGreaterThan(instant('2030-01-16T05:00:00Z'));
});

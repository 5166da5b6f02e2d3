import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { likelyRetries, longestRetries, type RetryPath } from '../../../src/campaign/preflight/retry-path.ts';
import type { CampaignRules, RetryDelays, RetryDisposition } from '../../../src/rules/campaign-rules.ts';
import { buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';

type RetryRules = CampaignRules['retry'];

const kinds: readonly RetryDisposition[] = ['busy', 'no_answer', 'unreached', 'voicemail', 'failed', 'unknown'];

function rulesWith(delays: Partial<Record<RetryDisposition, RetryDelays>>, changes: Partial<RetryRules> = {}): RetryRules {
  const never = Object.fromEntries(kinds.map((kind) => [kind, 'never'])) as Record<RetryDisposition, RetryDelays>;
  return { ...buildRules().retry, maxAttempts: 3, delays: { ...never, ...delays }, ...changes };
}

/** How long somebody waits in all, calls left out. */
function lengthOf(path: RetryPath, zones: readonly string[] = ['America/New_York'], from = Date.UTC(2026, 0, 5)): number {
  let at = from;
  for (let retry = 1; retry <= path.retries; retry++) at = path.retryAt(retry, at, zones);
  return at - from;
}

test('the likely path repeats the delays of a call that nobody answers', () => {
  const path = likelyRetries(rulesWith({ no_answer: [2 * hourMs, 24 * hourMs], busy: [minuteMs] }, { maxAttempts: 4 }));
  expect(path.retries).toBe(3);
  expect(lengthOf(path)).toBe((2 + 24 + 24) * hourMs);
});

test('where voicemail decides when the last people are called again, the likely path follows it', () => {
  const slow = rulesWith({ no_answer: [hourMs], voicemail: [25 * hourMs], busy: [99 * hourMs] });
  expect(lengthOf(likelyRetries(slow))).toBe(50 * hourMs);
  const quick = rulesWith({ no_answer: ['next_day'], voicemail: [hourMs] });
  expect(lengthOf(likelyRetries(quick))).toBe((5 + 24) * hourMs);
});

test('without a delay after no answer the next frequent failure takes its place, and without any there is no retry', () => {
  expect(lengthOf(likelyRetries(rulesWith({ busy: [minuteMs] })))).toBe(2 * minuteMs);
  expect(likelyRetries(rulesWith({})).retries).toBe(0);
  expect(longestRetries(rulesWith({}), 0).retries).toBe(0);
});

test('the budget of a number and jitter are part of both paths', () => {
  const rules = rulesWith({ no_answer: [hourMs] }, { maxAttemptsPerNumber: 2, jitterMs: 10 * minuteMs });
  expect(likelyRetries(rules).retries).toBe(1);
  expect(lengthOf(likelyRetries(rules))).toBe(hourMs + 5 * minuteMs);
  expect(lengthOf(longestRetries(rules, 0))).toBe(hourMs + 10 * minuteMs);
});

test('the next day begins when it has begun in every zone', () => {
  const rules = rulesWith({ no_answer: ['next_day'] }, { maxAttempts: 2 });
  // 00:00 UTC is 19:00 in New York and 16:00 in Los Angeles of the day before.
  expect(lengthOf(likelyRetries(rules))).toBe(5 * hourMs);
  expect(lengthOf(longestRetries(rules, 0), ['America/New_York', 'America/Los_Angeles'])).toBe(8 * hourMs);
});

test('what is found out late waits longer', () => {
  const rules = rulesWith({ unreached: [hourMs], busy: [80 * minuteMs] });
  expect(lengthOf(longestRetries(rules, 0))).toBe(160 * minuteMs);
  expect(lengthOf(longestRetries(rules, 30 * minuteMs))).toBe(180 * minuteMs);
});

/** Every order of dispositions, one after the other. */
function longestOf(rules: RetryRules, made: readonly RetryDisposition[]): number {
  if (made.length === rules.maxAttempts - 1) return 0;
  const lengths = kinds.flatMap((kind) => {
    const delays = rules.delays[kind];
    if (delays === 'never') return [];
    const nth = made.filter((earlier) => earlier === kind).length;
    const delay = delays[Math.min(nth, delays.length - 1)];
    return [(delay === 'next_day' ? 24 * hourMs : (delay ?? 0)) + longestOf(rules, [...made, kind])];
  });
  return Math.max(0, ...lengths);
}

test('no order of dispositions takes longer than the longest path', () => {
  const delays = fc.oneof(
    fc.constant('never' as const),
    fc.array(
      fc.integer({ min: 1, max: 100 }).map((minutes) => minutes * minuteMs),
      { minLength: 1, maxLength: 3 },
    ),
  );
  const drawn = fc.record({
    maxAttempts: fc.integer({ min: 1, max: 5 }),
    delays: fc.record({ busy: delays, no_answer: delays, voicemail: delays }),
  });
  fc.assert(
    fc.property(drawn, (draw) => {
      const rules = rulesWith(draw.delays, { maxAttempts: draw.maxAttempts });
      expect(lengthOf(longestRetries(rules, 0))).toBe(longestOf(rules, []));
    }),
    { seed: 3, numRuns: 300 },
  );
});

test('a path that was asked before answers as a new one does', () => {
  const rules = rulesWith({ no_answer: ['next_day'] }, { maxAttempts: 2 });
  const asked = likelyRetries(rules);
  const zones = fc.subarray(['America/New_York', 'Asia/Tokyo', 'Europe/London', 'Asia/Kathmandu']);
  // Half hours of four weeks with changes of clocks in New York and London, in any order.
  const instant = fc.integer({ min: 0, max: 48 * 28 }).map((halves) => Date.UTC(2026, 2, 5) + halves * 30 * minuteMs);
  fc.assert(
    fc.property(zones, instant, (those, at) => {
      expect(asked.retryAt(1, at, those)).toBe(likelyRetries(rules).retryAt(1, at, those));
    }),
    { seed: 5, numRuns: 500 },
  );
});

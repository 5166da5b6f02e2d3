import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { forecastCampaign } from '../../../src/campaign/preflight/campaign-forecast.ts';
import { CallableRows } from '../../../src/campaign/preflight/callable-rows.ts';
import { likelyRetries, longestRetries, type RetryPath } from '../../../src/campaign/preflight/retry-path.ts';
import {
  describeOpeningLines,
  forecastOpeningLines,
  type RecordsShown,
  speakableColumns,
} from '../../../src/campaign/preflight/preflight.ts';
import type { CampaignRules, RetryDelays, RetryDisposition } from '../../../src/rules/campaign-rules.ts';
import { forecast, type ForecastGroup } from '../../../src/rules/forecast/forecast.ts';
import { WordsCounter } from '../../../src/rules/forecast/words-forecast.ts';
import { buildRules, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';

/** Monday, 15:00 UTC: 10:00 in New York. */
const monday = Date.UTC(2026, 0, 5, 15);

function people(count: number): ForecastGroup[] {
  return [{ count, calendars: [], zones: ['America/New_York'], notBefore: null, expiresAt: null }];
}

function rulesWith(pacing: Partial<CampaignRules['pacing']>, changes: Partial<CampaignRules> = {}): CampaignRules {
  const rules = buildRules(changes);
  const noRetries = { ...rules.retry, maxAttempts: 1 };
  return { ...rules, retry: changes.retry ?? noRetries, pacing: { ...rules.pacing, ...pacing } };
}

test('the three courses come one after the other, and the bounds hold what lies between', () => {
  const rules = rulesWith({ maxConcurrentCalls: 10 }, { retry: { ...buildRules().retry, maxAttempts: 3, maxUncounted: 2 } });
  const { earliest, likely, slowest, calls, minutes, needs, canFinish } = forecastCampaign({
    rules,
    groups: people(300),
    startsAt: monday,
  });
  const ends = [earliest, likely, slowest].map(({ finishesAt }) => finishesAt ?? 0);
  expect(ends).toEqual(ends.toSorted((a, b) => a - b));
  // 300 short talks over ten lines.
  expect(earliest.finishesAt).toBe(monday + 15 * minuteMs);
  expect(calls).toEqual({ fewest: 300, likely: likely.calls, most: 300 * 3 * 3 });
  expect(minutes).toEqual({ fewest: 150, likely: Math.ceil(likely.callMs / minuteMs), most: (300 * 3 * 3 * 90) / 60 });
  expect(slowest.calls).toBe(900);
  expect([needs, canFinish]).toEqual([null, true]);
});

test('with time for nobody the campaign cannot finish; with time for the best case it can', () => {
  // Ten minutes remain for starts: 20 short talks on one line, the last just before.
  const rules = rulesWith({ maxConcurrentCalls: 1 }, { endsAt: monday + 20 * minuteMs });
  expect(forecastCampaign({ rules, groups: people(20), startsAt: monday })).toMatchObject({ canFinish: true });
  expect(forecastCampaign({ rules, groups: people(21), startsAt: monday })).toMatchObject({
    canFinish: false,
    earliest: { neverCalled: 1 },
  });
});

test('what a window lacks is exactly as much more time, or as many more lines', () => {
  const drawn = fc.record({
    count: fc.integer({ min: 1, max: 200 }),
    lines: fc.integer({ min: 1, max: 5 }),
    minutes: fc.integer({ min: 11, max: 60 }),
    callSeconds: fc.constantFrom(30, 45, 90, 300),
    startsPerMinute: fc.option(fc.integer({ min: 1, max: 20 }), { nil: null }),
  });
  let lacking = 0;
  fc.assert(
    fc.property(drawn, ({ count, lines, minutes, callSeconds, startsPerMinute }) => {
      const assumptions = { callMs: callSeconds * 1000, answerRate: 0.5 };
      const needsWith = (changes: Partial<CampaignRules['pacing']>, endsAt: number) =>
        forecastCampaign({
          rules: rulesWith({ maxConcurrentCalls: lines, startsPerMinute, ...changes }, { endsAt }),
          groups: people(count),
          startsAt: monday,
          assumptions,
        }).needs;
      const endsAt = monday + minutes * minuteMs;
      const needs = needsWith({}, endsAt);
      if (needs === null) return;
      lacking += 1;
      expect(needs.missing).toBe('first_attempts');
      expect(needs.moreMs).not.toBeNull();
      const more = needs.moreMs ?? 0;
      expect(needsWith({}, endsAt + more)).toBeNull();
      expect(needsWith({}, endsAt + more - 1)).not.toBeNull();
      if (needs.concurrentCalls === null) {
        expect(needs.limitedBy).toBe('starts_per_minute');
        return;
      }
      expect(needsWith({ maxConcurrentCalls: needs.concurrentCalls }, endsAt)).toBeNull();
      expect(needsWith({ maxConcurrentCalls: needs.concurrentCalls - 1 }, endsAt)).not.toBeNull();
    }),
    { seed: 5, numRuns: 200 },
  );
  expect(lacking).toBeGreaterThan(50);
});

test.each<[string, CampaignRules, object]>(
  // prettier-ignore
  [
    ['starts per minute', rulesWith({ startsPerMinute: 1 }, { endsAt: monday + hourMs }),
      { missing: 'first_attempts', concurrentCalls: null, limitedBy: 'starts_per_minute' }],
    ['a warm-up', rulesWith({ maxConcurrentCalls: 2, warmUpMs: 100 * 24 * hourMs, startsPerMinute: 100 },
      { endsAt: monday + 11 * minuteMs }), { missing: 'first_attempts', concurrentCalls: null, limitedBy: 'warm_up' }],
    ['delays between attempts', rulesWith({}, { endsAt: monday + hourMs,
      retry: { ...buildRules().retry, delays: { ...buildRules().retry.delays, no_answer: [24 * hourMs] } } }),
      { missing: 'further_attempts', concurrentCalls: null, limitedBy: 'delays' }],
  ],
)('when lines do not help because of %s, that is told', (_, rules, expected) => {
  expect(forecastCampaign({ rules, groups: people(100), startsAt: monday }).needs).toMatchObject(expected);
});

test('the account has a say in how many lines there are, and in how many there could be', () => {
  const rules = rulesWith({ maxConcurrentCalls: 10 }, { endsAt: monday + 30 * minuteMs });
  const withAccount = (accountLines: number | null) => forecastCampaign({ rules, groups: people(100), startsAt: monday, accountLines });
  expect(withAccount(null)).toMatchObject({ lines: 10, needs: null });
  expect(withAccount(1)).toMatchObject({
    lines: 1,
    needs: { missing: 'first_attempts', concurrentCalls: null, limitedBy: 'account_limit' },
  });
});

test('rows that expire by themselves are not helped by a later end of the campaign', () => {
  const groups = people(100).map((group) => ({ ...group, expiresAt: monday + 15 * minuteMs }));
  const rules = rulesWith({ maxConcurrentCalls: 1 });
  expect(forecastCampaign({ rules, groups, startsAt: monday }).needs).toMatchObject({
    missing: 'first_attempts',
    moreMs: null,
    limitedBy: null,
  });
});

const noon = Date.UTC(2026, 0, 5, 17);

/** When the last of four unanswered calls to two recipients in these states would begin. */
function lastStartIn(regions: readonly (readonly string[] | null)[], withLaw = true): number {
  const caps = [{ by: 'number' as const, calls: 3, withinMs: 24 * hourMs }];
  const dates = { hours: null, closedOn: [], from: null, until: null };
  const law = [{ ...dates, id: 'us-fl-calls', country: 'US', region: 'FL', caps, source: 'test' }];
  const rules = buildRules(withLaw ? { law } : {});
  const counter = new CallableRows(rules, noon);
  for (const [index, states] of regions.entries())
    counter.add(
      {
        row: index + 1,
        line: index + 2,
        cells: [],
        verdict: 'accepted',
        externalId: null,
        e164: `+1305555010${index}`,
        zones: ['America/New_York'],
        country: 'US',
        regions: states,
        notBefore: null,
        expiresAt: null,
      },
      null,
    );
  const times = { answerRate: 0, answeredMs: minuteMs, unansweredMs: minuteMs };
  const course = { ...times, retries: 3, retryAt: (_retry: number, endedAt: number) => endedAt + hourMs - minuteMs };
  const limits = { endsAt: null, marginMs: 10 * minuteMs, linesAt: () => 2, startLimits: [] };
  const { lastStartAt } = forecast({ groups: counter.groups(), course, at: noon, caps: rules.caps, ...limits });
  return (lastStartAt ?? 0) - noon;
}

test('the forecast keeps the caps of the law where a row is', () => {
  expect(lastStartIn([['GA'], ['GA']])).toBe(3 * hourMs);
  expect(lastStartIn([['GA'], ['FL']])).toBe(24 * hourMs);
  expect(lastStartIn([null, ['GA']])).toBe(24 * hourMs);
  expect(lastStartIn([['FL'], null], false)).toBe(3 * hourMs);
});

const startsAt = Date.UTC(2030, 0, 15, 12);

/** Sixty recipients, five groups of four with one first name each, and an hour for all. */
function look(changes: RulesChanges, records: RecordsShown | null) {
  const rules = buildRules({ endsAt: startsAt + hourMs, ...changes });
  const counter = new WordsCounter([]);
  for (let row = 0; row < 60; row += 1) counter.add(`Hello dear n${row < 20 ? row % 5 : row}`, []);
  const lines = describeOpeningLines(rules, 60, counter.report());
  return forecastOpeningLines(rules, lines, { dialable: 60, startsAt }, { callMs: 30 * 60_000, answerRate: 1 }, records);
}

test('words limit what is open at once, and whoever has no turn before the end is counted', () => {
  // Two calls of half an hour fit, so two of each group of four are late.
  expect(look({}, null)).toEqual({ openAtOnce: 45, longestMs: 2 * hourMs, late: 10, doubtful: null });
  expect(look({ endsAt: null }, null)).toMatchObject({ late: 0 });
  expect(look({ firstMessage: null }, null)).toMatchObject({ openAtOnce: 1, late: 58 });
});

test('words do not matter to an agent whose last twenty records name the call; one that is silent leaves doubt', () => {
  expect(look({}, { read: 20, naming: 20, silent: 0 })).toMatchObject({ openAtOnce: null, late: 0, doubtful: 0 });
  expect(look({}, { read: 20, naming: 19, silent: 1 })).toMatchObject({ openAtOnce: 45, doubtful: 3 });
  expect(look({}, { read: 19, naming: 19, silent: 0 })).toMatchObject({ openAtOnce: 45, doubtful: 0 });
  expect(look({}, { read: 0, naming: 0, silent: 0 })).toMatchObject({ openAtOnce: 45, doubtful: null });
});

test('where doubt is accepted nothing waits, and all that share their words may end in it', () => {
  const accepted = { sharedWords: 'unresolved' as const };
  expect(look(accepted, null)).toEqual({ openAtOnce: null, longestMs: 0, late: 0, doubtful: 20 });
});

test('numbers, zones and what else has a part of its own are no columns to be spoken', () => {
  const { list } = buildRules();
  const columns = ['phone', 'name', 'zip'];
  expect(speakableColumns({ list: { ...list, columns, zipColumn: 'zip' } })).toEqual([{ name: 'name', index: 1 }]);
});

type RetryRules = CampaignRules['retry'];

const kinds: readonly RetryDisposition[] = ['busy', 'no_answer', 'unreached', 'voicemail', 'failed', 'unknown'];

function pathRules(delays: Partial<Record<RetryDisposition, RetryDelays>>, changes: Partial<RetryRules> = {}): RetryRules {
  const never = Object.fromEntries(kinds.map((kind) => [kind, 'never'])) as Record<RetryDisposition, RetryDelays>;
  return { ...buildRules().retry, maxAttempts: 3, delays: { ...never, ...delays }, ...changes };
}

/** Total waiting time, without the calls. */
function lengthOf(path: RetryPath, zones: readonly string[] = ['America/New_York'], from = Date.UTC(2026, 0, 5)): number {
  let at = from;
  for (let retry = 1; retry <= path.retries; retry++) at = path.retryAt(retry, at, zones);
  return at - from;
}

test('the likely path repeats the delays of a call that nobody answers', () => {
  const path = likelyRetries(pathRules({ no_answer: [2 * hourMs, 24 * hourMs], busy: [minuteMs] }, { maxAttempts: 4 }));
  expect(path.retries).toBe(3);
  expect(lengthOf(path)).toBe((2 + 24 + 24) * hourMs);
});

test('where voicemail decides when the last people are called again, the likely path follows it', () => {
  const slow = pathRules({ no_answer: [hourMs], voicemail: [25 * hourMs], busy: [99 * hourMs] });
  expect(lengthOf(likelyRetries(slow))).toBe(50 * hourMs);
  const quick = pathRules({ no_answer: ['next_day'], voicemail: [hourMs] });
  expect(lengthOf(likelyRetries(quick))).toBe((5 + 24) * hourMs);
});

test('without a delay after no answer the next frequent failure takes its place, and without any there is no retry', () => {
  expect(lengthOf(likelyRetries(pathRules({ busy: [minuteMs] })))).toBe(2 * minuteMs);
  expect(likelyRetries(pathRules({})).retries).toBe(0);
  expect(longestRetries(pathRules({}), 0).retries).toBe(0);
});

test('the budget of a number and jitter are part of both paths', () => {
  const pathBase = pathRules({ no_answer: [hourMs] }, { maxAttemptsPerNumber: 2, jitterMs: 10 * minuteMs });
  expect(likelyRetries(pathBase).retries).toBe(1);
  expect(lengthOf(likelyRetries(pathBase))).toBe(hourMs + 5 * minuteMs);
  expect(lengthOf(longestRetries(pathBase, 0))).toBe(hourMs + 10 * minuteMs);
});

test('the next day begins when it has begun in every zone', () => {
  const pathBase = pathRules({ no_answer: ['next_day'] }, { maxAttempts: 2 });
  // 00:00 UTC is 19:00 in New York and 16:00 in Los Angeles of the day before.
  expect(lengthOf(likelyRetries(pathBase))).toBe(5 * hourMs);
  expect(lengthOf(longestRetries(pathBase, 0), ['America/New_York', 'America/Los_Angeles'])).toBe(8 * hourMs);
});

test('what is found out late waits longer', () => {
  const pathBase = pathRules({ unreached: [hourMs], busy: [80 * minuteMs] });
  expect(lengthOf(longestRetries(pathBase, 0))).toBe(160 * minuteMs);
  expect(lengthOf(longestRetries(pathBase, 30 * minuteMs))).toBe(180 * minuteMs);
});

/** Tries every order of dispositions. */
function longestOf(pathBase: RetryRules, made: readonly RetryDisposition[]): number {
  if (made.length === pathBase.maxAttempts - 1) return 0;
  const lengths = kinds.flatMap((kind) => {
    const delays = pathBase.delays[kind];
    if (delays === 'never') return [];
    const nth = made.filter((earlier) => earlier === kind).length;
    const delay = delays[Math.min(nth, delays.length - 1)];
    return [(delay === 'next_day' ? 24 * hourMs : (delay ?? 0)) + longestOf(pathBase, [...made, kind])];
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
      const pathBase = pathRules(draw.delays, { maxAttempts: draw.maxAttempts });
      expect(lengthOf(longestRetries(pathBase, 0))).toBe(longestOf(pathBase, []));
    }),
    { seed: 3, numRuns: 300 },
  );
});

test('a path that was asked before answers as a new one does', () => {
  const pathBase = pathRules({ no_answer: ['next_day'] }, { maxAttempts: 2 });
  const asked = likelyRetries(pathBase);
  const zones = fc.subarray(['America/New_York', 'Asia/Tokyo', 'Europe/London', 'Asia/Kathmandu']);
  // Half hours of four weeks with clock changes in New York and London, in any order.
  const instant = fc.integer({ min: 0, max: 48 * 28 }).map((halves) => Date.UTC(2026, 2, 5) + halves * 30 * minuteMs);
  fc.assert(
    fc.property(zones, instant, (those, at) => {
      expect(asked.retryAt(1, at, those)).toBe(likelyRetries(pathBase).retryAt(1, at, those));
    }),
    { seed: 5, numRuns: 500 },
  );
});

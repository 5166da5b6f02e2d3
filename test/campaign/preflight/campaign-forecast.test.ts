import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { forecastCampaign } from '../../../src/campaign/preflight/campaign-forecast.ts';
import type { CampaignRules } from '../../../src/rules/campaign-rules.ts';
import type { ForecastGroup } from '../../../src/rules/forecast/forecast.ts';
import { buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';

/** A Monday, 15:00 UTC: 10:00 in New York. */
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
  // Ten minutes are left for starts: 20 short talks on one line, and the last may begin at ten minutes less a bit.
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

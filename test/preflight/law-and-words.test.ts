import { expect, test } from 'vitest';
import { FunnelCounter } from '../../src/preflight/funnel.ts';
import { forecast } from '../../src/domain/forecast/forecast.ts';
import { buildRules, hourMs, minuteMs } from '../support/campaign-rules.ts';

const noon = Date.UTC(2026, 0, 5, 17);

/** When the last call to two people in these states would begin, of whom nobody answers and each is called four times. */
function lastStartIn(regions: readonly (readonly string[] | null)[], withLaw = true): number {
  const caps = [{ by: 'number' as const, calls: 3, withinMs: 24 * hourMs }];
  const dates = { hours: null, closedOn: [], from: null, until: null };
  const law = [{ ...dates, id: 'us-fl-calls', country: 'US', region: 'FL', caps, source: 'test' }];
  const rules = buildRules(withLaw ? { law } : {});
  const counter = new FunnelCounter(rules, noon);
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
  const limits = { endsAt: null, marginMs: 10 * minuteMs, linesAt: () => 2, startsPerMinute: null };
  const { lastStartAt } = forecast({ groups: counter.groups(), course, at: noon, caps: rules.caps, ...limits });
  return (lastStartAt ?? 0) - noon;
}

test('the forecast keeps the caps of the law where a row is', () => {
  expect(lastStartIn([['GA'], ['GA']])).toBe(3 * hourMs);
  expect(lastStartIn([['GA'], ['FL']])).toBe(24 * hourMs);
  expect(lastStartIn([null, ['GA']])).toBe(24 * hourMs);
  expect(lastStartIn([['FL'], null], false)).toBe(3 * hourMs);
});

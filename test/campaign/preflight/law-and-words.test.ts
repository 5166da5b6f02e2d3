import { expect, test } from 'vitest';
import { CallableRows } from '../../../src/campaign/preflight/callable-rows.ts';
import { forecast } from '../../../src/rules/forecast/forecast.ts';
import { buildRules, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { describeOpeningLines, lookAhead, speakableColumns, type RecordsShown } from '../../../src/campaign/preflight/preflight.ts';
import { WordsCounter } from '../../../src/rules/forecast/words-forecast.ts';

const noon = Date.UTC(2026, 0, 5, 17);

/** When the last call to two people in these states would begin, of whom nobody answers and each is called four times. */
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

const startsAt = Date.UTC(2030, 0, 15, 12);

/** Sixty people, of whom five sets of four have one first name, with an hour for all of them. */
function look(changes: RulesChanges, records: RecordsShown | null) {
  const rules = buildRules({ endsAt: startsAt + hourMs, ...changes });
  const counter = new WordsCounter([]);
  for (let row = 0; row < 60; row += 1) counter.add(`Hello dear n${row < 20 ? row % 5 : row}`, []);
  const lines = describeOpeningLines(rules, 60, counter.report());
  return lookAhead(rules, lines, { dialable: 60, startsAt }, { callMs: 30 * 60_000, answerRate: 1 }, records);
}

test('words limit what is open at once, and whoever has no turn before the end is counted', () => {
  // Two calls of half an hour fit, so that of each set of four two are late.
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
  expect(speakableColumns({ ...list, columns, zipColumn: 'zip' })).toEqual([{ name: 'name', index: 1 }]);
});

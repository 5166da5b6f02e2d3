import { expect, test } from 'vitest';
import {
  describeOpeningLines,
  lookAhead,
  speakableColumns,
  type RecordsShown,
} from '../../src/preflight/words-outlook.ts';
import { WordsCounter } from '../../src/domain/forecast/words-forecast.ts';
import { buildRules, hourMs, type RulesChanges } from '../support/campaign-rules.ts';

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

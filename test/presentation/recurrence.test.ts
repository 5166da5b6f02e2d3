import { expect, test } from 'vitest';
import { recurrenceText } from '../../src/presentation/words/recurrence.ts';

test.each([
  ['0 9 * * mon-fri', 'Weekdays at 9:00'],
  ['30 8 * * *', 'Every day at 8:30'],
  ['5 13 * * 1', 'Mondays at 13:05'],
  ['0 7 * * sat,sun', 'Saturdays, Sundays at 7:00'],
  ['every 1d', 'Every day'],
  ['every 90m', 'Every 90m'],
  // What has no short words stays as it was written.
  ['0 9 1 1 *', '0 9 1 1 *'],
  ['*/5 9 * * *', '*/5 9 * * *'],
  ['0 9 * * mon-wed', '0 9 * * mon-wed'],
])('%s is told as %s', (when, text) => {
  expect(recurrenceText(when)).toBe(text);
});

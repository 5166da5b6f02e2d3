import { expect, test } from 'vitest';
import { parseHttpDate, parseRetryAfter } from '../../../src/service/http/answer-errors.ts';

const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
const dateMs = Date.UTC(1994, 10, 6, 8, 49, 37);

test.each([
  ['0', 0],
  ['1', 1000],
  [' 120 ', 120_000],
  ['1.5', 1500],
])('%j is a number of seconds', (value, expected) => {
  expect(parseRetryAfter(value, null, 0)).toBe(expected);
});

test.each([
  ['86400', 86_400_000],
  ['86401', 86_400_000],
  // Not three centuries: an instant in epoch seconds.
  ['1900000000', 86_400_000],
  ['Mon, 07 Nov 1994 08:49:37 GMT', 86_400_000],
  ['Wed, 01 Jan 2031 00:00:00 GMT', 86_400_000],
])('%j is a wait of a day at most', (value, expected) => {
  expect(parseRetryAfter(value, date, 0)).toBe(expected);
});

test('a date counts from the Date header of the same answer, not from our clock', () => {
  expect(parseRetryAfter('Sun, 06 Nov 1994 08:50:07 GMT', date, Date.UTC(2030, 0, 1))).toBe(30_000);
});

test('a date without a Date header counts from our clock', () => {
  expect(parseRetryAfter('Sun, 06 Nov 1994 08:50:07 GMT', null, dateMs)).toBe(30_000);
});

test('a date with a Date header that cannot be read counts from our clock', () => {
  expect(parseRetryAfter('Sun, 06 Nov 1994 08:50:07 GMT', 'now', dateMs + 10_000)).toBe(20_000);
});

test('a date that has passed is no wait', () => {
  expect(parseRetryAfter(date, 'Sun, 06 Nov 1994 09:00:00 GMT', 0)).toBe(0);
});

test.each([null, '', 'soon', '-1', '1e3', '2 minutes', '12 s', 'NaN', '9'.repeat(11), 'Sun, 99 Nov 1994 08:49:37 GMT'])(
  '%j says nothing',
  (value) => {
    expect(parseRetryAfter(value, date, 0)).toBeNull();
  },
);

test.each([date, 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])('all three forms of an HTTP date are read: %s', (value) => {
  expect(parseHttpDate(value)).toBe(dateMs);
});

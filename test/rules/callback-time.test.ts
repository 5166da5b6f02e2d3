import { expect, test } from 'vitest';
import type { CallbackRules } from '../../src/rules/callback-rules.ts';
import { readCallback, toWholeSecond, type ReadCallback } from '../../src/rules/callbacks/callback-time.ts';
import { instantsOf } from '../../src/rules/hours/local-time.ts';
import { readSpokenTime } from '../../src/rules/callbacks/spoken-time.ts';
import { callbackRules, dayMs, hourMs, minuteMs } from '../support/campaign-rules.ts';

/** A Thursday, half past three in the afternoon by the wall. */
const thursday = Date.UTC(2026, 10, 26, 15, 30);

function spoken(said: string): unknown {
  const read = readSpokenTime(said, thursday);
  if (read.kind === 'after') return read.ms / minuteMs;
  return read.kind === 'at' ? read.walls.map((wall) => new Date(wall).toISOString().slice(0, 16)) : read.reason;
}

test.each<[string, unknown]>([
  ['tomorrow at 5 pm', ['2026-11-27T17:00']],
  ['Please call me back tomorrow at 5 p.m.', ['2026-11-27T17:00']],
  ['tomorrow at five', ['2026-11-27T05:00', '2026-11-27T17:00']],
  ['Monday morning', ['2026-11-30T09:00']],
  ['next Tuesday at ten', ['2026-12-01T10:00', '2026-12-01T22:00']],
  ['Next Tuesday at ten would suit me.', ['2026-12-01T10:00', '2026-12-01T22:00']],
  ['Friday afternoon, if that is possible.', ['2026-11-27T14:00']],
  ['half past four in the afternoon', ['2026-11-26T16:30']],
  ['quarter to one', ['2026-11-26T00:45', '2026-11-26T12:45']],
  ['at 17:30', ['2026-11-26T17:30']],
  ['tomorrow 05:30', ['2026-11-27T05:30']],
  ['tonight', ['2026-11-26T18:00']],
  ['the day after tomorrow at noon', ['2026-11-28T12:00']],
  ['30 November at 10 am', ['2026-11-30T10:00']],
  ['on December 5th at 3 pm', ['2026-12-05T15:00']],
  ['November 3rd at 9 am', ['2027-11-03T09:00']],
  ['2026-12-01 at 4 pm', ['2026-12-01T16:00']],
  ['Monday at ten thirty am', ['2026-11-30T10:30']],
  ['in 20 minutes', 20],
  ['in half an hour', 30],
  ['in an hour and a half', 90],
  ['in two hours, please', 120],
  // A day alone is no time; a Thursday said on a Thursday, and a "next Friday" of this week, may be two days.
  ['tomorrow', 'no_time'],
  ['Thursday at 3 pm', 'ambiguous'],
  ['next Friday at 3 pm', 'ambiguous'],
  ['17:30 am', 'ambiguous'],
  ['tomorrow at 25:00', 'ambiguous'],
  // Every word has its place, or nothing is read.
  ['not tomorrow at 5 pm', 'not_understood'],
  ['before 5 pm', 'not_understood'],
  ['at 5 or 6 pm', 'not_understood'],
  ['never', 'not_understood'],
  ['later', 'not_understood'],
  ['in a while', 'not_understood'],
  ['mañana a las cinco', 'not_understood'],
  ['tomorrow at 5 pm in Los Angeles', 'not_understood'],
  ['', 'not_understood'],
])('"%s" is read as %j', (said, expected) => {
  expect(spoken(said)).toEqual(expected);
});

test('garbage is never read as a time, and never throws', () => {
  const parts = 'tomorrow at 5 : 99 pm in half past Monday - the a \u0000 💡 2026-02-31 1e9 .'.split(' ');
  let seed = 7;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  for (let round = 0; round < 3_000; round += 1) {
    const said = Array.from({ length: 1 + (next() % 7) }, () => parts[next() % parts.length]).join(next() % 3 === 0 ? '' : ' ');
    const read = readSpokenTime(said, thursday);
    if (read.kind === 'at') for (const wall of read.walls) expect(Math.abs(wall - thursday)).toBeLessThan(400 * dayMs);
    if (read.kind === 'after') expect(read.ms).toBeLessThanOrEqual(999 * hourMs);
  }
});

test('a time that clocks skip is the first one after it, and one that they show twice is two instants', () => {
  // 2026-03-08, New York: 02:00 becomes 03:00. 2026-11-01: 02:00 becomes 01:00.
  expect(instantsOf(Date.UTC(2026, 2, 8, 2, 30), 'America/New_York')).toEqual([Date.UTC(2026, 2, 8, 7, 0)]);
  expect(instantsOf(Date.UTC(2026, 10, 1, 1, 30), 'America/New_York')).toEqual([
    Date.UTC(2026, 10, 1, 5, 30),
    Date.UTC(2026, 10, 1, 6, 30),
  ]);
  expect(instantsOf(Date.UTC(2026, 10, 1, 12, 0), 'America/New_York')).toEqual([Date.UTC(2026, 10, 1, 17, 0)]);
  // Half an hour: Lord Howe.
  expect(instantsOf(Date.UTC(2026, 9, 4, 2, 15), 'Australia/Lord_Howe')).toEqual([Date.UTC(2026, 9, 3, 15, 30)]);
});

/** A Thursday: 15:30 in New York. */
const toldAt = Date.UTC(2026, 10, 26, 20, 30);

interface Given {
  rules?: Partial<CallbackRules>;
  zones?: string[];
  isOpen?: (at: number) => boolean;
  collected?: Record<string, unknown>;
}

function read(said: unknown, { zones = ['America/New_York'], isOpen = () => true, ...given }: Given = {}): ReadCallback {
  const collected = given.collected ?? { callback_at: said };
  return readCallback({ ...callbackRules, ...given.rules }, { collected }, { toldAt, zones, now: toldAt + minuteMs, isOpen });
}

test('of a campaign that takes off one wrapping, a time that is still wrapped in the facts is none', () => {
  const facts = { collected: { callback_at: { value: '2026-11-27 17:00' } } };
  const question = { toldAt, zones: ['America/New_York'], now: toldAt + minuteMs, isOpen: () => true };
  expect(readCallback(callbackRules, facts, question)).toMatchObject({ kind: 'clear' });
  expect(readCallback(callbackRules, facts, question, { unwrapOnce: true })).toMatchObject({ kind: 'unclear', reason: 'no_time' });
});

const five = Date.UTC(2026, 10, 27, 22, 0);

test('an instant, a local time and words name the same promise; a value may be wrapped once', () => {
  expect(read('2026-11-27T17:00:00-05:00')).toEqual({ kind: 'clear', at: five, local: null, said: '2026-11-27T17:00:00-05:00' });
  expect(read('2026-11-27T22:00Z')).toMatchObject({ kind: 'clear', at: five });
  expect(read('2026-11-27 17:00')).toMatchObject({ kind: 'clear', at: five, local: '2026-11-27 17:00' });
  expect(read('2026-11-27T17:00:00')).toMatchObject({ kind: 'clear', at: five, local: '2026-11-27 17:00' });
  expect(read({ value: 'tomorrow at 5 pm', rationale: 'so they said' })).toMatchObject({
    kind: 'clear',
    at: five,
    local: '2026-11-27 17:00',
  });
  expect(read('tomorrow at 5 pm', { rules: { words: null } })).toMatchObject({ kind: 'unclear', reason: 'not_understood' });
  expect(read({ value: { value: 'tomorrow at 5 pm' } })).toMatchObject({ kind: 'unclear', reason: 'no_time' });
});

test('a day and a time, and minutes, are read from their keys', () => {
  const at = { kind: 'date_and_time', date: 'day', time: 'hour' } as const;
  expect(read(null, { rules: { at }, collected: { day: '2026-11-27', hour: '17:00' } })).toMatchObject({ at: five });
  expect(read(null, { rules: { at }, collected: { day: 'tomorrow', hour: '5 pm' } })).toMatchObject({ at: five });
  expect(read(null, { rules: { at }, collected: { day: 'tomorrow' } })).toMatchObject({ kind: 'unclear', reason: 'no_time' });
  expect(read(null, { rules: { at }, collected: { hour: '5 pm' } })).toMatchObject({ kind: 'unclear', reason: 'no_time' });
  const minutes = { kind: 'in', key: 'minutes' } as const;
  expect(read(null, { rules: { at: minutes }, collected: { minutes: 20 } })).toMatchObject({ at: toldAt + 20 * minuteMs, local: null });
  for (const wrong of ['soon', -5, 0, true, '1e999'])
    expect(read(null, { rules: { at: minutes }, collected: { minutes: wrong } })).toMatchObject({ kind: 'unclear' });
});

test('what is past, too far ahead, closed, or of no place is unclear; a little late is not past', () => {
  expect(read('2026-11-26 15:00')).toMatchObject({ kind: 'unclear', reason: 'past' });
  // Said in the call, and due while its analysis was awaited.
  expect(read('2026-11-26T15:30:30-05:00')).toMatchObject({ kind: 'clear' });
  // The very instant at which they were called back, said again.
  expect(read('2026-11-26T15:30:00-05:00')).toMatchObject({ kind: 'unclear', reason: 'past' });
  expect(read('2026-11-26T14:59:00-05:00')).toMatchObject({ kind: 'unclear', reason: 'past' });
  expect(read('2026-12-24 17:00')).toMatchObject({ kind: 'unclear', reason: 'too_far' });
  expect(read('tomorrow at 5 pm', { isOpen: () => false })).toMatchObject({ kind: 'unclear', reason: 'outside_hours' });
  expect(read('tomorrow at 5 pm', { zones: [] })).toMatchObject({ kind: 'unclear', reason: 'unknown_timezone' });
  expect(read('tomorrow at 5 pm', { zones: ['Moon/Base'] })).toMatchObject({ kind: 'unclear', reason: 'unknown_timezone' });
  expect(read(null)).toEqual({ kind: 'unclear', reason: 'no_time', said: null });
  expect(read('x'.repeat(500))).toMatchObject({ said: 'x'.repeat(200) });
});

test('before noon or after it: the one that is open, and neither where both or none are', () => {
  const from8to20 = (at: number): boolean => at >= Date.UTC(2026, 10, 27, 13) && at < Date.UTC(2026, 10, 28, 1);
  expect(read('tomorrow at 5', { isOpen: from8to20 })).toMatchObject({ kind: 'clear', at: five });
  expect(read('tomorrow at 9', { isOpen: from8to20 })).toMatchObject({ kind: 'clear', at: five - 8 * hourMs });
  expect(read('tomorrow at 9')).toMatchObject({ kind: 'unclear', reason: 'ambiguous' });
  expect(read('tomorrow at 3', { isOpen: () => false })).toMatchObject({ kind: 'unclear', reason: 'outside_hours' });
  // Of "at 5" said at half past three one is past.
  expect(read('at 5')).toMatchObject({ kind: 'clear', at: five - dayMs });
});

test('of several zones the latest reading counts, and zones too far apart are unclear', () => {
  const near = { zones: ['America/New_York', 'America/Toronto'] };
  expect(read('tomorrow at 5 pm', near)).toMatchObject({ kind: 'clear', at: five });
  expect(read('tomorrow at 5 pm', { zones: ['America/New_York', 'America/Chicago'] })).toMatchObject({
    kind: 'unclear',
    reason: 'zones_apart',
  });
  const patient = { zones: ['America/New_York', 'America/Chicago'], rules: { lateMs: 2 * hourMs } };
  expect(read('tomorrow at 5 pm', patient)).toMatchObject({ kind: 'clear', at: five + hourMs });
  expect(read('in 20 minutes', patient)).toMatchObject({ kind: 'clear', at: toldAt + 20 * minuteMs });
  // The clock of a service may tell whole seconds.
  expect([0, 1, 999, 1_000].map(toWholeSecond)).toEqual([0, 1_000, 1_000, 1_000]);
});

import { expect, test } from 'vitest';
import type { CallbackRules } from '../../src/rules/callback-rules.ts';
import { readCallback, toWholeSecond, type ReadCallback } from '../../src/rules/callbacks/callback-time.ts';
import { instantsOf } from '../../src/rules/hours/local-time.ts';
import { callbackRules, hourMs, minuteMs } from '../support/campaign-rules.ts';

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

test('an instant and a local time name the same promise; words name none, and a value may be wrapped once', () => {
  expect(read('2026-11-27T17:00:00-05:00')).toEqual({ kind: 'clear', at: five, local: null, said: '2026-11-27T17:00:00-05:00' });
  expect(read('2026-11-27T22:00Z')).toMatchObject({ kind: 'clear', at: five });
  expect(read('2026-11-27 17:00')).toMatchObject({ kind: 'clear', at: five, local: '2026-11-27 17:00' });
  expect(read('2026-11-27T17:00:00')).toMatchObject({ kind: 'clear', at: five, local: '2026-11-27 17:00' });
  expect(read({ value: '2026-11-27 17:00', rationale: 'so they said' })).toMatchObject({ kind: 'clear', at: five });
  for (const words of ['tomorrow at 5 pm', 'in 20 minutes', '17:00', '2026-02-31 17:00'])
    for (const rules of [{}, { words: 'en' as const }])
      expect(read(words, { rules })).toMatchObject({ kind: 'unclear', reason: 'not_understood', said: words });
  expect(read({ value: { value: '2026-11-27 17:00' } })).toMatchObject({ kind: 'unclear', reason: 'no_time' });
});

test('a day and a time, and minutes, are read from their keys', () => {
  const at = { kind: 'date_and_time', date: 'day', time: 'hour' } as const;
  expect(read(null, { rules: { at }, collected: { day: '2026-11-27', hour: '17:00' } })).toMatchObject({ at: five });
  expect(read(null, { rules: { at }, collected: { day: '2026-11-27' } })).toMatchObject({ kind: 'unclear', reason: 'not_understood' });
  expect(read(null, { rules: { at }, collected: { hour: '17:00' } })).toMatchObject({ kind: 'unclear', reason: 'no_time' });
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
  expect(read('2026-11-27 17:00', { isOpen: () => false })).toMatchObject({ kind: 'unclear', reason: 'outside_hours' });
  expect(read('2026-11-27 17:00', { zones: [] })).toMatchObject({ kind: 'unclear', reason: 'unknown_timezone' });
  expect(read('2026-11-27 17:00', { zones: ['Moon/Base'] })).toMatchObject({ kind: 'unclear', reason: 'unknown_timezone' });
  expect(read(null)).toEqual({ kind: 'unclear', reason: 'no_time', said: null });
  expect(read('x'.repeat(500))).toMatchObject({ said: 'x'.repeat(200) });
});

test('of several zones the latest reading counts, and zones too far apart are unclear', () => {
  const near = { zones: ['America/New_York', 'America/Toronto'] };
  expect(read('2026-11-27 17:00', near)).toMatchObject({ kind: 'clear', at: five });
  expect(read('2026-11-27 17:00', { zones: ['America/New_York', 'America/Chicago'] })).toMatchObject({
    kind: 'unclear',
    reason: 'zones_apart',
  });
  const patient = { zones: ['America/New_York', 'America/Chicago'], rules: { lateMs: 2 * hourMs } };
  expect(read('2026-11-27 17:00', patient)).toMatchObject({ kind: 'clear', at: five + hourMs });
  // The clock of a service may tell whole seconds.
  expect([0, 1, 999, 1_000].map(toWholeSecond)).toEqual([0, 1_000, 1_000, 1_000]);
});

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import { localTime } from '../../../src/rules/hours/local-time.ts';
import { timeZone, zoneDataRelease } from '../../../src/rules/hours/time-zone.ts';
import { timeOfDay } from '../../../src/sandbox/core/times.ts';
import { localTime as judgedTime } from '../../../src/verify/local-time.ts';

/** What clocks show at noon UTC on 2026-12-01, by the tables of 2026f; the data inside Node 20 has another hour for each. */
const december = Date.parse('2026-12-01T12:00:00Z');
const decided: [string, string][] = [
  ['America/Vancouver', '05:00'],
  ['America/Edmonton', '06:00'],
  ['America/Winnipeg', '07:00'],
  ['Africa/Casablanca', '12:00'],
  ['America/Havana', '08:00'],
];

test('the data is not older than the newest clock changes that are known', () => {
  expect(zoneDataRelease >= '2026f').toBe(true);
});

test.each(decided)('at noon UTC of December 2026 dialler, sandbox and judge agree that %s has %s', (zone, time) => {
  const { minute } = judgedTime(zone, december) ?? { minute: -1 };
  expect(DateTime.fromMillis(december, { zone: timeZone(zone) }).toFormat('HH:mm')).toBe(time);
  expect(timeOfDay(zone, december)).toBe(time);
  expect(DateTime.fromObject({ hour: Math.floor(minute / 60), minute: minute % 60 }).toFormat('HH:mm')).toBe(time);
});

test.each(['America_New_York', 'America/New/York', 'America/Atlantis', '', '__proto__', 'constructor'])('%j names no zone', (name) => {
  expect(timeZone(name).isValid).toBe(false);
  expect(judgedTime(name, december)).toBeNull();
  expect(timeOfDay(name, december)).toBeNull();
});

test('every zone that Node knows by name has a clock, and where both know of no change it is the same', () => {
  // Years that no release of the last ones has changed.
  const known = Date.parse('2022-07-01T12:00:00Z');
  for (const name of Intl.supportedValuesOf('timeZone')) {
    const intl = new Intl.DateTimeFormat('en-GB', { timeZone: name, hour: '2-digit', minute: '2-digit' }).format(known);
    expect([name, DateTime.fromMillis(known, { zone: timeZone(name) }).toFormat('HH:mm')]).toEqual([name, intl]);
  }
});

test('times are written with the offset of the zone', () => {
  const written = (zone: string, at = december): string | null =>
    DateTime.fromMillis(at, { zone: timeZone(zone) }).toISO({ suppressMilliseconds: true });
  expect(written('America/Vancouver')).toBe('2026-12-01T05:00:00-07:00');
  expect(written('Asia/Kolkata')).toBe('2026-12-01T17:30:00+05:30');
  expect(written('America/St_Johns')).toBe('2026-12-01T08:30:00-03:30');
  expect(DateTime.fromISO('2026-12-01T05:00', { zone: timeZone('America/Vancouver') }).toMillis()).toBe(december);
});

test('no other code asks Node for the clock of a zone', async () => {
  const found: string[] = [];
  for (const file of await readdir('src', { recursive: true })) {
    // The page in the browser shows times by the browser's own zone.
    if (!file.endsWith('.ts') || file.endsWith('script-times.ts')) continue;
    if (/IANAZone|DateTimeFormat/.test(await readFile(join('src', file), 'utf8'))) found.push(file);
  }
  expect(found).toEqual([]);
});

test.each([
  ['2026-01-15T04:59:59.999Z', 'America/New_York', 23],
  ['2026-01-15T05:00:00Z', 'America/New_York', 0],
  ['2026-01-15T18:30:00Z', 'Asia/Kolkata', 0],
  // Before 1970 too.
])('at %s a clock in %s shows hour %i', (instant, zone, hour) => {
  expect(localTime(Date.parse(instant), zone)?.hour).toBe(hour);
});

test.each([
  ['2026-11-23T04:59:59Z', 'America/New_York', { weekday: 6, date: '2026-11-22' }],
  ['2026-11-23T05:00:00Z', 'America/New_York', { weekday: 0, date: '2026-11-23' }],
  ['1969-12-28T12:00:00Z', 'UTC', { weekday: 6, date: '1969-12-28' }],
])('at %s a calendar in %s shows %j', (instant, zone, day) => {
  expect(localTime(Date.parse(instant), zone)).toMatchObject(day);
});

test('a zone that does not exist has no time', () => {
  expect(localTime(0, 'America/Atlantis')).toBeNull();
});

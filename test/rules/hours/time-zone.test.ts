import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import { windowAt } from '../../../src/rules/hours/calling-window.ts';
import { timeZone, zoneDataRelease } from '../../../src/rules/time-zone.ts';
import { timeOfDay } from '../../../src/sandbox/core/times.ts';
import { localTime } from '../../../src/verify/local-time.ts';

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
  const { minute } = localTime(zone, december) ?? { minute: -1 };
  expect(DateTime.fromMillis(december, { zone: timeZone(zone) }).toFormat('HH:mm')).toBe(time);
  expect(timeOfDay(zone, december)).toBe(time);
  expect(DateTime.fromObject({ hour: Math.floor(minute / 60), minute: minute % 60 }).toFormat('HH:mm')).toBe(time);
});

test('nobody in Vancouver is called after eight in the evening of the new clock', () => {
  const day = [{ from: 9 * 60, to: 20 * 60 }];
  const hours = { mon: day, tue: day, wed: day, thu: day, fri: day };
  const openAt = (text: string): boolean => {
    const at = Date.parse(text);
    const calendars = [{ hours, closedOn: [] }];
    return windowAt({ calendars, zones: ['America/Vancouver'], at, marginMs: 0, endsAt: null }).open;
  };
  // Clocks are seven hours behind UTC all year since November 2026.
  expect(openAt('2026-12-02T02:59:00Z')).toBe(true);
  expect(openAt('2026-12-02T03:00:00Z')).toBe(false);
  expect(openAt('2026-12-02T16:00:00Z')).toBe(true);
});

test.each(['America_New_York', 'America/New/York', 'America/Atlantis', '', '__proto__', 'constructor'])('%j names no zone', (name) => {
  expect(timeZone(name).isValid).toBe(false);
  expect(localTime(name, december)).toBeNull();
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

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readInstant } from '../../src/shared/input/cells.ts';
import { importList } from './campaign-folder.ts';

const newYork = ['America/New_York'];
const both = ['America/New_York', 'America/Los_Angeles'];

test.each([
  ['2026-11-30T17:00:00-05:00', '2026-11-30T22:00:00Z'],
  ['2026-11-30 17:00 -05:00', '2026-11-30T22:00:00Z'],
  ['2026-11-30T17:00-0500', '2026-11-30T22:00:00Z'],
  ['2026-11-30T22:00Z', '2026-11-30T22:00:00Z'],
  ['2026-11-30t22:00:00.500z', '2026-11-30T22:00:00.500Z'],
])('%s is an instant, whatever the zones', (cell, expected) => {
  for (const kind of ['start', 'end'] as const)
    for (const zones of [[], newYork, both]) expect(readInstant(cell, kind, zones)).toBe(Date.parse(expected));
});

test.each([
  ['2026-11-30 17:00', newYork, '2026-11-30T17:00-05:00', '2026-11-30T17:00-05:00'],
  ['2026-07-30T17:00:30', newYork, '2026-07-30T17:00:30-04:00', '2026-07-30T17:00:30-04:00'],
  // With several zones each bound holds in all of them.
  ['2026-11-30 17:00', both, '2026-11-30T17:00-08:00', '2026-11-30T17:00-05:00'],
  ['2026-11-30', newYork, '2026-11-30T00:00-05:00', '2026-12-01T00:00-05:00'],
  ['2026-11-30', both, '2026-11-30T00:00-08:00', '2026-12-01T00:00-05:00'],
  // Days with a clock change last 23 and 25 hours.
  ['2026-03-08', newYork, '2026-03-08T00:00-05:00', '2026-03-09T00:00-04:00'],
  ['2026-11-01', newYork, '2026-11-01T00:00-04:00', '2026-11-02T00:00-05:00'],
  // An hour that comes twice: the later start, the earlier end. One that is skipped: the hour after it.
  ['2026-11-01 01:30', newYork, '2026-11-01T01:30-05:00', '2026-11-01T01:30-04:00'],
  ['2026-03-08 02:30', newYork, '2026-03-08T03:30-04:00', '2026-03-08T03:30-04:00'],
  // Without a zone it holds wherever on earth the recipient is.
  ['2026-11-30 17:00', [], '2026-11-30T17:00-12:00', '2026-11-30T17:00+14:00'],
  ['2026-11-30', [], '2026-11-30T00:00-12:00', '2026-12-01T00:00+14:00'],
])('%s in %j starts at %s and ends at %s', (cell, zones, start, end) => {
  expect(readInstant(cell, 'start', zones)).toBe(Date.parse(start));
  expect(readInstant(cell, 'end', zones)).toBe(Date.parse(end));
});

test.each([
  '11/30/2026',
  '30.11.2026',
  '2026-11-31',
  '2026-13-01',
  '2026-00-10',
  '2026-02-29',
  '0026-11-30',
  '2026-11-30T24:00',
  '2026-11-30T12:60Z',
  '2026-11-30 25:00',
  '2026-11-30 5pm',
  '2026-11-30T17:00:00+99:00',
  '2026-11-30T17:00:00 EST',
  '2026-11-30-05:00',
  '20261130',
  '46356',
  'tomorrow',
  '#N/A',
])('%j is refused', (cell) => {
  expect(readInstant(cell, 'start', newYork)).toBeNull();
  expect(readInstant(cell, 'end', newYork)).toBeNull();
});

test('the wall clock of the zone shows the time that was written, unless it never shows it', () => {
  const zones = ['America/New_York', 'America/Phoenix', 'Europe/London', 'Australia/Lord_Howe', 'Asia/Kolkata'];
  const clocks = new Map(zones.map((zone) => [zone, wallClock(zone)]));
  const seen = { once: 0, twice: 0, never: 0 };
  const anyWall = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2027, 0) });
  // Around the hours in which clocks change.
  const anyChange = fc
    .tuple(fc.constantFrom('2026-03-08', '2026-11-01', '2026-03-29', '2026-10-25', '2026-04-05', '2026-10-04'), fc.nat(240))
    .map(([date, minute]) => Date.parse(`${date}T00:00Z`) + minute * 60_000);
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.oneof(anyWall, anyChange), (zone, wall) => {
      const cell = new Date(wall).toISOString().slice(0, 16).replace('T', ' ');
      const start = readInstant(cell, 'start', [zone]) ?? 0;
      const end = readInstant(cell, 'end', [zone]) ?? 0;
      const shows = (at: number): boolean => clocks.get(zone)?.(at) === cell;
      seen[start > end ? 'twice' : shows(start) ? 'once' : 'never'] += 1;
      expect(shows(start)).toBe(shows(end));
      if (shows(start)) {
        // No other instant in reach shows it beyond the two.
        expect(shows(start + 30 * 60_000) || shows(start + 60 * 60_000)).toBe(false);
        expect(shows(end - 30 * 60_000) || shows(end - 60 * 60_000)).toBe(false);
      } else expect(start).toBe(end);
    }),
    { seed: 11, numRuns: 2000 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10);
});

/** What a clock on the wall shows, as `2026-11-30 17:00`. */
function wallClock(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  return (at) => format.format(at);
}

const campaign = `id: test
agent_id: agent_1
from_phone_number_id: pn_1
list: { file: list.csv, phone: phone, default_region: US, not_before: Call From, expires_at: call_until }
hours: any
`;

test('rows carry the two instants, in their own time', async () => {
  const { rows } = await importList(
    campaign,
    'phone,call from,call_until\n2125550101,2026-11-30,2026-12-04\n3105550102,2026-11-30 09:00,\n2125550103,,\n',
  );
  const utc = (text: string): number => Date.parse(text);
  expect(rows.map(({ notBefore = null, expiresAt = null }) => [notBefore, expiresAt])).toEqual([
    [utc('2026-11-30T05:00Z'), utc('2026-12-05T05:00Z')],
    [utc('2026-11-30T17:00Z'), null],
    [null, null],
  ]);
});

test('a cell that is no time refuses its row, and so does an end before the start', async () => {
  const { rows } = await importList(
    campaign,
    'phone,call from,call_until\n2125550101,11/30/2026,\n2125550102,,soon\n2125550103,2026-11-30 12:00,2026-11-30 12:00\n2125550104,2026-11-30,2026-11-30\n',
  );
  expect(rows.map((row) => (row.verdict === 'rejected' ? [row.reason, row.column] : 'accepted'))).toEqual([
    ['invalid_date', 'call from'],
    ['invalid_date', 'call_until'],
    ['invalid_date', 'call_until'],
    'accepted',
  ]);
  expect(rows[0]).toMatchObject({
    hint: '"11/30/2026" is no date and time; write 2026-11-30, 2026-11-30 17:00, or 2026-11-30T17:00:00-05:00, or leave the cell empty',
  });
  expect(rows[2]).toMatchObject({ hint: expect.stringContaining('"call from"') });
});

import { expect, test } from 'vitest';
import { regionsOfNumber, zonesOfNumber } from '../../../src/shared/geography/number-places.ts';

test.each([
  ['+12125550101', 'US', ['America/New_York']],
  ['+18505550101', 'US', ['America/Chicago', 'America/New_York']],
  ['+12705550101', 'US', ['America/Chicago', 'America/New_York']],
  ['+14235550101', 'US', ['America/Chicago', 'America/New_York']],
  ['+14232020101', 'US', ['America/Chicago', 'America/New_York']],
  ['+12195550101', 'US', ['America/Chicago', 'America/New_York']],
  ['+12085550101', 'US', ['America/Boise', 'America/Denver', 'America/Los_Angeles']],
  ['+442079460101', 'GB', ['Europe/London']],
])('%s of %s lies in %j', (e164, country, zones) => {
  expect(zonesOfNumber(e164, country)).toEqual(zones);
});

test('an area code of Alaska covers the Aleutians as well', () => {
  expect(zonesOfNumber('+19075550101', 'US')).toEqual(expect.arrayContaining(['America/Adak', 'America/Anchorage', 'America/Juneau']));
});

test.each([
  ['+212520000000', 'MA', ['Africa/Casablanca']],
  ['+213210000000', 'DZ', ['Africa/Algiers']],
  ['+50522000000', 'NI', ['America/Managua']],
  ['+218210000000', 'LY', ['Africa/Tripoli']],
  ['+211910000000', 'SS', ['Africa/Juba']],
  ['+97022000000', 'PS', ['Asia/Gaza', 'Asia/Hebron']],
])('%s keeps the clock of its country %s, not of a stand-in', (e164, country, zones) => {
  expect(zonesOfNumber(e164, country)).toEqual(zones);
});

test('a toll-free number has every zone of the plan', () => {
  expect(zonesOfNumber('+18005550101', 'US').length).toBeGreaterThan(30);
});

test('outside North America the longest listed prefix and everything below it counts', () => {
  expect(zonesOfNumber('+61880000000', 'AU')).toEqual(['Australia/Adelaide', 'Australia/Perth']);
});

test('a mobile number that belongs to no place has every zone of its country', () => {
  expect(zonesOfNumber('+61491570006', 'AU')).toEqual(expect.arrayContaining(['Australia/Perth', 'Australia/Sydney', 'Australia/Darwin']));
  expect(zonesOfNumber('+79000000000', 'RU').length).toBeGreaterThan(10);
});

test('a number of an unlisted country has no known zone', () => {
  expect(zonesOfNumber('+999123456', null)).toEqual([]);
  expect(zonesOfNumber('', null)).toEqual([]);
});

test('every zone of the table is known to the time-zone data of this process', () => {
  const areas = Array.from({ length: 800 }, (_, index) => `+1${String(200 + index)}5550101`);
  const zones = new Set(areas.flatMap((number) => zonesOfNumber(number, 'US')));
  expect(zones.size).toBeGreaterThan(30);
  for (const zone of zones) expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow();
});

test('an area code that is newer than the table, 273 of Canada, lies somewhere in its country and not in all 42 zones of the plan', () => {
  const zones = zonesOfNumber('+12735550101', 'CA');
  expect(zones).toEqual(expect.arrayContaining(['America/Toronto', 'America/Halifax', 'America/Vancouver']));
  expect(zones).not.toContain('Pacific/Honolulu');
  expect(zones).not.toContain('America/Barbados');
  expect(zonesOfNumber('+18005550101', 'US')).toContain('America/Barbados');
});

test.each([
  ['202', ['DC']],
  ['771', ['DC']],
  ['564', ['WA']],
  ['257', ['BC']],
  ['782', ['NS', 'PE']],
  ['418', ['QC']],
  ['800', null],
])('area code %s is of %j', (area, states) => {
  expect(regionsOfNumber(`+1${area}5550101`)).toEqual(states);
});

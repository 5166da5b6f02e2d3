import { expect, test } from 'vitest';
import { regionsOfNumber, zonesOfNumber } from '../../src/shared/geography/number-places.ts';
import { placeOfZip, readZip } from '../../src/shared/geography/zip-places.ts';
import { importList } from '../list/campaign-folder.ts';

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

test.each([
  ['94110', '94110'],
  [' 02134 ', '02134'],
  ['94110-1234', '94110'],
  ['94110 1234', '94110'],
  ['941101234', '94110'],
  ['94110–1234', '94110'],
  ["'02134", '02134'],
])('the cell %j is the ZIP code %s', (cell, zip) => {
  expect(readZip(cell)).toEqual({ ok: true, zip });
});

test.each([
  ['2134', '"2134" has too few digits; a spreadsheet has probably dropped zeros at its beginning'],
  ['501', 'dropped zeros'],
  ['2134-1234', 'dropped zeros'],
  ['21341234', 'dropped zeros'],
  ['94110.0', 'a spreadsheet has made it a number'],
  ['9,411E+04', 'a spreadsheet has made it a number'],
  ['12', '"12" is no ZIP code; write its five digits, such as 94110, or leave the cell empty'],
  ['941101', 'is no ZIP code'],
  ['K1A 0B1', 'is no ZIP code'],
  ['94110-12', 'is no ZIP code'],
  ['94110,94111', 'is no ZIP code'],
])('the cell %j is refused and never mended: %s', (cell, hint) => {
  expect(readZip(cell)).toEqual({ ok: false, hint: expect.stringContaining(hint) as string });
});

test.each([
  ['94110', 'America/Los_Angeles', ['CA']],
  ['02134', 'America/New_York', ['MA']],
  ['00501', 'America/New_York', ['NY']],
  ['85001', 'America/Phoenix', ['AZ']],
  ['86515', 'America/Denver', ['AZ', 'NM']],
  ['96813', 'Pacific/Honolulu', ['HI']],
  ['00901', 'America/Puerto_Rico', ['PR']],
  ['00802', 'America/St_Thomas', ['VI']],
  ['96910', 'Pacific/Guam', ['GU']],
  ['96950', 'Pacific/Saipan', ['MP']],
  ['96799', 'Pacific/Pago_Pago', ['AS']],
  ['99546', 'America/Adak', ['AK']],
  ['37402', 'America/New_York', ['TN']],
  ['37201', 'America/Chicago', ['TN']],
  ['42223', 'America/Chicago', ['KY', 'TN']],
  ['06390', 'America/New_York', ['NY']],
  ['83414', 'America/Denver', ['WY']],
])('%s lies in %s and %j', (zip, zone, states) => {
  expect(placeOfZip(zip)).toEqual({ zones: [zone], states, listed: true });
});

test.each(['09012', '96201', '34002', '00000', '88888'])('%s says nothing about a place', (zip) => {
  expect(placeOfZip(zip)).toBeNull();
});

test('a code that is in no table lies somewhere among those with the same three digits', () => {
  expect(placeOfZip('10299')).toEqual({ zones: ['America/New_York'], states: ['NY'], listed: false });
  expect(placeOfZip('37399')?.zones).toEqual(['America/Chicago', 'America/New_York']);
  expect(placeOfZip('83499')?.states).toEqual(['ID', 'WY']);
});

test('every code that has a zone has a state, and every zone is known to the time-zone data of this process', () => {
  const zones = new Set<string>();
  let listed = 0;
  for (let code = 0; code < 100_000; code += 1) {
    const place = placeOfZip(String(code).padStart(5, '0'));
    if (place?.listed !== true) continue;
    listed += 1;
    for (const zone of place.zones) zones.add(zone);
    expect(place.states.length).toBeGreaterThan(0);
  }
  expect(listed).toBeGreaterThan(40_000);
  expect(zones.size).toBeGreaterThan(30);
  for (const zone of zones) expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow();
});

const campaign = `id: test
agent_id: agent_1
from_phone_number_id: pn_1
list: { file: list.csv, phone: phone, timezone: tz, state: state, zip: zip, default_region: US }
hours: any
`;

async function placeOf(phone: string, cells: { zip?: string; tz?: string; state?: string }, yaml = campaign) {
  const { rows } = await importList(yaml, `phone,tz,state,zip\n${phone},${cells.tz ?? ''},${cells.state ?? ''},${cells.zip ?? ''}\n`);
  const [row] = rows;
  if (row?.verdict === 'accepted') return { zones: row.zones, regions: row.regions };
  return { reason: row?.reason, column: row?.column };
}

const newYork = '+12125550101';

test('zone column before ZIP code before number; state column before ZIP code before area code', async () => {
  expect(await placeOf(newYork, {})).toEqual({ zones: ['America/New_York'], regions: ['NY'] });
  expect(await placeOf(newYork, { zip: '94110' })).toEqual({ zones: ['America/Los_Angeles'], regions: ['CA'] });
  expect(await placeOf(newYork, { zip: '94110', tz: 'America/Denver' })).toEqual({
    zones: ['America/Denver'],
    regions: ['CA'],
  });
  expect(await placeOf(newYork, { zip: '94110', state: 'Florida' })).toEqual({
    zones: ['America/Los_Angeles'],
    regions: ['FL'],
  });
  // The area code alone spans two zones.
  expect(await placeOf('+14235550101', { zip: '37402' })).toEqual({ zones: ['America/New_York'], regions: ['TN'] });
});

test('a ZIP code that says nothing leaves the word to the number', async () => {
  expect(await placeOf(newYork, { zip: '09012' })).toEqual({ zones: ['America/New_York'], regions: ['NY'] });
  expect(await placeOf('+18002345678', { zip: '09012' })).toMatchObject({ regions: null });
});

test('a ZIP code that is in no table and the number both hold', async () => {
  expect(await placeOf(newYork, { zip: '99999' })).toEqual({
    zones: expect.arrayContaining(['America/New_York', 'America/Sitka']) as string[],
    regions: ['AK', 'NY'],
  });
});

test('a toll-free number with a ZIP code has the place of that', async () => {
  expect(await placeOf('+18002345678', { zip: '85001' })).toEqual({ zones: ['America/Phoenix'], regions: ['AZ'] });
});

test.each(['+442079460101', '+16135550101', '+870773111632'])('beside %s of another country the column is not looked at', async (phone) => {
  const without = await placeOf(phone, {});
  expect(without).toHaveProperty('zones');
  for (const zip of ['94110', 'K1A 0B1', '2134']) expect(await placeOf(phone, { zip })).toEqual(without);
});

test('a number of Puerto Rico may have a ZIP code, and states by name', async () => {
  expect(await placeOf('+17875550101', { zip: '10001' })).toEqual({ zones: ['America/New_York'], regions: ['NY'] });
  expect(await placeOf('+17875550101', { state: 'Puerto Rico' })).toMatchObject({ regions: ['PR'] });
  expect(await placeOf('+17875550101', { state: 'Nowhere' })).toMatchObject({ reason: 'invalid_state' });
});

test('a damaged ZIP code refuses the row, after the zone and before the state', async () => {
  expect(await placeOf(newYork, { zip: '2134', state: 'Ontario' })).toEqual({ reason: 'invalid_zip', column: 'zip' });
  expect(await placeOf(newYork, { zip: '2134', tz: 'EST' })).toEqual({ reason: 'invalid_timezone', column: 'tz' });
});

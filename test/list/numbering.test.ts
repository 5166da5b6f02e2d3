import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { closeHolidaysOf } from '../../src/campaign/file/legal-rules.ts';
import { campaignRules, readCampaignFile } from '../../src/campaign/file/file.ts';
import { validateRows } from '../../src/list/recipients.ts';
import { readNumbers } from '../../src/operations/control/suppress.ts';
import type { LegalHours } from '../../src/rules/campaign-rules.ts';
import { windowAt } from '../../src/rules/hours/calling-window.ts';
import { calendarsFor } from '../../src/rules/hours/legal-hours.ts';
import { numberingAt, readNumberingTable } from '../../src/shared/input/numbering.ts';
import { readPhoneNumber } from '../../src/shared/input/phone-number.ts';
import { importList, minimalCampaign, writeCampaign } from './campaign-folder.ts';

/** In service, and in no data: neither the library's nor ours. */
const unheard = '565';
const at = Date.UTC(2026, 0, 15);
const campaignWith = (choice: string, more = ''): string =>
  minimalCampaign.replace(
    'phone: phone }',
    `phone: phone, ${choice === '' ? '' : `unknown_ranges: ${choice},`} default_region: US${more} }`,
  );

async function read(cell: string, choice = '') {
  const { rows } = await importList(campaignWith(choice), `phone\n"${cell}"\n`);
  const [row] = rows;
  return row?.verdict === 'rejected' ? `${row.reason}: ${row.hint}` : row;
}

test('what cannot be a number is told apart from a range that the numbering data does not have yet', async () => {
  const { data_of: dataOf, library } = readNumberingTable();
  const installed = createRequire(import.meta.url)('libphonenumber-js/package.json') as { version: string };
  expect(library, 'rules/numbering.yaml says of when the data of the installed library is').toBe(installed.version);
  expect(await read(`+1${unheard}5550123`)).toMatch(`unknown_range: this is a range that is not in the numbering data of ${dataOf}`);
  expect(await read(`${unheard}-555-0123`)).toMatch('unknown_range: ');
  expect(await read('+44163')).toMatch('invalid_phone: this cannot be a number of its country: it has too few or too many digits');
  expect(await read('+12125550')).toMatch('invalid_phone: this cannot be a number');
  expect(await read('+12121550123')).toMatch('invalid_phone: this cannot be a number of its country: no phone has these first digits');
  // A campaign that was begun before the choice existed keeps its word for it.
  expect(readPhoneNumber(`+1${unheard}5550123`, null)).toMatchObject({ ok: false, reason: 'invalid_phone' });
});

test('a range of the dated additions is called by its own clock from its first day on', async () => {
  expect(await read('+1 861 555 0123')).toMatchObject({ e164: '+18615550123', country: 'US', regions: null, zones: ['America/Chicago'] });
  const inService = (day: string) => numberingAt(Date.parse(day), false).ranges.map(({ prefix }) => prefix);
  expect(inService('2025-11-06')).not.toContain('+1679');
  expect(inService('2025-11-07')).toContain('+1679');
  // A number without + is no full international form.
  expect(await read('861-555-0123')).toMatch('unknown_range: ');
});

test.each([
  ['without +', `${unheard}-555-0123`],
  ['of a country whose premium ranges nothing tells apart', '+449955501234'],
  ['too short', `+1${unheard}555012`],
  ['emergency', '911'],
  ['a service code as area code', '+14115550123'],
  ['a service code as exchange', `+1${unheard}9110123`],
  ['a premium exchange', `+1${unheard}9760123`],
  ['directory assistance', `+1${unheard}5551212`],
  ['an area code that is kept for paid services', '+18825550123'],
  ['an area code that is kept for expansion', '+13705550123'],
  ['invalid in an area code that is known', '+12121550123'],
])('with unknown_ranges: call no number is called that is %s', async (_, cell) => {
  expect(await read(cell, 'call')).toMatch(/^(?:invalid_phone|unknown_range): /);
});

test('an unknown range has one form, every zone of its plan, the law of every state, and nothing opens it', async () => {
  const yaml = campaignWith('call', ', fallback_timezone: America/New_York, state: state, zip: zip');
  const list = `phone,state,zip\n+1 (${unheard}) 555-0123,FL,33101\n+1${unheard}5550123,,\n+12125550123,,\n`;
  const { rows } = await importList(yaml, list);
  const [first, twice, known] = rows;
  expect(first).toMatchObject({ verdict: 'accepted', e164: `+1${unheard}5550123`, country: 'US', regions: null });
  expect(first?.zones).toEqual(expect.arrayContaining(['America/St_Johns', 'America/New_York', 'Pacific/Honolulu', 'Pacific/Guam']));
  expect(twice).toMatchObject({ verdict: 'rejected', reason: 'duplicate_phone' });
  expect(known).toMatchObject({ verdict: 'accepted', zones: ['America/New_York'] });
  expect(readNumbers([`+1 ${unheard} 555 0123`])).toEqual([`+1${unheard}5550123`]);
});

test('the law of all US states is open at no hour that is closed in another country of the plan', async () => {
  const { campaignPath } = await writeCampaign(campaignWith('call'), 'phone\n');
  const rules = campaignRules(await readCampaignFile(campaignPath), ['phone'], at);
  for (const country of ['US', 'CA', 'JM']) closeHolidaysOf(country, rules.law as LegalHours[], at);
  const isOpen = (country: string, when: number): boolean =>
    windowAt({
      calendars: calendarsFor(rules, { country, regions: null }),
      zones: ['America/Chicago'],
      at: when,
      marginMs: 0,
      endsAt: null,
    }).open;
  const week = Array.from({ length: 7 * 48 }, (_, half) => at + half * 1_800_000);
  const open = week.filter((when) => isOpen('US', when));
  expect(open.length).toBeGreaterThan(50);
  expect(open.filter((when) => !isOpen('CA', when) || !isOpen('JM', when))).toEqual([]);
});

test('the choice is frozen with the campaign', async () => {
  const { campaignPath } = await writeCampaign(campaignWith('call'), 'phone\n');
  const { list, ...rules } = campaignRules(await readCampaignFile(campaignPath), ['phone'], at);
  const frozen = JSON.parse(JSON.stringify({ ...rules, list })) as typeof rules & { list: typeof list };
  const rows = [{ row: 1, cells: [`+1${unheard}5550123`] }, { row: 2, cells: ['+18615550123'] }]; // prettier-ignore
  expect(validateRows(frozen, rows).map(({ verdict }) => verdict)).toEqual(['accepted', 'accepted']);
  const { numbering: _, ...before } = list;
  const refused = validateRows({ ...rules, list: before }, rows).map((row) => row.verdict === 'rejected' && row.reason);
  expect(refused).toEqual(['invalid_phone', 'invalid_phone']);
});

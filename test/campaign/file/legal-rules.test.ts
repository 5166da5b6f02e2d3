import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { campaignRules, readCampaignFile } from '../../../src/campaign/file/file.ts';
import { closeHolidaysOf, readLegalRules } from '../../../src/campaign/file/legal-rules.ts';
import { isStale, lawWarnings } from '../../../src/campaign/preflight/warnings.ts';
import { holidayDates } from '../../../src/campaign/file/holidays.ts';
import type { LegalHours } from '../../../src/rules/campaign-rules.ts';
import { windowAt } from '../../../src/rules/hours/calling-window.ts';
import { calendarsFor } from '../../../src/rules/hours/legal-hours.ts';
import { messageOf, minimalCampaign, writeCampaign } from '../../list/campaign-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const start = Date.UTC(2026, 0, 15);

async function rulesFile(text: string): Promise<string> {
  const path = join(temporaryFolder(), 'my-rules.yaml');
  await writeFile(path, text);
  return path;
}

function written(...rules: string[]): string {
  return `as_of: 2026-01-01\nrules:\n${rules.map((rule) => `  - { ${rule} }\n`).join('')}`;
}

const ga = 'id: us-ga, country: US, region: GA, source: our counsel';
const allDay = 'hours: { daily: "08:00-20:00" }';

test.each<[string, string, RegExp]>(
  // prettier-ignore
  [
    ['the night', written(`${ga}, hours: { daily: "20:00-08:00" }`),
      /^3: rules\[0\]\.hours\.daily: "20:00-08:00" cannot be used; write the earlier time first, such as "08:00-20:00": hours by law do not go on past midnight$/],
    ['times the wrong way round', written(`${ga}, hours: { daily: "08:00-20:00", sun: "17:00-09:00" }`),
      /^3: rules\[0\]\.hours\.sun: "17:00-09:00" cannot be used; write the earlier time first/],
    ['an empty window', written(`${ga}, hours: { daily: "08:00-08:00" }`), /^3: .*write a window such as "08:00-21:00"/],
    ['no hours at all', written(`${ga}, hours: {}`), /^3: rules\[0\]\.hours: \{\} cannot be used; write a mapping such as/],
    ['one id twice', written(`${ga}, ${allDay}`, `id: us-pa, country: US, region: PA, source: x, ${allDay}`,
      `${ga}, hours: { sun: closed }`),
      /^5: rules\[2\]\.id: "us-ga" cannot be used; choose another id, or make one rule of the two: rules\[0\] has this id already$/],
    ['a region that nobody is in', written(`id: mine, country: US, region: FLA, source: x, ${allDay}`),
      /^3: rules\[0\]\.region: "FLA" cannot be used; write the two letters of a state, such as FL$/],
    ['a state by its name', written(`id: mine, country: US, region: florida, source: x, ${allDay}`),
      /^3: rules\[0\]\.region: "florida" cannot be used; write FL$/],
    ['a state for a province', written(`id: mine, country: CA, region: FL, source: x, ${allDay}`),
      /^3: rules\[0\]\.region: "FL" cannot be used; write the two letters of a province, such as ON$/],
    ['a region elsewhere that is none by its form', written(`id: mine, country: GB, region: England, source: x, ${allDay}`),
      /^3: rules\[0\]\.region: "England" cannot be used; write a code of one to three capitals or digits, such as ENG$/],
    ['a region of a territory', written(`id: mine, country: PR, region: PR, source: x, ${allDay}`),
      /^3: rules\[0\]\.region: "PR" cannot be used; leave it out, or write country: US and region: PR$/],
    ['an unknown country', written(`id: mine, country: UK, source: x, ${allDay}`),
      /^3: rules\[0\]\.country: "UK" cannot be used; write a two-letter country code in capitals, such as US or GB$/],
    ['an end before its beginning', written(`${ga}, ${allDay}, from: 2026-07-01, until: 2026-06-30`),
      /^3: rules\[0\]\.until: "2026-06-30" cannot be used; write a date that is not before from \(2026-07-01\)$/],
    ['no day of the calendar', written(`${ga}, ${allDay}, until: 2026-02-30`), /^3: rules\[0\]\.until: "2026-02-30" cannot/],
    ['text for the list of rules', 'as_of: 2026-01-01\nrules: x\n',
      /^2: rules: "x" cannot be used; write a list of rules, each with "- id:", country, source, and hours, caps or consent$/],
    ['one rule for the list of rules', 'as_of: 2026-01-01\nrules: { id: x }\n', /^2: rules: .*; write a list of rules/],
    ['a list without rules', 'as_of: 2026-01-01\nrules: []\n', /^2: rules: \[\] cannot be used; write at least one rule$/],
    ['no rules', 'as_of: 2026-01-01\n', /^1: rules: is missing; write a list of rules/],
    ['a rule that says nothing', written(ga),
      /^3: rules\[0\]: .* cannot be used; write hours, caps or consent: a rule without any says nothing$/],
    ['a cap without its time', written(`${ga}, caps: [{ calls: 3 }]`),
      /^3: rules\[0\]\.caps\[0\]\.within: is missing; write a duration such as/],
    ['a cap by something else', written(`${ga}, caps: [{ calls: 3, within: 1d, by: person }]`),
      /^3: rules\[0\]\.caps\[0\]\.by: there is no such setting; settings here: calls, within$/],
    ['a cap that is no list', written(`${ga}, caps: { calls: 3, within: 1d }`),
      /^3: rules\[0\]\.caps: .*; write a list such as \[\{ calls: 3, within: 24h \}\]$/],
    ['holidays that are not known', written(`id: mine, country: GB, region: XYZ, source: x, holidays: closed`),
      /^3: rules\[0\]\.holidays: "closed" cannot be used; leave it out, and list the days in the campaign file/],
    ['eves of holidays that are open', written(`${ga}, ${allDay}, eves: "10:00-19:00"`),
      /^3: rules\[0\]\.eves: "10:00-19:00" cannot be used; write holidays: closed as well: eves are the days before them$/],
    ['consent by another word', written(`${ga}, consent: maybe`),
      /^3: rules\[0\]\.consent: "maybe" cannot be used; write required or artificial_voice, or leave it out$/],
    ['an empty doubt', written(`${ga}, ${allDay}, unconfirmed: ''`),
      /^3: rules\[0\]\.unconfirmed: "" cannot be used; say what of it could not be read at its source/],
    ['a packaged rule that would leave its state', written(`id: us-fl, country: US, region: GA, source: x, ${allDay}`),
      /^3: rules\[0\]\.id: "us-fl" cannot be used; choose another id for US-GA, or write the rule for US-FL: the packaged rule that it would replace is for that$/],
    ['the rule of a country that would become one of a state', written(`id: us, country: US, region: GA, source: x, ${allDay}`),
      /^3: rules\[0\]\.id: "us" cannot be used; choose another id for US-GA, or write the rule for US:/],
  ],
)('%s in a rules file is refused with line, path, value and fix', async (_, text, expected) => {
  const path = await rulesFile(text);
  const message = await messageOf(readLegalRules(path));
  expect(message.startsWith(`CampaignFileError: ${path}:`)).toBe(true);
  expect(message.slice(`CampaignFileError: ${path}:`.length)).toMatch(expected);
});

test('a rules file that cannot be read is told at the setting that names it', async () => {
  const { campaignPath, folder } = await writeCampaign(`${minimalCampaign}law: ./nope.yaml\n`, 'phone\n');
  expect(await messageOf(readCampaignFile(campaignPath))).toBe(
    `CampaignFileError: ${campaignPath}:6: law: "./nope.yaml" cannot be used as a rules file (${folder}/nope.yaml); there is no such file; check the path`,
  );
  await mkdir(join(folder, 'nope.yaml'));
  expect(await messageOf(readCampaignFile(campaignPath))).toMatch(/campaign\.yaml:6: law: .*; this is a folder/);
});

test('windows up to midnight, closed days and regions of every kind can be used', async () => {
  const rules = await readLegalRules(
    await rulesFile(
      written(
        `${ga}, hours: { daily: "00:00-24:00", sun: closed }, from: 2026-01-01, until: 2026-01-01`,
        `id: on, country: CA, region: ON, source: x, ${allDay}`,
        `id: pr, country: PR, source: x, ${allDay}`,
        `id: us-pr, country: US, region: PR, source: x, ${allDay}`,
        `id: eng, country: GB, region: ENG, source: x, holidays: closed`,
        `id: de-by, country: DE, region: BY, source: x, caps: []`,
      ),
    ),
  );
  expect(rules.own?.added).toEqual(['us-ga', 'on', 'pr', 'us-pr', 'eng', 'de-by']);
});

test('caps by law come with the states and countries that have them, and a rule of the same id takes the place of one', async () => {
  const lawOf = async (yaml: string, rules = '') => {
    const { campaignPath, folder } = await writeCampaign(`${minimalCampaign}${yaml}`, 'phone\n');
    if (rules !== '') await writeFile(join(folder, 'rules.yaml'), rules);
    return campaignRules(await readCampaignFile(campaignPath), ['phone'], start).law.filter(({ caps }) => caps.length > 0);
  };
  const threeADay = { by: 'number', calls: 3, withinMs: 86_400_000 };
  const standard = await lawOf('');
  expect(standard.map(({ country, region, hours, caps }) => [country, region, hours, caps])).toEqual([
    ['US', 'FL', null, [threeADay]],
    ['US', 'OK', null, [threeADay]],
    ['US', 'MD', null, [threeADay]],
    ['US', 'OR', null, [threeADay]],
    ['US', 'ME', null, [{ by: 'number', calls: 1, withinMs: 8 * 3_600_000 }]],
    ['FR', null, null, [{ by: 'number', calls: 4, withinMs: 30 * 86_400_000 }]],
  ]);
  expect(standard.map(({ source }) => source).join()).toMatch(/501\.616\(6\)\(b\)/);
  expect(await lawOf('law: off\n')).toEqual([]);
  // Other hours leave the state's cap unchanged.
  const hours = written(`id: us-fl, country: US, region: FL, source: x, ${allDay}`);
  expect(await lawOf('law: ./rules.yaml\n', hours)).toEqual(standard);
  const own = written(
    'id: us-fl-calls, country: US, region: FL, source: x, caps: [{ calls: 1, within: 8h }]',
    'id: us-ok-calls, country: US, region: OK, source: we have consent, caps: []',
  );
  expect((await lawOf('law: ./rules.yaml\n', own)).map(({ region, caps }) => [region, caps])).toEqual([
    ['FL', [{ by: 'number', calls: 1, withinMs: 8 * 3_600_000 }]],
    ['MD', [threeADay]],
    ['OR', [threeADay]],
    ['ME', [{ by: 'number', calls: 1, withinMs: 8 * 3_600_000 }]],
    [null, [{ by: 'number', calls: 4, withinMs: 30 * 86_400_000 }]],
  ]);
});

test('rules that were last looked at more than 6 months ago are told, packaged ones and those of a file', async () => {
  const packaged = await readLegalRules(null);
  expect(packaged).toMatchObject({ packagedAsOf: '2026-11-24', own: null });
  const stale = Date.UTC(2027, 4, 24);
  expect(lawWarnings(packaged, stale - 1)).toEqual([]);
  expect(lawWarnings(packaged, stale)).toEqual([
    expect.stringMatching(/come with Carillon are as of 2026-11-24, more than 6 months ago: update Carillon/),
  ]);
  expect([isStale('2026-08-31', Date.UTC(2027, 1, 28)), isStale('2026-08-31', Date.UTC(2027, 2, 3))]).toEqual([false, true]);

  const path = await rulesFile(written(`id: us, country: US, source: x, ${allDay}`));
  const own = await readLegalRules(path);
  expect(own.own).toEqual({ path, asOf: '2026-01-01', replaced: ['us'], added: [] });
  const [first, second, ...more] = lawWarnings(own, Date.UTC(2027, 6, 1));
  expect(first).toMatch(/come with Carillon/);
  expect(second).toMatch(/^the rules of .*my-rules\.yaml are as of 2026-01-01, more than 6 months ago: look them up again/);
  expect(more).toEqual([]);
  expect(lawWarnings(own, Date.UTC(2025, 11, 31))).toEqual([expect.stringMatching(/which is yet to come: correct as_of/)]);
  expect(lawWarnings(null, stale)).toEqual([]);

  // A file that reviews every rule needs no warning of repealed ones.
  const all = packaged.rules.map(
    ({ id, country, region }) =>
      `id: ${id}, country: '${country}', ${region === undefined ? '' : `region: ${region}, `}source: x, caps: []`,
  );
  const replaced = await readLegalRules(await rulesFile(written(...all).replace('2026-01-01', '2027-04-01')));
  expect(replaced.packagedAsOf).toBeNull();
  expect(lawWarnings(replaced, stale)).toEqual([]);
});

/** Whether the packaged rules and the campaign's `law` allow a call to that country and zone. */
async function isCalled(country: string, zone: string, at: string, law = '', regions: readonly string[] | null = null) {
  const { campaignPath } = await writeCampaign(`${minimalCampaign}${law}`, 'phone\n');
  const rules = campaignRules(await readCampaignFile(campaignPath), ['phone'], Date.parse(at));
  // As when a row of that country is read.
  closeHolidaysOf(country, rules.law as LegalHours[], Date.parse(at));
  const calendars = calendarsFor(rules, { country, regions });
  return windowAt({ calendars, zones: [zone], at: Date.parse(at), marginMs: 0, endsAt: null }).open;
}

test.each([
  ['Monday 08:59', '2026-11-23T11:59:00Z', false],
  ['Monday 09:00', '2026-11-23T12:00:00Z', true],
  ['Monday 19:59', '2026-11-23T22:59:00Z', true],
  ['Monday 20:00', '2026-11-23T23:00:00Z', false],
  ['Saturday noon', '2026-11-28T15:00:00Z', false],
  ['Sunday 03:00', '2026-11-29T06:00:00Z', false],
])('in a country without a rule, Brazil, somebody is called at %s: %s, %s', async (_, at, expected) => {
  expect(await isCalled('BR', 'America/Sao_Paulo', at)).toBe(expected);
  // Where the file says there is no law, only the campaign's hours apply.
  expect(await isCalled('BR', 'America/Sao_Paulo', at, 'law: { BR: none }\n')).toBe(true);
  expect(await isCalled('BR', 'America/Sao_Paulo', at, 'law: { JP: none }\n')).toBe(expected);
});

test('a file of rules and countries without any can be named together', async () => {
  const { campaignPath, folder } = await writeCampaign(`${minimalCampaign}law: { rules: ./mine.yaml, BR: none, US: none }\n`, 'phone\n');
  await writeFile(join(folder, 'mine.yaml'), written(`id: jp, country: JP, source: our counsel, ${allDay}`));
  const { law } = await readCampaignFile(campaignPath);
  expect(law).toMatchObject({ none: ['BR', 'US'], own: { added: ['jp'] } });
  const ofUs = law?.rules.filter(({ country }) => country === 'US');
  expect(ofUs?.map(({ id, source }) => [id, source])).toEqual([['none-US', 'law: { US: none }']]);
});

test.each(['law: { UK: none }', 'law: { PR: none }', 'law: { BR: off }', 'law: { BR: none, rules: 3 }', 'law: [BR]'])(
  '%s is refused with its fix',
  async (law) => {
    const { campaignPath } = await writeCampaign(`${minimalCampaign}${law}\n`, 'phone\n');
    expect(await messageOf(readCampaignFile(campaignPath))).toMatch(/:6: law: .*such as \{ BR: none \}$/);
  },
);

test.each<[string, string, string | null, string, boolean, string]>([
  ['Rhode Island, Friday 17:59', 'US', 'RI', '2026-11-20T22:59:00Z', true, 'America/New_York'],
  ['Rhode Island, Friday 18:00', 'US', 'RI', '2026-11-20T23:00:00Z', false, 'America/New_York'],
  ['Rhode Island, Saturday 09:59', 'US', 'RI', '2026-11-21T14:59:00Z', false, 'America/New_York'],
  ['Rhode Island, Saturday 16:59', 'US', 'RI', '2026-11-21T21:59:00Z', true, 'America/New_York'],
  ['Rhode Island, Sunday noon', 'US', 'RI', '2026-11-22T17:00:00Z', false, 'America/New_York'],
  ['Rhode Island, Thanksgiving noon', 'US', 'RI', '2026-11-26T17:00:00Z', false, 'America/New_York'],
  ['Oregon, 20:00', 'US', 'OR', '2026-11-24T04:00:00Z', false, 'America/Los_Angeles'],
  ['Utah, Sunday noon', 'US', 'UT', '2026-11-22T19:00:00Z', false, 'America/Denver'],
  ['Utah, Pioneer Day noon', 'US', 'UT', '2026-07-24T18:00:00Z', false, 'America/Denver'],
  ['South Dakota, Saturday noon', 'US', 'SD', '2026-11-21T18:00:00Z', false, 'America/Chicago'],
  ['South Dakota, Monday 08:59', 'US', 'SD', '2026-11-23T14:59:00Z', false, 'America/Chicago'],
  ['Texas, Sunday 11:59', 'US', 'TX', '2026-11-22T17:59:00Z', false, 'America/Chicago'],
  ['Texas, Sunday noon', 'US', 'TX', '2026-11-22T18:00:00Z', true, 'America/Chicago'],
  ['Illinois, Monday 08:30', 'US', 'IL', '2026-11-23T14:30:00Z', false, 'America/Chicago'],
  ['Nebraska, Sunday 12:59', 'US', 'NE', '2026-11-22T18:59:00Z', false, 'America/Chicago'],
  ['Oklahoma, Monday 08:30', 'US', 'OK', '2026-11-23T14:30:00Z', false, 'America/Chicago'],
  ['Louisiana, All Saints of 2027', 'US', 'LA', '2027-11-01T18:00:00Z', false, 'America/Chicago'],
  ['France, Sunday 03:00', 'FR', null, '2026-11-22T02:00:00Z', false, 'Europe/Paris'],
  ['France, Monday 13:30', 'FR', null, '2026-11-23T12:30:00Z', false, 'Europe/Paris'],
  ['France, Monday 14:00', 'FR', null, '2026-11-23T13:00:00Z', true, 'Europe/Paris'],
  ['France, 11 November', 'FR', null, '2026-11-11T10:00:00Z', false, 'Europe/Paris'],
  ['Canada, Monday 21:29', 'CA', null, '2026-11-24T02:29:00Z', true, 'America/Toronto'],
  ['Canada, Saturday 18:00', 'CA', null, '2026-11-21T23:00:00Z', false, 'America/Toronto'],
  ['Australia, Saturday 17:00', 'AU', null, '2026-11-21T06:00:00Z', false, 'Australia/Sydney'],
  ['Australia, Sunday noon', 'AU', null, '2026-11-22T01:00:00Z', false, 'Australia/Sydney'],
  ['Spain, Saturday noon', 'ES', null, '2026-11-21T11:00:00Z', false, 'Europe/Madrid'],
  ['Spain, Monday 20:59', 'ES', null, '2026-11-23T19:59:00Z', true, 'Europe/Madrid'],
  ['the United Kingdom, Saturday noon', 'GB', null, '2026-11-21T12:00:00Z', false, 'Europe/London'],
  ['the United Kingdom, Good Friday noon', 'GB', null, '2027-03-26T12:00:00Z', false, 'Europe/London'],
  ['Brazil, Independence Day noon', 'BR', null, '2026-09-07T15:00:00Z', false, 'America/Sao_Paulo'],
  ['Mississippi, Confederate Memorial Day noon', 'US', 'MS', '2027-04-26T17:00:00Z', false, 'America/Chicago'],
  ['Mississippi, the day after', 'US', 'MS', '2027-04-27T17:00:00Z', true, 'America/Chicago'],
  ['Maine, Monday 16:59', 'US', 'ME', '2026-11-23T21:59:00Z', true, 'America/New_York'],
  ['Maine, Monday 17:00', 'US', 'ME', '2026-11-23T22:00:00Z', false, 'America/New_York'],
  ['Italy, Monday 09:00', 'IT', null, '2026-11-23T08:00:00Z', true, 'Europe/Rome'],
  ['Italy, Monday 20:00', 'IT', null, '2026-11-23T19:00:00Z', false, 'Europe/Rome'],
  ['Italy, Saturday 09:59', 'IT', null, '2026-11-28T08:59:00Z', false, 'Europe/Rome'],
  ['Italy, Saturday 18:59', 'IT', null, '2026-11-28T17:59:00Z', true, 'Europe/Rome'],
  ['Italy, Saturday 19:00', 'IT', null, '2026-11-28T18:00:00Z', false, 'Europe/Rome'],
  ['Italy, Sunday noon', 'IT', null, '2026-11-29T11:00:00Z', false, 'Europe/Rome'],
  ['Italy, the eve of 8 December 09:59', 'IT', null, '2026-12-07T08:59:00Z', false, 'Europe/Rome'],
  ['Italy, the eve of 8 December 10:00', 'IT', null, '2026-12-07T09:00:00Z', true, 'Europe/Rome'],
  ['Italy, the eve of 8 December 19:00', 'IT', null, '2026-12-07T18:00:00Z', false, 'Europe/Rome'],
  ['Italy, 8 December noon', 'IT', null, '2026-12-08T11:00:00Z', false, 'Europe/Rome'],
  ['Italy, the eve of 15 August, a Sunday', 'IT', null, '2027-08-14T10:00:00Z', true, 'Europe/Rome'],
  ['Italy, Easter Sunday, the eve of a holiday', 'IT', null, '2027-03-28T11:00:00Z', false, 'Europe/Rome'],
  ['Germany, Monday 20:00', 'DE', null, '2026-11-23T19:00:00Z', false, 'Europe/Berlin'],
])('by the packaged rules somebody in %s is called or not', async (_, country, region, at, expected, zone) => {
  expect(await isCalled(country, zone, at, '', region === null ? null : [region])).toBe(expected);
});

test('the packaged rules name statutes and regulators, and no vendor', async () => {
  const { rules } = await readLegalRules(null);
  for (const { id, source } of rules) expect([id, source]).toEqual([id, expect.not.stringMatching(/\.com\b|vendor|blog/)]);
});

test('days without calls of every year and of one can be written', async () => {
  const text = written("id: jp, country: JP, source: x, closed_on: ['01-08', '02-29', '2026-11-27']");
  const { campaignPath, folder } = await writeCampaign(`${minimalCampaign}law: ./mine.yaml\n`, 'phone\n');
  await writeFile(join(folder, 'mine.yaml'), text);
  const { law } = campaignRules(await readCampaignFile(campaignPath), ['phone'], start);
  expect(law.find(({ id }) => id === 'jp')?.closedOn).toEqual([
    '2026-01-08', '2027-01-08', '2028-01-08', '2026-02-29', '2027-02-29', '2028-02-29', '2026-11-27',
  ]); // prettier-ignore
  expect(await messageOf(readLegalRules(await rulesFile(written("id: jp, country: JP, source: x, closed_on: ['8/1']"))))).toMatch(
    /rules\[0\]\.closed_on\[0\]: "8\/1" cannot be used; write days in quotes, such as '01-08'/,
  );
});

test.each([
  [2026, 'Holi', '2026-03-04'],
  [2026, 'Id-ul-Fitr', '2026-03-21'],
  [2026, 'Id-ul-Zuha', '2026-05-27'],
  [2026, 'Muharram', '2026-06-26'],
  [2026, 'Milad-un-Nabi', '2026-08-26'],
  [2026, 'Dussehra', '2026-10-20'],
  [2026, 'Diwali', '2026-11-08'],
  [2026, 'Guru Nanak Jayanti', '2026-11-24'],
  [2026, 'Republic Day', '2026-01-26'],
  [2027, 'Holi', '2027-03-22'],
  [2027, 'Diwali', '2027-10-29'],
  [2028, 'Diwali', '2028-10-17'],
])('holidays of India in %i have %s on %s', (year, _, date) => {
  expect(holidayDates({ country: 'IN', region: null }, year, 1)).toContain(date);
  expect(holidayDates({ country: 'IN', region: 'MH' }, year, 1)).toContain(date);
});

test('holidays of India in two years are more than twelve', () => {
  expect(holidayDates({ country: 'IN', region: null }, 2026, 2).length).toBeGreaterThanOrEqual(30);
});

test('other countries have the days that they had', () => {
  expect(holidayDates({ country: 'FR', region: null }, 2026, 1)).toEqual([
    '2026-01-01', '2026-04-06', '2026-05-01', '2026-05-08', '2026-05-14', '2026-05-25',
    '2026-07-14', '2026-08-15', '2026-11-01', '2026-11-11', '2026-12-25',
  ]); // prettier-ignore
});

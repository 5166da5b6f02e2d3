import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { campaignRules, readCampaignFile } from '../../src/campaign/campaign-file.ts';
import { isStale, lawWarnings } from '../../src/campaign/law-warnings.ts';
import { readLegalRules } from '../../src/campaign/legal-rules.ts';
import { messageOf, minimalCampaign, temporaryFolder, writeCampaign } from './campaign-folder.ts';

const start = Date.UTC(2026, 0, 15);

async function rulesFile(text: string): Promise<string> {
  const path = join(await temporaryFolder(), 'my-rules.yaml');
  await writeFile(path, text);
  return path;
}

/** A rules file with these rules, each in a line of its own from line 3 on. */
function written(...rules: string[]): string {
  return `as_of: 2026-01-01\nrules:\n${rules.map((rule) => `  - { ${rule} }\n`).join('')}`;
}

const ga = 'id: us-ga, country: US, region: GA, source: our counsel';
const allDay = 'hours: { daily: "08:00-20:00" }';

test.each<[string, string, RegExp]>([
  [
    'the night',
    written(`${ga}, hours: { daily: "20:00-08:00" }`),
    /^3: rules\[0\]\.hours\.daily: "20:00-08:00" cannot be used; write the earlier time first, such as "08:00-20:00": hours by law do not go on past midnight$/,
  ],
  [
    'times the wrong way round',
    written(`${ga}, hours: { daily: "08:00-20:00", sun: "17:00-09:00" }`),
    /^3: rules\[0\]\.hours\.sun: "17:00-09:00" cannot be used; write the earlier time first/,
  ],
  ['an empty window', written(`${ga}, hours: { daily: "08:00-08:00" }`), /^3: .*write a window such as "08:00-21:00"/],
  [
    'no hours at all',
    written(`${ga}, hours: {}`),
    /^3: rules\[0\]\.hours: \{\} cannot be used; write a mapping such as/,
  ],
  [
    'one id twice',
    written(
      `${ga}, ${allDay}`,
      `id: us-pa, country: US, region: PA, source: x, ${allDay}`,
      `${ga}, hours: { sun: closed }`,
    ),
    /^5: rules\[2\]\.id: "us-ga" cannot be used; choose another id, or make one rule of the two: rules\[0\] has this id already$/,
  ],
  [
    'a region that nobody is in',
    written(`id: mine, country: US, region: FLA, source: x, ${allDay}`),
    /^3: rules\[0\]\.region: "FLA" cannot be used; write the two letters of a state, such as FL$/,
  ],
  [
    'a state by its name',
    written(`id: mine, country: US, region: florida, source: x, ${allDay}`),
    /^3: rules\[0\]\.region: "florida" cannot be used; write FL$/,
  ],
  [
    'a state for a province',
    written(`id: mine, country: CA, region: FL, source: x, ${allDay}`),
    /^3: rules\[0\]\.region: "FL" cannot be used; write the two letters of a province, such as ON$/,
  ],
  [
    'a region elsewhere that is none by its form',
    written(`id: mine, country: GB, region: England, source: x, ${allDay}`),
    /^3: rules\[0\]\.region: "England" cannot be used; write a code of one to three capitals or digits, such as ENG$/,
  ],
  [
    'a region of a territory',
    written(`id: mine, country: PR, region: PR, source: x, ${allDay}`),
    /^3: rules\[0\]\.region: "PR" cannot be used; leave it out, or write country: US and region: PR$/,
  ],
  [
    'an unknown country',
    written(`id: mine, country: UK, source: x, ${allDay}`),
    /^3: rules\[0\]\.country: "UK" cannot be used; write a two-letter country code in capitals, such as US or GB$/,
  ],
  [
    'an end before its beginning',
    written(`${ga}, ${allDay}, from: 2026-07-01, until: 2026-06-30`),
    /^3: rules\[0\]\.until: "2026-06-30" cannot be used; write a date that is not before from \(2026-07-01\)$/,
  ],
  [
    'no day of the calendar',
    written(`${ga}, ${allDay}, until: 2026-02-30`),
    /^3: rules\[0\]\.until: "2026-02-30" cannot/,
  ],
  [
    'text for the list of rules',
    'as_of: 2026-01-01\nrules: x\n',
    /^2: rules: "x" cannot be used; write a list of rules, each with "- id:", country, source, and hours or caps$/,
  ],
  ['one rule for the list of rules', 'as_of: 2026-01-01\nrules: { id: x }\n', /^2: rules: .*; write a list of rules/],
  [
    'a list without rules',
    'as_of: 2026-01-01\nrules: []\n',
    /^2: rules: \[\] cannot be used; write at least one rule$/,
  ],
  ['no rules', 'as_of: 2026-01-01\n', /^1: rules: is missing; write a list of rules/],
  [
    'a rule that says nothing',
    written(ga),
    /^3: rules\[0\]: .* cannot be used; write hours or caps: a rule without either says nothing$/,
  ],
  [
    'a cap without its time',
    written(`${ga}, caps: [{ calls: 3 }]`),
    /^3: rules\[0\]\.caps\[0\]\.within: is missing; write a duration such as/,
  ],
  [
    'a cap by something else',
    written(`${ga}, caps: [{ calls: 3, within: 1d, by: person }]`),
    /^3: rules\[0\]\.caps\[0\]\.by: there is no such setting; settings here: calls, within$/,
  ],
  [
    'a cap that is no list',
    written(`${ga}, caps: { calls: 3, within: 1d }`),
    /^3: rules\[0\]\.caps: .*; write a list such as \[\{ calls: 3, within: 24h \}\]$/,
  ],
  [
    'holidays that are not known',
    written(`id: mine, country: GB, region: XYZ, source: x, holidays: closed`),
    /^3: rules\[0\]\.holidays: "closed" cannot be used; leave it out, and list the days in the campaign file/,
  ],
  [
    'a packaged rule that would leave its state',
    written(`id: us-fl, country: US, region: GA, source: x, ${allDay}`),
    /^3: rules\[0\]\.id: "us-fl" cannot be used; choose another id for US-GA, or write the rule for US-FL: the packaged rule that it would replace is for that$/,
  ],
  [
    'the rule of a country that would become one of a state',
    written(`id: us, country: US, region: GA, source: x, ${allDay}`),
    /^3: rules\[0\]\.id: "us" cannot be used; choose another id for US-GA, or write the rule for US:/,
  ],
])('%s in a rules file is refused with line, path, value and fix', async (_, text, expected) => {
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

test('caps by law come with Florida, Oklahoma and Maryland, and a rule of the same id takes the place of one', async () => {
  const lawOf = async (yaml: string, rules = '') => {
    const { campaignPath, folder } = await writeCampaign(`${minimalCampaign}${yaml}`, 'phone\n');
    if (rules !== '') await writeFile(join(folder, 'rules.yaml'), rules);
    return campaignRules(await readCampaignFile(campaignPath), ['phone'], start).law.filter(
      ({ caps }) => caps.length > 0,
    );
  };
  const threeADay = { by: 'number', calls: 3, withinMs: 86_400_000 };
  const standard = await lawOf('');
  expect(standard.map(({ region, hours, caps }) => [region, hours, caps])).toEqual([
    ['FL', null, [threeADay]],
    ['OK', null, [threeADay]],
    ['MD', null, [threeADay]],
  ]);
  expect(standard.map(({ source }) => source).join()).toMatch(/501\.616\(6\)\(b\)/);
  expect(await lawOf('law: off\n')).toEqual([]);
  // Other hours leave the cap of the state as it is.
  const hours = written(`id: us-fl, country: US, region: FL, source: x, ${allDay}`);
  expect(await lawOf('law: ./rules.yaml\n', hours)).toEqual(standard);
  const own = written(
    'id: us-fl-calls, country: US, region: FL, source: x, caps: [{ calls: 1, within: 8h }]',
    'id: us-ok-calls, country: US, region: OK, source: we have consent, caps: []',
  );
  expect((await lawOf('law: ./rules.yaml\n', own)).map(({ region, caps }) => [region, caps])).toEqual([
    ['FL', [{ by: 'number', calls: 1, withinMs: 8 * 3_600_000 }]],
    ['MD', [threeADay]],
  ]);
});

test('rules that were last looked at more than 18 months ago are told, packaged ones and those of a file', async () => {
  const packaged = await readLegalRules(null);
  expect(packaged).toMatchObject({ packagedAsOf: '2025-11-01', own: null });
  const stale = Date.UTC(2027, 4, 1);
  expect(lawWarnings(packaged, stale - 1)).toEqual([]);
  expect(lawWarnings(packaged, stale)).toEqual([
    expect.stringMatching(/come with Carillon are as of 2025-11-01, more than 18 months ago: update Carillon/),
  ]);
  expect([isStale('2026-08-31', Date.UTC(2028, 1, 28)), isStale('2026-08-31', Date.UTC(2028, 2, 3))]).toEqual([
    false,
    true,
  ]);

  const path = await rulesFile(written(`id: us, country: US, source: x, ${allDay}`));
  const own = await readLegalRules(path);
  expect(own.own).toEqual({ path, asOf: '2026-01-01', replaced: ['us'], added: [] });
  const [first, second, ...more] = lawWarnings(own, Date.UTC(2027, 6, 1));
  expect(first).toMatch(/come with Carillon/);
  expect(second).toMatch(
    /^the rules of .*my-rules\.yaml are as of 2026-01-01, more than 18 months ago: look them up again/,
  );
  expect(more).toEqual([]);
  expect(lawWarnings(own, Date.UTC(2025, 11, 31))).toEqual([
    expect.stringMatching(/which is yet to come: correct as_of/),
  ]);
  expect(lawWarnings(null, stale)).toEqual([]);

  // Who has looked at every rule need not be told of those that no longer hold.
  const all = packaged.rules.map(
    ({ id, country, region }) =>
      `id: ${id}, country: ${country}, ${region === undefined ? '' : `region: ${region}, `}source: x, caps: []`,
  );
  const replaced = await readLegalRules(await rulesFile(written(...all).replace('2026-01-01', '2027-04-01')));
  expect(replaced.packagedAsOf).toBeNull();
  expect(lawWarnings(replaced, stale)).toEqual([]);
});

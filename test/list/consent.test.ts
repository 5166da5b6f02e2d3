import { expect, test } from 'vitest';
import { consentKind } from '../../src/rules/consent.ts';
import { importList, minimalCampaign } from './campaign-folder.ts';

const columns = 'phone,agreed,where,words,hash,for';
const settings = 'consent: { at: agreed, source: where, text: words, proof: hash, purpose: for }\npurpose: recall\n';

/** Rows of people in New York, by what they tell of their consent. */
async function read(cells: readonly string[], more = settings) {
  const lines = cells.map((text, index) => `+1212555${String(100 + index).padStart(4, '0')},${text}`);
  const yaml = minimalCampaign.replace('phone: phone', 'phone: phone, fallback_timezone: America/New_York') + more;
  return (await importList(yaml, [columns, ...lines, ''].join('\n'))).rows;
}

test('a consent counts from its time, which is the earliest that it may be', async () => {
  const rows = await read([
    '2026-11-20T10:00:00-05:00,web form,v3,,recall',
    '2026-11-20 10:00,paper,v3,sha256:ab,recall',
    '2026-11-20,call 17,I agree,, recall ',
  ]);
  expect(rows.map(({ verdict, consentedAt }) => [verdict, new Date(consentedAt ?? 0).toISOString()])).toEqual([
    ['accepted', '2026-11-20T15:00:00.000Z'],
    ['accepted', '2026-11-20T15:00:00.000Z'],
    ['accepted', '2026-11-20T05:00:00.000Z'],
  ]);
});

test('a consent without its time, its source, its words or its purpose is none', async () => {
  const faults: [cells: string, column: string, said: string][] = [
    [',web form,v3,,recall', 'agreed', 'fill in "agreed"'],
    ['yes,web form,v3,,recall', 'agreed', '"yes" is no date and time'],
    ['true,web form,v3,,recall', 'agreed', 'is no date and time'],
    ['2026-02-30,web form,v3,,recall', 'agreed', 'is no date and time'],
    ['2026-11-20,,v3,,recall', 'where', 'fill in "where"'],
    ['2026-11-20,#N/A,v3,,recall', 'where', '#N/A'],
    ['2026-11-20,web form, ,,recall', 'words', 'fill in "words"'],
    ['2026-11-20,web form,v3,,', 'for', 'fill in "for"'],
    ['2026-11-20,web form,v3,,marketing', 'for', 'the consent is for "marketing", and the campaign for "recall"'],
  ];
  const rows = await read(faults.map(([cells]) => cells));
  for (const [index, [, column, said]] of faults.entries())
    expect(rows[index]).toMatchObject({ verdict: 'rejected', reason: 'missing_consent', column, hint: expect.stringContaining(said) });
});

test('a column of yes and no stands for a consent whose source and words are those of the list, and whose time is a column', async () => {
  const yesNo = 'consent: { yes: where, at: agreed, source_of_list: web form, text_of_list: I agree }\n';
  const said = ['yes', 'TRUE', ' Y ', '1', 'Ja', 'no', '', 'maybe', '0', 'yes, later', '#N/A'];
  const rows = await read(
    said.map((word) => `2026-11-20,"${word}",,,`),
    yesNo,
  );
  expect(rows.slice(0, 5).map(({ verdict }) => verdict)).toEqual(Array(5).fill('accepted'));
  for (const row of rows.slice(5)) expect(row).toMatchObject({ verdict: 'rejected', reason: 'missing_consent', column: 'where' });
  const [untimed] = await read([',yes,,,'], yesNo);
  expect(untimed).toMatchObject({ verdict: 'rejected', reason: 'missing_consent', column: 'agreed' });
});

test.each([
  [
    'consent',
    [
      'Consent',
      'consent given',
      'marketingConsent',
      'HAS_OPTIN',
      'Opt-In',
      'Opted in',
      'Permission',
      'TCPA',
      'Einwilligung',
      'May we call',
    ],
  ],
  ['detail', ['consent_at', 'Consent Date', 'optInSource', 'consent_text', 'Permission form', 'consent ip']],
  [null, ['phone', 'Option', 'Opt-out', 'Content', 'Sentence', 'optional', 'Call time', 'Day', 'contact', 'Can', 'options']],
])('columns of kind %s are known by their names', (kind, names) => {
  expect(names.filter((name) => consentKind(name) !== kind)).toEqual([]);
});

test('settings of consent that cannot hold are named with their line', async () => {
  const refused = (more: string) => read(['2026-11-20,web form,v3,,recall'], more).catch((error: Error) => error.message);
  expect(await refused('consent: { at: agreed, source: where, text: words, purpose: for }\n')).toMatch(
    /consent\.purpose.*purpose: as well/s,
  );
  expect(await refused('consent: { at: agred, source: where, text: words }\n')).toMatch(/consent\.at.*"agred".*"agreed"/s);
  expect(await refused('consent: { at: agreed, source: where }\n')).toMatch(/consent\.text/);
  expect(await refused('consent: { at: agreed, source: where, text_of_list: I agree }\n')).toMatch(/consent\.text_of_list.*consent\.yes/s);
  expect(await refused('consent: { yes: for, at: agreed, source: where, source_of_list: paper, text: words }\n')).toMatch(
    /consent\.source_of_list.*leave it out, or leave out consent\.source/s,
  );
  expect(await refused('purpose: New offers\n')).toMatch(/purpose.*write a word of small letters/s);
});

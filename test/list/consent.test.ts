import { expect, test } from 'vitest';
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

test('settings of consent that cannot hold are named with their line', async () => {
  const refused = (more: string) => read(['2026-11-20,web form,v3,,recall'], more).catch((error: Error) => error.message);
  expect(await refused('consent: { at: agreed, source: where, text: words, purpose: for }\n')).toMatch(
    /consent\.purpose.*purpose: as well/s,
  );
  expect(await refused('consent: { at: agred, source: where, text: words }\n')).toMatch(/consent\.at.*"agred".*"agreed"/s);
  expect(await refused('consent: { at: agreed, source: where }\n')).toMatch(/consent\.text/);
  expect(await refused('purpose: New offers\n')).toMatch(/purpose.*write a word of small letters/s);
});

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { campaignRules, readCampaignFile } from '../../src/campaign/file/file.ts';
import { readHeader } from '../../src/campaign/file/columns-of-rules.ts';
import { readNumberList } from '../../src/list/one-column.ts';
import { ListEncodingError } from '../../src/shared/input/errors.ts';
import { importList, messageOf, minimalCampaign, writeCampaign } from './campaign-folder.ts';

const named = `${minimalCampaign}first_message: "Hello {{ name }}"\n`;
const latin = named.replace('phone: phone', 'phone: phone, encoding: latin1');

async function headerOf(list: string | Uint8Array, yaml = named) {
  const { campaignPath } = await writeCampaign(yaml, list);
  return readHeader(await readCampaignFile(campaignPath));
}

async function rowsOf(list: string | Uint8Array, yaml = named) {
  const { rows } = await importList(yaml, list);
  return rows.map(({ cells, verdict }) => `${cells.join('|')} ${verdict}`);
}

/** What a reader of the list is asked, as `encoding: words`. */
async function readingsOf(list: Uint8Array, yaml = named): Promise<string[]> {
  const error = await headerOf(list, yaml).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ListEncodingError)) throw error ?? new Error('the encoding was taken as certain');
  return error.readings.map(({ encoding, words }) => `${encoding}: ${words.join(', ')}`);
}

test.each([
  ['macroman', 'macintosh', 'macintosh: Renée, Müller, José', 'Renée Müller'],
  ['cp850', 'cp850', 'cp850: Renée, Müller, José', 'Renée Müller'],
  ['cp1250', 'windows-1250', 'windows-1250: Łukasz, Dvořáková, Jiří', 'Łukasz Wójcik'],
  ['cp1254', 'windows-1254', 'windows-1254: Gülşen, Işık, Ayşe', 'Gülşen Işık'],
])('a list in %s is asked about with its likely readings, and read right when one is named', async (file, encoding, first, name) => {
  const list = await readFile(new URL(`encodings/${file}.csv`, import.meta.url));
  const yaml = minimalCampaign.replace('phone: phone', 'phone: phone, id: id') + 'first_message: "Hello {{ first_name }}"\n';
  const readings = await readingsOf(list, yaml);
  expect(readings[0]).toBe(first);
  expect(readings.length).toBe(3);
  expect(readings.some((reading) => reading.startsWith('windows-1252: '))).toBe(true);
  expect(await messageOf(importList(yaml, list))).toMatch(
    new RegExp(`neither UTF-8 nor UTF-16, and no encoding is named.*list.encoding[^]*\n  ${first.replace(': ', ' +')}\n[^]*"CSV UTF-8"`),
  );
  for (const written of [encoding, file]) {
    const { rows } = await importList(yaml.replace('id: id', `id: id, encoding: ${written}`), list);
    expect(rows.map(({ cells }) => cells[2])).toContain(name);
    expect(rows.filter(({ verdict }) => verdict !== 'accepted')).toEqual([]);
  }
});

/** Text in encodings that Node can only read, written out. */
const written = {
  shift_jis: [0x93, 0x63, 0x92, 0x86, 0x20, 0x91, 0xbe, 0x98, 0x59],
  'shift_jis katakana': [0x83, 0x5e, 0x83, 0x8d, 0x83, 0x45],
  'euc-jp': [0xc5, 0xc4, 0xc3, 0xe6, 0x20, 0xc2, 0xc0, 0xcf, 0xba],
  gb18030: [0xcd, 0xf5, 0xd0, 0xa1, 0xc3, 0xf7],
  big5: [0xa4, 0xfd, 0xa4, 0x70, 0xa9, 0xfa],
  'euc-kr': [0xb1, 0xe8, 0xc3, 0xb6, 0xbc, 0xf6],
  'windows-1251': [0xc8, 0xe2, 0xe0, 0xed, 0x20, 0xcf, 0xe5, 0xf2, 0xf0, 0xee, 0xe2],
} as const;

test.each(Object.entries(written))(
  'a list in %s is asked about, by whomever it is read but for its numbers alone',
  async (name, letters) => {
    const list = Buffer.from([...Buffer.from('name,phone\nAna,+12125550101\n'), ...letters, ...Buffer.from(',+12125550102\n')]);
    expect((await readingsOf(list))[0]?.split(':')[0]).toBe(name.split(' ')[0]);
    const { listPath, campaignPath } = await writeCampaign(named, list);
    // What began before encodings were named is refused here too: it was before.
    const begun = { ...(await readCampaignFile(campaignPath)), unnamedEncoding: 'western' } as const;
    await expect(readHeader(begun)).rejects.toBeInstanceOf(ListEncodingError);
    // Of a do-not-call list only the numbers are read.
    const lines: number[] = [];
    for await (const some of readNumberList({ path: listPath, column: 'phone', region: null })) lines.push(...some.map(({ line }) => line));
    expect(lines).toEqual([2, 3]);
  },
);

test.each([
  'O\u2019Brien',
  'Concei\u00e7\u00e3o',
  'J\u00f3n \u00de\u00f3r\u00f0arson',
  'Cr\u00e9\u00e9e \u2013 \u201cAda\u201d',
  'M\u00dcLLER-\u00d6Z',
  '\u00c5\u00e5, 10 \u20ac',
])('the Western name %j is asked about, and read as Windows-1252 by what began before', async (name) => {
  const signs: Record<string, number> = {
    '\u2019': 0x92,
    '\u2013': 0x96,
    '\u201c': 0x93,
    '\u201d': 0x94,
    '\u20ac': 0x80,
  };
  const bytes = Array.from(name, (letter) => signs[letter] ?? letter.charCodeAt(0));
  const list = Buffer.from([...Buffer.from('name;phone\n'), ...bytes, ...Buffer.from(';+12125550101\n')]);
  expect((await readingsOf(list)).map((reading) => reading.split(':')[0])).toContain('windows-1252');
  const { campaignPath } = await writeCampaign(named, list);
  const begun = { ...(await readCampaignFile(campaignPath)), unnamedEncoding: 'western' } as const;
  expect(await readHeader(begun)).toMatchObject({
    layout: { encoding: 'windows-1252' },
    notes: [/^read as Windows-1252 .*look at the letters of line 2$/, 'columns separated by ";"'].map((note) =>
      expect.stringMatching(note),
    ),
  });
  expect(campaignRules(begun, ['name', 'phone'], 0).list.encoding).toBeUndefined();
  expect(await rowsOf(list, latin)).toEqual([`${name}|+12125550101 accepted`]);
});

test('a named encoding that the bytes belie is refused, and the marks of UTF-8 and UTF-16 win over it', async () => {
  expect(await readingsOf(Buffer.from('name,phone\nRené,+12125550101\n'), latin)).toEqual(['utf-8: René', 'windows-1252: RenÃ©']);
  expect(await rowsOf('name,phone\nAna,+12125550101\n', latin)).toEqual(['Ana|+12125550101 accepted']);
  const zoe = 'name,phone\nZoë,+12125550101\nAna,+12125550102\n';
  for (const list of [Buffer.from(`\ufeff${zoe}`), Buffer.from(zoe, 'utf16le')])
    expect((await rowsOf(list, latin))[0]).toBe('Zoë|+12125550101 accepted');
  expect(await messageOf(headerOf('name,phone\nAna,+12125550101\n', latin.replace('latin1', 'latin-nine')))).toMatch(
    /list\.encoding: "latin-nine" cannot be used; write the name of an encoding, such as windows-1252/,
  );
});

test('a file that mixes UTF-8 with as many odd bytes is asked about, and read as UTF-8 when that is named', async () => {
  const list = Buffer.concat([
    Buffer.from('name,phone\nRené,+12125550101\nRen'),
    Buffer.from([0xe9, 0xe8]),
    Buffer.from(',+12125550102\n'),
  ]);
  expect(await readingsOf(list)).toContain('windows-1252: RenÃ©, Renéè');
  expect(await rowsOf(list, latin.replace('latin1', 'utf8'))).toEqual([
    'René|+12125550101 accepted',
    'Ren\ufffd\ufffd|+12125550102 rejected',
  ]);
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCampaignFile } from '../../src/campaign/file/file.ts';
import { readHeader } from '../../src/campaign/file/columns-of-rules.ts';
import { readNumberList } from '../../src/list/one-column.ts';
import { importList, messageOf, minimalCampaign, writeCampaign } from './campaign-folder.ts';

const named = `${minimalCampaign}first_message: "Hello {{ name }}"\n`;

async function headerOf(list: string | Uint8Array, yaml = named) {
  const { campaignPath } = await writeCampaign(yaml, list);
  return readHeader(await readCampaignFile(campaignPath));
}

async function places(list: string | Uint8Array, yaml = named) {
  const { rows } = await importList(yaml, list);
  return rows.map((row) => [row.row, row.line, row.cells.join('|'), row.verdict === 'accepted' ? null : row.reason]);
}

const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

const accented = 'name,phone\n"René\nÉloise",+12125550101\nZoë,+12125550102\n';

test.each([
  ['UTF-8', Buffer.from(accented), []],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${accented}`), []],
  ['UTF-16 little-endian with a mark', Buffer.from(`\ufeff${accented}`, 'utf16le'), ['read as UTF-16']],
  ['UTF-16 big-endian with a mark', utf16be(`\ufeff${accented}`), ['read as UTF-16']],
  ['UTF-16 little-endian without', Buffer.from(accented, 'utf16le'), ['read as UTF-16']],
  ['UTF-16 big-endian without', utf16be(accented), ['read as UTF-16']],
])('a list in %s is read, rows and lines true to the file, and said to be what is not expected', async (_, list, notes) => {
  expect(await places(list)).toEqual([
    [1, 2, 'René\nÉloise|+12125550101', null],
    [2, 4, 'Zoë|+12125550102', null],
  ]);
  expect((await headerOf(list)).notes).toEqual(notes);
});

const latin = named.replace('phone: phone', 'phone: phone, encoding: latin1');

test.each([
  ['UTF-8', Buffer.from(accented), 3],
  ['UTF-8', Buffer.from(accented), 1_500_000],
  ['UTF-16', Buffer.from(accented, 'utf16le'), 5_000],
  ['UTF-16', Buffer.from(`\ufeff${accented}`, 'utf16le'), 1],
])('zero bytes behind the text of a list in %s do not lose it', async (_, list, zeros) => {
  const padded = Buffer.concat([list, Buffer.alloc(zeros)]);
  expect(await places(padded)).toEqual([
    [1, 2, 'René\nÉloise|+12125550101', null],
    [2, 4, 'Zoë|+12125550102', null],
  ]);
  expect((await headerOf(padded)).notes).toContain(`${String(zeros)} zero bytes at its end left out`);
});

test('signs that Windows-1252 has beyond Latin-1 are read, and bytes that are none spoil their row', async () => {
  const list = Buffer.concat([
    Buffer.from('name,phone\n'),
    Buffer.from([0x80, 0x93, 0x9c]),
    Buffer.from(',+12125550101\nA'),
    Buffer.from([0x81]),
    Buffer.from(',+12125550102\n'),
  ]);
  expect(await places(list, latin)).toEqual([
    [1, 2, '€“œ|+12125550101', null],
    [2, 3, 'A\x81|+12125550102', 'malformed_row'],
  ]);
});

test('a file that mixes encodings stays UTF-8, so that its good names stay right', async () => {
  const list = Buffer.concat([Buffer.from('name,phone\nRené,+12125550101\nRen'), Buffer.from([0xe9]), Buffer.from(',+12125550102\n')]);
  expect(await places(list)).toEqual([
    [1, 2, 'René|+12125550101', null],
    [2, 3, 'Ren\ufffd|+12125550102', 'malformed_row'],
  ]);
});

test('the encoding is found however far down the first letter stands, and however chunks cut letters', async () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => `n${String(n)},+1${String(201 + (n % 700))}5550101`);
  const late = Buffer.from(`name,phone\n${rows.join('\n')}\nJosé,+12125550102\n`, 'latin1');
  expect((await places(late, latin)).at(-1)).toEqual([10_001, 10_002, 'José|+12125550102', null]);
  for (const shift of ['', 'x', 'xx', 'xxx']) {
    const utf8 = Buffer.from(`name${shift},phone\n${'😀é'.repeat(60_000).replaceAll(/(.{200})/gu, '$1\n')}`);
    expect((await headerOf(utf8, minimalCampaign)).layout).toMatchObject({ encoding: 'utf-8' });
  }
});

test('a quoted cell that breaks its quotes is found in every encoding', async () => {
  const broken = '\ufeffname,phone\n"Renée" B,+12125550101\nZoë,+12125550102\n';
  for (const list of [Buffer.from(broken), Buffer.from(broken, 'utf16le'), utf16be(broken)]) {
    expect(await places(list)).toEqual([
      [1, 2, '"Renée" B|+12125550101', 'malformed_row'],
      [2, 3, 'Zoë|+12125550102', null],
    ]);
  }
  const unclosed = Buffer.from('\ufeffname,phone\nAna,+12125550101\n"Ben,+12125550102\n', 'utf16le');
  expect(await messageOf(importList(named, unclosed))).toMatch(/row 2 \(line 3\) opens a quote \("\) that is never closed/);
});

test('whatever the cells hold, a list says the same in every encoding', async () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\n', '\r', ' ', 'ß'), maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 8 }), async (cells) => {
      const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
      const text = `note,other,phone\n${cells.map(([a, b], n) => `${quote(a)},${quote(b)},+1212555010${String(n)}\n`).join('')}é,,x\n`;
      const expected = await places(Buffer.from(text), minimalCampaign);
      expect(expected.slice(0, -1).map(([, , joined]) => joined)).toEqual(cells.map(([a, b], n) => `${a}|${b}|+1212555010${String(n)}`));
      const yaml = minimalCampaign.replace('phone: phone', 'phone: phone, encoding: latin1');
      for (const list of [Buffer.from(text, 'latin1'), Buffer.from(`\ufeff${text}`, 'utf16le'), utf16be(text)]) {
        expect(await places(list, yaml)).toEqual(expected);
      }
    }),
    { numRuns: 40, seed: 21 },
  );
});

test.each([
  ['a semicolon', 'name;phone\nAna, B;+12125550101\n', 'Ana, B|+12125550101', ['columns separated by ";"']],
  ['a tab', 'name\tphone\nAna; B\t+12125550101\n', 'Ana; B|+12125550101', ['columns separated by a tab']],
  ['a bar', 'name|phone\nAna|+12125550101\n', 'Ana|+12125550101', ['columns separated by "|"']],
  ['a comma beside semicolons', 'name,phone,a;b\nAna,+12125550101,1;2\n', 'Ana|+12125550101|1;2', []],
  ['a comma inside of quoted names', '"last, first";name;phone\nx;Ana;+12125550101\n', 'x|Ana|+12125550101', ['columns separated by ";"']],
  [
    'what the first line notes',
    'sep=;\nname;phone\nAna;+12125550101\n',
    'Ana|+12125550101',
    ['columns separated by ";", as its first line says'],
  ],
])('%s between the columns is found', async (_, list, cells, notes) => {
  const { rows } = await importList(named, list);
  expect(rows.map((row) => [row.row, row.verdict, row.cells.join('|')])).toEqual([[1, 'accepted', cells]]);
  expect((await headerOf(list)).notes).toEqual(notes);
});

test('the note to a spreadsheet is no row, but a line', async () => {
  expect(await places('sep=\t\r\nname\tphone\r\nAna\t+12125550101\r\n')).toEqual([[1, 3, 'Ana|+12125550101', null]]);
});

test('the delimiter of the campaign file wins over what the list looks like', async () => {
  const yaml = minimalCampaign.replace('phone: phone', 'phone: phone, delimiter: ";"');
  expect(await places('sep=,\na,b;phone\n1,2;+12125550101\n', yaml)).toEqual([[1, 3, '1,2|+12125550101', null]]);
  expect(await messageOf(importList(yaml, 'id,name,phone\n1,2,3\n'))).toMatch(
    /one single column, "id,name,phone"; if "," separates its columns, set list\.delimiter: "," in the campaign file, or leave it out/,
  );
});

test('a list with one column needs no delimiter', async () => {
  expect(await places('phone\n+12125550101\n', minimalCampaign)).toEqual([[1, 2, '+12125550101', null]]);
});

test('a delimiter that is not certain is refused with what was seen', async () => {
  const list = 'a,b;telephone,c\n1,2;3,4\n5,6;7,8\n';
  expect(await messageOf(importList(minimalCampaign, list))).toMatch(
    /list\.csv: what separates the columns is not certain: its first lines have 3 cells with ",", 2 cells with ";"; name it with list\.delimiter/,
  );
});

test('titles and blank lines above the header are left out and said so', async () => {
  const list = 'Contacts of the week,,\n,,\n\nas of 2026-11-20,,\nid,name,phone\n1,Ana,+12125550101\n2,,+12125550102\n';
  expect(await places(list)).toEqual([
    [1, 6, '1|Ana|+12125550101', null],
    [2, 7, '2||+12125550102', 'missing_value'],
  ]);
  const { columns, notes } = await headerOf(list);
  expect(columns).toEqual(['id', 'name', 'phone']);
  expect(notes).toEqual(['the header is line 5; 3 lines above it left out']);
});

test('an unclosed quote below titles is told with its row and line', async () => {
  const list = 'Contacts,\n,\nname,phone\nAna,+12125550101\n"Ben,+12125550102\n';
  expect(await messageOf(importList(named, list))).toMatch(/row 2 \(line 5\) opens a quote/);
});

test('people above what looks like the header are never left out in silence', async () => {
  const list = 'tel,name\n+12125550101,Ana\nphone,name\n+12125550102,Ben\n';
  expect(await messageOf(importList(named, list))).toMatch(
    /stand in line 3, and line 2 above it holds a phone number; remove what is above the header/,
  );
});

test('without a line that has all columns, the messages are about the one that has most', async () => {
  const list = 'Contacts,\nnme,phone\nAna,+12125550101\n';
  expect(await messageOf(importList(named, list))).toMatch(
    /first_message: the template uses "name", which is no column of the list\. Did you mean "nme"\? In order, the columns of list\.csv are "nme", "phone"/,
  );
});

test.each([' Phone ', 'PHONE', 'phone\u00a0', '\u200bphone', '"Phone"'])('the header %j is the column phone', async (written) => {
  const { rows } = await importList(minimalCampaign, `${written},name\n+12125550101,Ana\n`);
  expect(rows).toMatchObject([{ verdict: 'accepted', e164: '+12125550101' }]);
});

test('a template names a column with blanks and capitals by underscores, and messages name it as the list does', async () => {
  const yaml = minimalCampaign.replace('phone: phone', 'phone: phone number, id: PATIENT ID') + 'first_message: "Hello {{ first_name }}"\n';
  const list = 'Patient  Id,First Name,Phone Number\n7,Ana,+12125550101\n8,,+12125550102\n';
  const { rows, columns } = await importList(yaml, list);
  expect(columns).toEqual(['Patient  Id', 'First Name', 'Phone Number']);
  expect(rows).toMatchObject([
    { verdict: 'accepted', externalId: '7' },
    { reason: 'missing_value', column: 'First Name', hint: expect.stringContaining('"First Name", which is empty') },
  ]);
});

test('a name that fits two columns is refused where it is used, and an exact one wins', async () => {
  const list = 'Phone,PHONE,Name,NAME\n+12125550101,1,Ana,x\n';
  expect(await messageOf(importList(named, list))).toMatch(
    /list\.phone: this names "phone", which fits "Phone" and "PHONE" equally; write the name exactly as in the header[^]*first_message: the template uses "name", which fits "Name" and "NAME" equally/,
  );
  const exact = named.replace('phone: phone', 'phone: Phone').replace('{{ name }}', '{{ NAME }}');
  expect(await places(list, exact)).toEqual([[1, 2, '+12125550101|1|Ana|x', null]]);
});

test.each([
  ['#N/A', 'missing_value'],
  ['#REF!', 'missing_value'],
  ['#####', 'missing_value'],
  ['#1 customer', null],
])('the cell %j of a spreadsheet is not spoken when it is an error', async (cell, reason) => {
  expect(await places(`name,phone,note\n${cell},+12125550101,#N/A\n`)).toEqual([[1, 2, `${cell}|+12125550101|#N/A`, reason]]);
});

test('ids that a spreadsheet has rounded are named as such', async () => {
  const yaml = minimalCampaign.replace('phone: phone', 'phone: phone, id: id');
  const { rows } = await importList(yaml, 'id,phone\n1.23457E+17,+12125550101\n1.23457E+17,+12125550102\n');
  expect(rows[1]).toMatchObject({
    reason: 'duplicate_id',
    hint: expect.stringContaining('rounded the ids to scientific'),
  });
});

test('a list of numbers is read in any encoding and with any delimiter', async () => {
  const numbersIn = async (list: string | Uint8Array, column: string | null = null) => {
    const { listPath } = await writeCampaign(minimalCampaign, list);
    const found: (string | null)[] = [];
    for await (const rows of readNumberList({ path: listPath, column, region: 'US' })) found.push(...rows.map(({ e164 }) => e164));
    return found;
  };
  expect(await numbersIn(Buffer.from('\ufeffName;Phone\r\nAna;2125550101\r\n', 'utf16le'), 'phone')).toEqual(['+12125550101']);
  expect(await numbersIn('Ana;(212) 555-0101\nBen;(212) 555-0102\n')).toEqual(['+12125550101', '+12125550102']);
  expect(await numbersIn('+12125550101\n+12125550102\n')).toEqual(['+12125550101', '+12125550102']);
});

test('a file without sheets is refused where one is named', async () => {
  const yaml = minimalCampaign.replace('phone: phone', 'phone: phone, sheet: Contacts');
  expect(await messageOf(importList(yaml, 'phone\n+12125550101\n'))).toMatch(/this is no workbook and has no sheets; remove list\.sheet/);
});

test('templates of conversation settings are checked like the opening line', async () => {
  const withOverride = (settings: string): string => `${minimalCampaign}conversation_config_override: ${settings}\n`;
  const refusal = (settings: string) => messageOf(importList(withOverride(settings), 'phone,name\n+12125550101,Ana\n'));
  expect(await refusal('{ agent: { prompt: { prompt: "Call {{ nme }}" } } }')).toMatch(
    /:6: conversation_config_override\.agent\.prompt\.prompt: the template uses "nme", which is no column.*Did you mean "name"\?/,
  );
  expect(await refusal('{ agent: { prompt: { prompt: "Call {{ name" } } }')).toMatch(
    /:6: conversation_config_override\.agent\.prompt\.prompt: /,
  );
  expect(await refusal('hello')).toMatch(/conversation_config_override: "hello" cannot be used; write a mapping of settings/);
  expect(await refusal('{ agent: { first_message: 5 } }')).toMatch(/cannot be used; write a mapping of settings/);
  expect(await refusal(`${'{ a: '.repeat(25)}1${' }'.repeat(25)}`)).toMatch(/cannot be used; write a mapping/);
  expect(await refusal('{ agent: { first_message: "Hi" } }\nfirst_message: Hello')).toMatch(
    /:7: first_message: "Hello" cannot be used; write the opening line in one place/,
  );
  const { rows } = await importList(withOverride('{ tts: { voice_id: "{{ name }}" } }'), 'phone,name\n+12125550101,\n');
  expect(rows).toMatchObject([{ reason: 'missing_value', column: 'name' }]);
});

test('the usual wrappers by which exports protect digits are read, and a control character is none of them', async () => {
  const yaml = `${minimalCampaign.replace('phone: phone', 'phone: phone, id: id, default_region: US')}first_message: "Hello {{ first_name }}"\n`;
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const list = [
    `id,${quoted('="phone"')},first_name`,
    `1,${quoted('="+12125550123"')},${quoted('="O\'Neil ""A"""')}`,
    '="002",="2125550124",Bea',
    "3,'+12125550125,Cyd",
    '4,"\'2125550126",Dee',
    `5,${quoted('=T("2125550127")')},Eve`,
    '6,"\t2125550128",=1+1',
    '7,\u001f2125550129,Gil',
    `8,${quoted('="2125550130')},Hal`,
    '9,=2125550131,Ida',
  ];
  const { rows } = await importList(yaml, `${list.join('\r\n')}\r\n`);
  expect(rows.map((row) => (row.verdict === 'accepted' ? [row.externalId, row.e164, row.cells[2]] : `${row.reason}: ${row.hint}`))).toEqual(
    [
      ['1', '+12125550123', 'O\'Neil "A"'],
      ['002', '+12125550124', 'Bea'],
      ['3', '+12125550125', 'Cyd'],
      ['4', '+12125550126', 'Dee'],
      ['5', '+12125550127', 'Eve'],
      ['6', '+12125550128', '=1+1'],
      'malformed_row: the cell holds the control character (U+001F); remove it',
      'invalid_phone: the character "=" does not belong in a phone number',
      'invalid_phone: the character "=" does not belong in a phone number',
    ],
  );
  const { listPath } = await writeCampaign(yaml, 'phone\n="+12125550123"\n"=T(""+12125550124"")"\n');
  const numbers: (string | null)[] = [];
  for await (const some of readNumberList({ path: listPath, column: null, region: null })) numbers.push(...some.map(({ e164 }) => e164));
  expect(numbers).toEqual(['+12125550123', '+12125550124']);
});

const guarded = `${minimalCampaign.replace('phone: phone', 'phone: phone, id: id, priority: rank, timezone: zone, hours: when')}first_message: "Hello {{ name }}"\n`;
const consented = `${minimalCampaign}consent: { at: agreed, source: where, text: words }\n`;

test.each<[string, string, string, RegExp | null, string[] | null]>([
  ['one empty cell too many', 'id,phone,name\n1,+12125550101,Ana,\n', minimalCampaign, null, ['1', '+12125550101', 'Ana']],
  ['several of them', 'id,phone,name\n1,+12125550101,Ana,,,\n', minimalCampaign, null, ['1', '+12125550101', 'Ana']],
  ['one too many that says something', 'id,phone,name\n1,+12125550101,Ana,,x\n', minimalCampaign, /5 cells under 3 columns/, null],
  ['a column without a name', 'id,phone,name,\n1,+12125550101,Ana,\n', minimalCampaign, null, ['1', '+12125550101', 'Ana', '']],
  ['cells too few', 'phone,id,note,more\n+12125550101,1\n', minimalCampaign, null, ['+12125550101', '1', '', '']],
  ['no number', 'id,phone\n1\n', minimalCampaign, /1 cells under 2 columns, and that of "phone" is missing/, null],
  ['a file that is cut', 'phone,id,note\n+12125550101,1', minimalCampaign, /may have been cut off/, null],
  ['a cut behind an empty cell too many', 'phone,id\n+12125550101,1,', minimalCampaign, null, ['+12125550101', '1']],
  ['no priority', 'phone,name,zone,when,rank,id\n+12125550101,Ana,UTC,\n', guarded, null, ['+12125550101', 'Ana', 'UTC', '', '', '']],
  ['no word of a template', 'phone,id,zone,when,rank,name\n+12125550101,1,UTC,,\n', guarded, /the template uses "name"/, null],
  ['no hours', 'phone,name,id,zone,when,rank\n+12125550101,Ana,1,UTC\n', guarded, /that of "when" is missing; write it/, null],
  ['no zone', 'phone,name,id,when,rank,zone\n+12125550101,Ana,1,,1\n', guarded, /that of "zone" is missing; write it/, null],
  ['no words of a consent', 'phone,agreed,where,words\n+12125550101,2026-11-20,web\n', consented, /that of "words" is missing/, null],
])('a row with %s at its end is read or refused', async (_, list, yaml, hint, cells) => {
  const [row] = (await importList(yaml, list)).rows;
  expect(row?.verdict).toBe(hint === null ? 'accepted' : 'rejected');
  if (cells !== null) expect(row?.cells).toEqual(cells);
  if (hint !== null) expect(row).toMatchObject({ hint: expect.stringMatching(hint) });
});

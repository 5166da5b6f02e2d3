import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCampaignFile } from '../../src/campaign/file/file.ts';
import { readHeader } from '../../src/campaign/file/columns-of-rules.ts';
import { readNumberList } from '../../src/list/one-column.ts';
import { importList, messageOf, minimalCampaign, writeCampaign } from './campaign-folder.ts';
import { noise, textRows, workbook, workbookParts, zip, type WorkbookFixture } from './xlsx-fixture.ts';

const named = `${minimalCampaign}first_message: "Hello {{ name }}"\n`;
const header = '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c><c r="B1" t="inlineStr"><is><t>phone</t></is></c></row>';

/** The first cell of a row whose phone number is fine. */
async function shown(cell: string, more: Partial<WorkbookFixture> = {}): Promise<string | undefined> {
  const row = `<row r="2">${cell}<c r="B2"><v>12125550101</v></c></row>`;
  const { rows } = await importList(
    minimalCampaign.replace('phone: phone', 'phone: phone, default_region: US'),
    workbook({ sheets: { Sheet1: header + row }, ...more }),
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.verdict === 'accepted' ? rows[0].cells[0] : rows[0]?.hint;
}

test('rows of a workbook become recipients, with the rows of the sheet as lines', async () => {
  const rows = textRows([['Contacts of the week'], [], ['name', 'phone', 'note'], ['Ana', '+12125550101'], [], ['', '+12125550102', 'x']]);
  const list = workbook({ sheets: { Sheet1: rows } });
  const { rows: read, columns } = await importList(named, list);
  expect(columns).toEqual(['name', 'phone', 'note']);
  expect(read.map((row) => [row.row, row.line, row.verdict, row.cells])).toEqual([
    [1, 4, 'accepted', ['Ana', '+12125550101', '']],
    [2, 6, 'rejected', ['', '+12125550102', 'x']],
  ]);
  const { campaignPath } = await writeCampaign(named, list);
  expect((await readHeader(await readCampaignFile(campaignPath))).notes).toEqual([
    'sheet "Sheet1" of an Excel workbook',
    'the header is line 3; 1 line above it left out',
  ]);
});

test('texts are read from the table of texts, in runs, without readings, and with what XML cannot hold', async () => {
  const strings = [
    'Ana & Ben',
    '<r><t>Zo</t></r><r><rPr/><t xml:space="preserve">ë </t></r><rPh><t>reading</t></rPh>',
    'a_x000D_b&#128512;',
  ];
  const at = (index: number): Promise<string | undefined> => shown(`<c r="A2" t="s"><v>${String(index)}</v></c>`, { strings });
  expect(await at(0)).toBe('Ana & Ben');
  expect(await at(1)).toBe('Zoë ');
  expect(await shown('<c r="A2" t="inlineStr"><is><t>a_x000D_b&#128512;&lt;</t></is></c>')).toBe('a\rb😀<');
  expect(await shown('<c r="A2" t="inlineStr"><is><t><![CDATA[<b>]]></t></is></c>')).toBe('<b>');
});

test.each([
  ['<c r="A2" t="b"><v>1</v></c>', 'TRUE'],
  ['<c r="A2" t="b"><v>0</v></c>', 'FALSE'],
  ['<c r="A2" t="str"><f>B1&amp;"x"</f><v>fox</v></c>', 'fox'],
  ['<c r="A2" t="e"><f>1/0</f><v>#DIV/0!</v></c>', '#DIV/0!'],
  ['<c r="A2" t="d"><v>2026-11-30</v></c>', '2026-11-30'],
  ['<c r="A2"><f>1+1</f><v>2</v></c>', '2'],
  ['<c r="A2"/>', ''],
  ['<c r="A2"><v>12125550101</v></c>', '12125550101'],
  ['<c r="A2"><v>1.2125550101E10</v></c>', '12125550101'],
  ['<c r="A2"><v>4.5599999999999999E-2</v></c>', '0.0456'],
  ['<c r="A2"><v>0.10000000000000001</v></c>', '0.1'],
  ['<c r="A2"><v>-3</v></c>', '-3'],
  ['<c r="A2"><v>1.2345678901234568E17</v></c>', '1.23457E+17'],
  ['<c r="A2"><v>1.0000000000000001E-7</v></c>', '0.0000001'],
])('the cell %s reads %j', async (cell, text) => {
  expect(await shown(cell)).toBe(text);
});

test.each([
  ['00000', '2134', '02134'],
  ['0.00', '1234.5', '1234.50'],
  ['#,##0.00', '1234567.891', '1,234,567.89'],
  ['#,##0', '-1234567', '-1,234,567'],
  ['#,##0', '123', '123'],
  ['"$"#,##0.00', '12.5', '$12.50'],
  ['[$€-407]\\ 0.00', '1.005', '€ 1.01'],
  ['#,##0.00_);(#,##0.00)', '-5', '(5.00)'],
  ['0%', '0.256', '26%'],
  ['0.0##', '1.5', '1.5'],
  ['000\\-00\\-0000', '123456789', '123-45-6789'],
  ['(000) 000-0000', '2125550101', '(212) 555-0101'],
  ['[<=9999999]###\\-####;\\(###\\)\\ ###\\-####', '2125550101', '(212) 555-0101'],
  ['[<=9999999]###\\-####;\\(###\\)\\ ###\\-####', '5550101', '555-0101'],
  ['0.00E+00', '12125550101', '12125550101'],
  ['# ?/?', '0.5', '0.5'],
  ['#,##0,', '1500000', '1500000'],
  ['0;-0;"none"', '0', '0'],
  ['0', '-0.4', '0'],
  ['@', '7', '7'],
  ['yyyy\\-mm\\-dd', '46356', '2026-11-30'],
  ['d. mmmm yyyy', '46356', '2026-11-30'],
  ['m/d/yy h:mm', '46356.395833333336', '2026-11-30T09:30'],
  ['m/d/yy h:mm:ss', '46356.39592592592', '2026-11-30T09:30:08'],
  ['h:mm AM/PM', '0.625', '15:00'],
  ['[h]:mm', '1.25', '30:00'],
  ['mmm-yy', '1', '1900-01-01'],
  ['yyyy-mm-dd', '61', '1900-03-01'],
  ['yyyy-mm-dd', '60', '60'],
  ['yyyy-mm-dd', '-1', '-1'],
  ['[Red]0.0', '2.25', '2.3'],
])('the format %j shows %s as %j', async (code, value, text) => {
  expect(await shown(`<c r="A2" s="1"><v>${value}</v></c>`, { formats: [code] })).toBe(text);
});

test('dates of a workbook that counts from 1904 are right', async () => {
  const cell = '<c r="A2" s="1"><v>44894</v></c>';
  expect(await shown(cell, { formats: ['yyyy-mm-dd'], from1904: true })).toBe('2026-11-30');
});

test.each([
  ['<v>1.2345678901234568E17</v>', '0', /scientific notation/],
  ['<v>12125550101</v>', '#,##0', /added decimals or separators/],
  ['<v>12125550101</v>', '0.00', /added decimals or separators/],
  ['<f>X1</f><v>#REF!</v>', '0', /error or a filler of a spreadsheet/],
  ['<f>"+1212"&amp;C1</f>', '0', /a formula without a result/],
])('a number cell %s in the format %j is refused as damaged', async (content, code, hint) => {
  const type = content.includes('#REF') ? ' t="e"' : '';
  const list = workbook({
    sheets: {
      Sheet1: `${header}<row r="2"><c r="A2" t="str"><v>Ana</v></c><c r="B2" s="1"${type}>${content}</c></row>`,
    },
    formats: [code],
  });
  const { rows } = await importList(named, list);
  expect(rows[0]).toMatchObject({ verdict: 'rejected', column: 'phone', hint: expect.stringMatching(hint) });
});

test('a sheet without references, with a prefix, and with cells left out reads the same', async () => {
  const plain =
    '<x:row><x:c t="inlineStr"><x:is><x:t>name</x:t></x:is></x:c><x:c t="inlineStr"><x:is><x:t>phone</x:t></x:is></x:c></x:row>';
  const row = '<x:row><x:c t="str"><x:v>Ana</x:v></x:c><x:c><x:v>12125550101</x:v></x:c><x:c/></x:row>';
  const yaml = named.replace('phone: phone', 'phone: phone, default_region: US');
  const { rows } = await importList(yaml, workbook({ sheets: { Sheet1: plain + row }, prefix: 'x' }));
  expect(rows).toMatchObject([{ row: 1, line: 2, cells: ['Ana', '12125550101'], verdict: 'accepted' }]);
});

test('the first sheet that is not hidden is read, or the one that is named', async () => {
  const sheet = (name: string): string =>
    textRows([
      ['name', 'phone'],
      [name, '+12125550101'],
    ]);
  const list = workbook({
    sheets: { Old: sheet('Old'), This: sheet('This'), 'Last & least': sheet('Last') },
    hidden: ['Old'],
  });
  const readWith = async (yaml: string) => (await importList(yaml, list)).rows[0]?.cells[0];
  const naming = (sheetName: string): string => named.replace('phone: phone', `phone: phone, sheet: "${sheetName}"`);
  expect(await readWith(named)).toBe('This');
  expect(await readWith(naming('Old'))).toBe('Old');
  expect(await readWith(naming('Last & least'))).toBe('Last');
  expect(await messageOf(importList(naming('Thsi'), list))).toMatch(
    /list\.csv: there is no sheet "Thsi"\. Did you mean "This"\? The sheets are "Old", "This", "Last & least"/,
  );
  const { campaignPath } = await writeCampaign(named, list);
  expect((await readHeader(await readCampaignFile(campaignPath))).notes).toEqual([
    'sheet "This" of an Excel workbook, the first of 2; list.sheet in the campaign file names another',
  ]);
});

test('a row with more cells than the header is malformed, and empty cells at its end are not', async () => {
  const list = workbook({
    sheets: {
      Sheet1: textRows([
        ['name', 'phone'],
        ['Ana', '+12125550101', 'x'],
        ['Ben', '+12125550102', ' '],
        ['Cem', '+12125550103', ''],
      ]),
    },
  });
  const { rows } = await importList(named, list);
  expect(rows.map((row) => (row.verdict === 'accepted' ? 'accepted' : row.reason))).toEqual(['malformed_row', 'malformed_row', 'accepted']);
});

const simple = workbookParts({
  sheets: {
    Sheet1: textRows([
      ['name', 'phone'],
      ['Ana', '+12125550101'],
    ]),
  },
});

test.each(
  // prettier-ignore
  [
    ['a truncated workbook', zip(simple).subarray(0, 400), /damaged/],
    ['a ZIP archive', zip({ 'list.csv': 'phone\n1\n' }), /this is a ZIP archive, not a list/],
    ['a Word document', zip({ '[Content_Types].xml': '<a/>', 'word/document.xml': '<a/>' }), /this is a Word document \(\.docx\)/],
    ['an OpenDocument file', zip({ mimetype: 'x', 'content.xml': '<a/>' }), /this is an OpenDocument file/],
    ['a binary workbook', zip({ '[Content_Types].xml': '<a/>', 'xl/workbook.bin': '' }), /this is a binary Excel workbook \(\.xlsb\)/],
    ['broken XML', zip({ ...simple, 'xl/worksheets/sheet1.xml': '<worksheet><sheetData><row' }), /damaged \(unclosed tag/],
    ['a missing sheet', zip(Object.fromEntries(Object.entries(simple).filter(([name]) => !name.includes('sheet1')))),
      /its part xl\/worksheets\/sheet1\.xml is missing/],
    ['a part that says to be smaller than it is', zip(simple, { 'xl/worksheets/sheet1.xml': 10 }), /damaged \(too many bytes/],
    ['a part that unfolds', zip({ ...simple, 'xl/worksheets/sheet1.xml': Buffer.alloc(40_000_000, ' ') }), /unfolds to 40 MB/],
    ['XML without an end', zip({ ...simple, 'xl/sharedStrings.xml': `<sst><si><t>${noise(5_000_000)}</t></si></sst>` }),
      /a part of it does not end/],
    ['a cell outside of the sheet',
      zip({ ...simple, 'xl/worksheets/sheet1.xml': '<worksheet><row><c r="ZZZZ1"><v>1</v></c></row></worksheet>' }),
      /outside of the sheet/],
    ['no sheet', zip({ ...simple, 'xl/workbook.xml': '<workbook><sheets/></workbook>' }), /no sheet with cells/],
    ['an empty sheet', workbook({ sheets: { Sheet1: '' } }), /the list is empty/],
  ],
)('%s is refused with a sentence', async (_, list, pattern) => {
  const message = await messageOf(importList(named, list));
  expect(message).toMatch(/^ListFileError: /);
  expect(message).toMatch(pattern);
});

test('a document type with entities that unfold is not read', async () => {
  const bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>';
  const sheet = (simple['xl/worksheets/sheet1.xml'] ?? '').replace('<worksheet', `${bomb}<worksheet`).replace('Ana', '&b;');
  const outcome = await importList(named, zip({ ...simple, 'xl/worksheets/sheet1.xml': sheet })).then(
    ({ rows }) => rows.map((row) => row.cells[0]),
    (error: unknown) => (error as Error).name,
  );
  expect(['ListFileError', ['&b;']]).toContainEqual(outcome);
});

test('a large sheet is read row by row, each once and in order', async () => {
  const count = 20_000;
  const rows = Array.from(
    { length: count },
    (_, n) =>
      `<row r="${String(n + 2)}"><c r="A${String(n + 2)}" t="s"><v>${String(n % 3)}</v></c><c r="B${String(n + 2)}"><v>${String(12015550100 + n)}</v></c></row>`,
  );
  const list = workbook({ sheets: { Sheet1: header + rows.join('') }, strings: ['Ana', 'Bé', 'Cem'] });
  const { rows: read } = await importList(minimalCampaign.replace('phone: phone', 'phone: phone, default_region: US'), list);
  expect(read.map((row) => row.row)).toEqual(Array.from({ length: count }, (_, n) => n + 1));
  expect(read.every((row, n) => row.line === n + 2 && row.cells[0] === ['Ana', 'Bé', 'Cem'][n % 3])).toBe(true);
});

test('whatever the cells hold, a workbook gives them back unchanged', async () => {
  // XML cannot hold control characters, and reads every kind of line break as one.
  const cell = fc.string({
    unit: fc.constantFrom('a', 'é', '😀', '"', ',', '<', '&', ']]>', '\n', ' ', '='),
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 10 }), async (cells) => {
      const list = workbook({ sheets: { Sheet1: textRows([['note', 'phone'], ...cells.map((text) => [text, 'x'])]) } });
      const { rows } = await importList(minimalCampaign, list);
      expect(rows.map((row) => row.cells)).toEqual(cells.map((text) => [text, 'x']));
    }),
    { numRuns: 60, seed: 31 },
  );
});

test('numbers of a do-not-call list are read from a workbook', async () => {
  const { listPath } = await writeCampaign(
    minimalCampaign,
    workbook({
      sheets: {
        Sheet1: textRows([
          ['Name', 'Phone'],
          ['Ana', '+12125550101'],
        ]),
      },
    }),
  );
  const found: (string | null)[] = [];
  for await (const rows of readNumberList({ path: listPath, column: 'phone', region: null })) found.push(...rows.map(({ e164 }) => e164));
  expect(found).toEqual(['+12125550101']);
});

test('what no text may hold ends its row alone in a workbook, too, and a mark that cannot be seen in an id', async () => {
  const cells: [id: string, name: string, said: string | null][] = [
    ['1', 'Ann_x0000_Lee', 'the cell holds a NUL (U+0000); remove it'],
    ['2', 'Bea_xD800_', 'the cell holds half a character (U+D800); remove it'],
    ['3', 'Cyd_x0007_', 'the cell holds the control character (U+0007); remove it'],
    ['4', 'Ed_xFFFD_', 'the cell holds U+FFFD, which stands for letters that were lost; remove it'],
    ['5\u200f', 'Flo', 'the cell holds a mark that cannot be seen (U+200F); remove it'],
    ['6', 'a_x000D_\nb_x0009_\u200f_xD83D__xDE00_', null],
  ];
  const rows = cells.map(([id, name], n) => [id, name, `+1212555010${n}`]);
  const yaml = named.replace('phone: phone', 'phone: phone, id: id');
  const read = await importList(yaml, workbook({ sheets: { Leads: textRows([['id', 'name', 'phone'], ...rows]) } }));
  expect(read.rows.map((row) => (row.verdict === 'accepted' ? null : row.hint))).toEqual(cells.map(([, , said]) => said));
  expect(read.rows.map((row) => (row.verdict === 'accepted' ? row.cells[1] : row.reason))).toEqual([
    ...Array.from({ length: 5 }, () => 'malformed_row'),
    'a\r\nb\t\u200f😀',
  ]);
  const header = workbook({
    sheets: {
      Leads: textRows([
        ['id', 'name', 'phone', 'a_x0000_'],
        ['1', 'Ana', '+12125550101'],
      ]),
    },
  });
  expect(await messageOf(importList(yaml, header))).toMatch(/the header cannot be used: column 4: the cell holds a NUL/);
});

import { mkdir, rm } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCampaignFile } from '../../src/campaign/file/file.ts';
import { ownFields } from '../../src/list/row-fields.ts';
import { FictionalNumbers } from '../../src/list/fictional-numbers.ts';
import { longestCell } from '../../src/list/format/record.ts';
import { readHeader } from '../../src/campaign/file/columns-of-rules.ts';
import { RowIndex } from '../../src/list/row-index.ts';
import { rejectionReasons } from '../../src/rules/outcome.ts';
import { ListFileError } from '../../src/shared/input/errors.ts';
import { readPhoneNumber } from '../../src/shared/input/phone-number.ts';
import { isRefusedNumber, magicBehaviour } from '../../src/sandbox/core/telephony/callee.ts';
import { importList, messageOf, minimalCampaign, writeCampaign } from './campaign-folder.ts';

const fullCampaign = `id: test
agent_id: agent_1
from_phone_number_id: pn_1
list: { file: list.csv, phone: phone, id: id, timezone: tz, country: country, default_region: US }
hours: any
first_message: "Hello {{ name }}"
`;
/** Reasons that need a column which this campaign does not name. */
const ofOtherColumns: ReadonlySet<string> = new Set([
  'missing_consent',
  'invalid_zip',
  'invalid_state',
  ...ownFields.map(({ reason }) => reason),
]);
const fullHeader = 'id,name,phone,country,tz\n';

async function verdicts(list: string | Uint8Array, yaml = fullCampaign) {
  const { rows } = await importList(yaml, list);
  return rows.map((row) => [row.row, row.line, row.verdict === 'accepted' ? row.e164 : `${row.reason} ${String(row.column)}`]);
}

async function refusal(list: string | Uint8Array, yaml = fullCampaign): Promise<string> {
  const message = await messageOf(importList(yaml, list));
  expect(message).toMatch(/^(ListFileError|CampaignFileError): /);
  return message;
}

test('good rows become recipients with number, id and zones', async () => {
  const { rows, columns } = await importList(
    fullCampaign,
    `${fullHeader}A1, Ana ,(212) 555-0101,,\n A2 ,Ben,020 7946 0101,gb,\n,Cem,+18505550101,,America/Chicago\n`,
  );
  expect(columns).toEqual(['id', 'name', 'phone', 'country', 'tz']);
  expect(rows).toEqual([
    {
      row: 1,
      line: 2,
      cells: ['A1', ' Ana ', '(212) 555-0101', '', ''],
      verdict: 'accepted',
      externalId: 'A1',
      e164: '+12125550101',
      zones: ['America/New_York'],
      country: 'US',
      regions: ['NY'],
    },
    expect.objectContaining({
      row: 2,
      externalId: 'A2',
      e164: '+442079460101',
      zones: ['Europe/London'],
      country: 'GB',
      regions: null,
    }),
    expect.objectContaining({
      row: 3,
      externalId: null,
      e164: '+18505550101',
      zones: ['America/Chicago'],
      regions: ['FL'],
    }),
  ]);
});

test('each bad row keeps its place, its cells and one reason, and good rows go on', async () => {
  const list = `${fullHeader}1,Ana,,,
2,Ana,call me,,
3,Ana,020 7946 0102,UK,
4,Ana,2125550104,,EST
5,,2125550105,,
6,Ana,2125550106
7,Ana,2125550107,,
8,Ana,+1 212 555 0107,,
7,Ana,2125550109,,
10,Ana,2125550110,,
11,Ana,+15655550111,,
`;
  expect(await verdicts(list)).toEqual([
    [1, 2, 'missing_phone phone'],
    [2, 3, 'invalid_phone phone'],
    [3, 4, 'invalid_country country'],
    [4, 5, 'invalid_timezone tz'],
    [5, 6, 'missing_value name'],
    [6, 7, 'malformed_row null'],
    [7, 8, '+12125550107'],
    [8, 9, 'duplicate_phone phone'],
    [9, 10, 'duplicate_id id'],
    [10, 11, '+12125550110'],
    [11, 12, 'unknown_range phone'],
  ]);
  const { rows } = await importList(fullCampaign, list);
  expect(new Set(rows.flatMap((row) => (row.verdict === 'rejected' ? [row.reason] : [])))).toEqual(
    new Set(rejectionReasons.filter((reason) => !ofOtherColumns.has(reason))),
  );
  expect(rows[5]?.cells).toEqual(['6', 'Ana', '2125550106']);
  expect(rows[7]).toMatchObject({ e164: '+12125550107', hint: expect.stringContaining('row 7 ') });
});

test('when several things are wrong, the first of the documented order is told', async () => {
  const list = `${fullHeader}1,,,XX,EST,extra\n1,,,,EST\n1,,2125550101,XX,EST\n1,,2125550101,,EST\n1,,2125550101,,\n1,Ana,2125550101,,\n1,Ana,2125550101,,\n`;
  expect((await verdicts(list)).map(([, , verdict]) => verdict)).toEqual([
    'malformed_row null',
    'missing_phone phone',
    'invalid_country country',
    'invalid_timezone tz',
    'missing_value name',
    '+12125550101',
    'duplicate_phone phone',
  ]);
});

test('a number or an id in a rejected row is nobody else’s duplicate', async () => {
  const list = `${fullHeader}1,,2125550101,,\n1,Ana,2125550101,,\n2,Ben,2125550101,,\n2,Ben,2125550102,,\n`;
  expect((await verdicts(list)).map(([, , verdict]) => verdict)).toEqual([
    'missing_value name',
    '+12125550101',
    'duplicate_phone phone',
    '+12125550102',
  ]);
});

test.each([
  ['America/Chicago', ['America/Chicago']],
  ['utc', null],
  ['UTC', ['UTC']],
  ['EST', null],
  ['EST5EDT', null],
  ['+05:00', null],
  ['America/Atlantis', null],
  ['  ', ['America/New_York']],
])('the zone cell %j gives %j', async (cell, zones) => {
  const { rows } = await importList(fullCampaign, `${fullHeader}1,Ana,2125550101,,${cell}\n`);
  expect(rows[0]).toMatchObject(zones === null ? { reason: 'invalid_timezone' } : { verdict: 'accepted', zones });
});

test('quoted newlines, mixed line ends, blank lines and a byte order mark keep rows and lines right', async () => {
  const list =
    '\ufeffid,name,phone,country,tz\r\n\r\n1,"Ana\nMaria",2125550101,,\n\n2,"Ben\r\nB",2125550102,,\r\n3,Cem,2125550103,,\r4,Dee,2125550104,,';
  expect(await verdicts(list)).toEqual([
    [1, 3, '+12125550101'],
    [2, 6, '+12125550102'],
    [3, 8, '+12125550103'],
    [4, 9, '+12125550104'],
  ]);
});

test.each([',', ';', '\t', '|'])('the delimiter %j is read when the campaign file names it', async (delimiter) => {
  const yaml = minimalCampaign.replace('phone: phone', `phone: phone, delimiter: ${JSON.stringify(delimiter)}`);
  const { rows } = await importList(yaml, `name${delimiter}phone\n"a${delimiter}b"${delimiter}+12125550101\n`);
  expect(rows[0]).toMatchObject({ cells: [`a${delimiter}b`, '+12125550101'], verdict: 'accepted' });
});

test('quotes inside an unquoted cell and doubled quotes are text', async () => {
  const { rows } = await importList(
    fullCampaign,
    `${fullHeader}1,5" Ana,2125550101,,\n2,"""Ben"" B",2125550102,,\n3,"""\nC",2125550103,,\n`,
  );
  expect(rows.map((row) => [row.verdict, row.cells[1]])).toEqual([
    ['accepted', '5" Ana'],
    ['accepted', '"Ben" B'],
    ['accepted', '"\nC'],
  ]);
});

test('text after a closing quote spoils its row only', async () => {
  const { rows } = await importList(fullCampaign, `${fullHeader}1,"Ana" B,2125550101,,\n2,Ben,2125550102,,\n`);
  expect(rows[0]).toMatchObject({
    reason: 'malformed_row',
    column: 'name',
    cells: ['1', '"Ana" B', '2125550101', '', ''],
  });
  expect(rows[1]).toMatchObject({ verdict: 'accepted' });
});

test('a quote that is never closed refuses the file and names the row where it opened', async () => {
  const unclosed = `${fullHeader}1,Ana,2125550101,,\n\n2,"Ben,2125550102,,\n3,Cem,2125550103,,\n`;
  expect(await refusal(unclosed)).toMatch(/list\.csv: row 2 \(line 4\) opens a quote \("\) that is never closed/);
  const closedByTheNext = `${fullHeader}1,"Ana,2125550101,,\n2,"Ben",2125550102,,\n`;
  expect(await refusal(closedByTheNext)).toMatch(/row 1 \(line 2\) opens a quote \("\) that is not closed where its cell ends/);
  const endless = `${fullHeader}1,Ana,2125550101,,\n2,"Ben${'\nrow'.repeat(400_000)}`;
  expect(await refusal(endless)).toMatch(/row 2 \(line 3\) runs on for more than 1000000 characters/);
  expect(await refusal('id,"phone\n1,2\n')).toMatch(/the header \(line 1\) opens a quote/);
});

test('long cells are kept up to the documented length, and refused as a row beyond it', async () => {
  const cells = [10_000, longestCell, longestCell + 1].map((length) => 'é'.repeat(length));
  const { rows } = await importList(minimalCampaign, `note,phone\n${cells.map((cell, n) => `${cell},+1212555010${String(n)}\n`).join('')}`);
  expect(rows.map((row) => (row.verdict === 'accepted' ? 'accepted' : `${row.reason} ${String(row.column)}`))).toEqual([
    'accepted',
    'accepted',
    'malformed_row note',
  ]);
  expect(rows.map((row) => row.cells[0])).toEqual(cells);
});

test('NUL bytes and bytes that are not UTF-8 spoil their row only', async () => {
  const bytes = Buffer.concat([
    Buffer.from(`${fullHeader}1,A\0na,2125550101,,\n2,Ren`),
    Buffer.from([0xe9]),
    Buffer.from(',2125550102,,\n3,René,2125550103,,\n'),
  ]);
  const { rows } = await importList(fullCampaign, bytes);
  expect(rows.map((row) => (row.verdict === 'accepted' ? row.e164 : row.hint))).toEqual([
    expect.stringMatching(/^the cell holds a NUL \(U\+0000\); remove it$/),
    expect.stringMatching(/no text in the encoding of the file; save the list as "CSV UTF-8"/),
    '+12125550103',
  ]);
});

test.each([
  ['an empty file', '', /the list is empty/],
  ['blank lines', '\n\r\n\n', /the list is empty/],
  ['a byte order mark alone', '\ufeff', /the list is empty/],
  ['a header alone', fullHeader, /has a header and no rows/],
  ['a header and blank lines', `${fullHeader}\n\n`, /has a header and no rows/],
  ['two columns of one name', 'phone,name,name\n1,2,3\n', /columns 2 and 3 have the same name "name"/],
  ['a header with NUL', 'id,ph\0one\n1,2\n', /the header cannot be used: column 2: .*NUL/],
  ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), /this is a PNG picture/],
  ['a photograph', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), /this is a JPEG picture/],
  ['a damaged workbook', Buffer.from('PK\x03\x04....[Content_Types].xml'), /ZIP archive or Excel workbook is damaged/],
  ['an old workbook', Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), /old Excel workbook/],
  ['a document', Buffer.from('%PDF-1.7'), /this is a PDF document/],
  ['gzip', Buffer.from([0x1f, 0x8b, 8]), /this is a gzip archive/],
  ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x69, 0, 0, 0]), /this is text in UTF-32/],
  ['a web page', '<!DOCTYPE html><html>', /this is a web page/],
  ['JSON', '[{"phone": "+12125550101"}]', /this is JSON/],
  ['noise', Buffer.from(Array.from({ length: 256 }, (_, n) => n)), /this is binary data/],
])('%s named .csv is refused as what it is', async (_, list, pattern) => {
  expect(await refusal(list)).toMatch(pattern);
});

test('a list that is missing or a folder is refused with its path', async () => {
  const { campaignPath, listPath } = await writeCampaign(minimalCampaign, 'phone\n');
  const file = await readCampaignFile(campaignPath);
  await rm(listPath);
  expect(await messageOf(readHeader(file))).toBe(`ListFileError: ${listPath}: there is no such file; check the path`);
  await mkdir(listPath);
  expect(await messageOf(readHeader(file))).toMatch(/list\.csv: this is a folder/);
});

test('a column named __proto__ or constructor is a column like any other', async () => {
  const yaml = `${minimalCampaign}first_message: "Hello {{ constructor }}"\n`;
  const { rows } = await importList(yaml, '__proto__,constructor,phone\nx,,+12125550101\ny,Ana,+12125550102\n');
  expect(rows.map((row) => (row.verdict === 'accepted' ? row.e164 : `${row.reason} ${String(row.column)}`))).toEqual([
    'missing_value constructor',
    '+12125550102',
  ]);
});

test('rows on the edges of the chunks that are read come out once', async () => {
  const count = 20_000;
  const list = `note,phone\n${Array.from({ length: count }, (_, n) => `"r${String(n)}, ""é""\r\n",+1${String(201 + (n % 700))}5550101\n`).join('')}`;
  const { rows } = await importList(minimalCampaign, list);
  expect(rows.map((row) => row.row)).toEqual(Array.from({ length: count }, (_, n) => n + 1));
  expect(rows.every((row, n) => row.cells[0] === `r${String(n)}, "é"\r\n`)).toBe(true);
  expect(rows.at(-1)?.line).toBe(2 * count);
});

const cell = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '+12125550101', '"', 'a"b', ',', '\n', '\r\n', '\r', '\0', '\ufeff', '\ufffd', '=1+1', ' '),
);

test('whatever the cells hold, every data row comes out once, in order and unchanged', async () => {
  const width = 3;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 1, maxLength: width + 1 }), { minLength: 1, maxLength: 20 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      async (written, lineEnd) => {
        const body = stringify(written, { quoted: true, quoted_empty: true, record_delimiter: lineEnd });
        const { rows } = await importList(minimalCampaign, `note,phone,other${lineEnd}${body}`);
        expect(rows.map((row) => row.row)).toEqual(written.map((_, n) => n + 1));
        // An empty cell too many is left out, and one too few is empty, where the number is not missing.
        const fitted = written.map((row) => (row[width] === '' || row.length === 2 ? [...row, ''].slice(0, width) : row));
        expect(rows.map((row) => row.cells)).toEqual(fitted);
        for (const row of rows) if (row.cells.length !== width) expect(row).toMatchObject({ reason: 'malformed_row' });
      },
    ),
    { numRuns: 150, seed: 11 },
  );
});

test('whatever the bytes are, a list is read row by row or refused with a sentence', async () => {
  const byte = fc.oneof(fc.constantFrom(...Buffer.from('",\n\r a1+')), fc.integer({ min: 0, max: 255 }));
  await fc.assert(
    fc.asyncProperty(fc.array(byte, { maxLength: 200 }), async (bytes) => {
      try {
        const yaml = minimalCampaign.replace('phone: phone', 'phone: phone, encoding: latin1');
        const { rows } = await importList(yaml, Buffer.concat([Buffer.from('note,phone\n'), Buffer.from(bytes)]));
        expect(rows.map((row) => row.row)).toEqual(rows.map((_, n) => n + 1));
      } catch (error) {
        expect(error).toBeInstanceOf(ListFileError);
      }
    }),
    { numRuns: 300, seed: 12 },
  );
});

test('the state comes from its column, as a code or a name, else from the area code', async () => {
  const yaml = fullCampaign.replace('country: country,', 'country: country, state: state,');
  const list = `id,name,phone,country,tz,state
1,Ana,2125550101,,,fl
2,Ben,2125550102,,,New Jersey
3,Cem,2125550103,,,
4,Dee,2125550104,,,Ontario
5,Eve,6475550105,CA,,on
6,Fay,8005550106,,,
7,Gus,2085550107,,,
`;
  const { rows } = await importList(yaml, list);
  expect(rows.map((row) => (row.verdict === 'accepted' ? row.regions : [row.reason, row.column, row.hint]))).toEqual([
    ['FL'],
    ['NJ'],
    ['NY'],
    ['invalid_state', 'state', '"Ontario" is no state of US; write its two-letter code, or leave the cell empty'],
    ['ON'],
    // Toll-free: nothing is known, so the law of every state holds.
    null,
    ['ID'],
  ]);
});

test('whoever has no known zone gets the fallback zone that the file names, and none without one', async () => {
  const list = 'phone\n+870773111632\n';
  const zonesWith = async (more: string) => {
    const { rows } = await importList(minimalCampaign.replace('phone: phone', `phone: phone${more}`), list);
    return rows.map(({ zones }) => zones);
  };
  expect(await zonesWith('')).toEqual([[]]);
  expect(await zonesWith(', fallback_timezone: Europe/London')).toEqual([['Europe/London']]);
});

test('the first row of each key is remembered through growth, for numbers and texts alike', () => {
  const numbers = new RowIndex();
  const texts = new RowIndex();
  const count = 20_000;
  const rows = Array.from({ length: count }, (_, index) => index + 1);
  // Neighbouring numbers, and numbers that differ only above 32 bits.
  const numberOf = (row: number) => (row % 2 === 0 ? 12_125_550_000 + row : row * 4_294_967_296);
  const isNew = (row: number) => numbers.rowOf(numberOf(row), row) === null && texts.rowOf(`id-${row}`, row) === null;
  expect(rows.filter((row) => !isNew(row))).toEqual([]);
  expect(rows.map((row) => numbers.rowOf(numberOf(row), 7))).toEqual(rows);
  expect(rows.map((row) => texts.rowOf(`id-${row}`))).toEqual(rows);
});

test('asking without a row stores nothing', () => {
  const index = new RowIndex();
  expect(index.rowOf(5)).toBeNull();
  expect(index.rowOf(5, 1)).toBeNull();
  expect(index.rowOf(5, 2)).toBe(1);
  expect(index.rowOf('')).toBeNull();
});

function takeAll(numbers: FictionalNumbers, like: string): string[] {
  const taken: string[] = [];
  for (let next = numbers.take(like); next !== null; next = numbers.take(like)) taken.push(next);
  return taken;
}

test('every number is kept for fiction, valid, without a fate of its own, and handed out once', () => {
  const numbers = new FictionalNumbers('a');
  const { capacity } = numbers;
  const taken = takeAll(numbers, '+493012345678');
  expect(capacity).toBeGreaterThan(25_000);
  expect(taken).toHaveLength(capacity);
  expect(new Set(taken).size).toBe(capacity);
  expect(taken.filter((number) => !/^\+1\d{3}55501\d\d$|^\+442079460\d{3}$/.test(number))).toEqual([]);
  expect(taken.filter((number) => magicBehaviour(number, 1) !== null || isRefusedNumber(number))).toEqual([]);
  expect(taken.filter((number) => !readPhoneNumber(number, null).ok)).toEqual([]);
});

test('a number of the same area or country stands for another while there are any', () => {
  const numbers = new FictionalNumbers('a');
  expect(numbers.take('+13125550123')).toMatch(/^\+131255501\d\d$/);
  expect(numbers.take('+442079461234')).toMatch(/^\+442079460\d{3}$/);
  const chicago = Array.from({ length: 100 }, () => numbers.take('+13125550123') ?? '');
  expect(new Set(chicago).size).toBe(100);
  expect(chicago.filter((number) => number.startsWith('+1312'))).toHaveLength(68);
});

test('the seed decides which area helps out', () => {
  const firstOf = (seed: string): string | null => new FictionalNumbers(seed).take('+493012345678');
  expect(firstOf('a')).toBe(firstOf('a'));
  expect(new Set(['a', 'b', 'c', 'd', 'e'].map(firstOf)).size).toBeGreaterThan(1);
});

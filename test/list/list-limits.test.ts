import { expect, test } from 'vitest';
import { findHeader } from '../../src/list/header.ts';
import type { ListRecord } from '../../src/list/format/record.ts';
import { WorkbookReader } from '../../src/list/format/xlsx/workbook-reader.ts';
import { importList, messageOf, minimalCampaign, writeCampaign } from './campaign-folder.ts';
import { noise, textRows, workbook, workbookParts, zip } from './xlsx-fixture.ts';

const named = `${minimalCampaign}first_message: "Hello {{ name }}"\n`;
const people = textRows([
  ['name', 'phone'],
  ['Ana', '+12125550101'],
]);

function withStrings(strings: string): Buffer {
  return zip({ ...workbookParts({ sheets: { Sheet1: people } }), 'xl/sharedStrings.xml': `<sst>${strings}</sst>` });
}

async function gather(chunks: AsyncIterable<ListRecord[]>): Promise<ListRecord[]> {
  const records: ListRecord[] = [];
  for await (const chunk of chunks) records.push(...chunk);
  return records;
}

test('a workbook of millions of empty texts is refused with a sentence', async () => {
  const list = withStrings(`<!-- ${noise(500_000)} -->${'<si/>'.repeat(12_050_000)}`);
  expect(await messageOf(importList(named, list))).toMatch(/^ListFileError: .*damaged \(it holds too many texts\)/);
});

test('50,000 rows with a cell in the last column of the sheet cost no more than their text', async () => {
  const count = 50_000;
  const rows = Array.from({ length: count }, (_, index) => {
    const row = String(index + 2);
    return `<row r="${row}"><c r="A${row}" t="str"><v>Ana</v></c><c r="XFD${row}"><v>1</v></c></row>`;
  });
  const sheet = workbookParts({ sheets: { Sheet1: textRows([['name', 'phone']]) + rows.join('') } });
  const { rows: read } = await importList(named, zip(sheet));
  expect(read).toHaveLength(count);
  expect(read.every(({ cells }) => cells.length === 3)).toBe(true);
  expect(read[0]).toMatchObject({
    cells: ['Ana', '', '1'],
    reason: 'malformed_row',
    hint: 'the cell XFD2 stands to the right of the header, which ends with column B; empty it, or give its column a name',
  });
});

test('titles above the header may stand anywhere in their row', async () => {
  const title = '<row r="1"><c r="XFD1" t="str"><v>title</v></c></row>'.repeat(40);
  const { rows } = await importList(named, workbook({ sheets: { Sheet1: title + people } }));
  expect(rows.map(({ verdict, cells }) => [verdict, cells])).toEqual([['accepted', ['Ana', '+12125550101']]]);
});

test('a row of a workbook that holds more than a record of a list may is refused with a sentence', async () => {
  const strings = `<si><t>${'a'.repeat(32_767)}</t></si>`;
  const cells = Array.from({ length: 40 }, () => '<c t="s"><v>0</v></c>').join('');
  const parts = workbookParts({ sheets: { Sheet1: `${people}<row r="7">${cells}</row>` } });
  const list = zip({ ...parts, 'xl/sharedStrings.xml': `<sst>${strings}</sst>` });
  expect(await messageOf(importList(named, list))).toMatch(/row 7 holds more than 1000000 characters/);
});

test('a cell that is longer than cells can be is cut and refused, however long it is', async () => {
  const long = `<row r="3"><c r="A3" t="inlineStr"><is>${`<t>${'b'.repeat(100_000)}</t>`.repeat(30)}</is></c><c r="B3" t="str"><v>+12125550102</v></c></row>`;
  const { rows } = await importList(named, workbook({ sheets: { Sheet1: people + long } }));
  expect(rows.map(({ verdict }) => verdict)).toEqual(['accepted', 'rejected']);
  expect(rows[1]?.cells[0]).toHaveLength(32_768);
});

test('a workbook that takes too much memory ends the process that reads it, and nothing else', async () => {
  const many = Array.from({ length: 250_000 }, (_, index) => `<si><t>${noiseAt(index)}</t></si>`).join('');
  const { listPath } = await writeCampaign(named, withStrings(many));
  const reader = new WorkbookReader({ memoryMb: 16, answerMs: 120_000 });
  const layout = { kind: 'sheet', sheet: 'Sheet1', width: 0, recordsAbove: 0 } as const;
  const reading = (path: string) => gather(reader.read(path, layout, 10));
  expect(await messageOf(reading(listPath))).toMatch(/^ListFileError: .*takes more memory to read than any list should/);
  const { listPath: good } = await writeCampaign(named, workbook({ sheets: { Sheet1: people } }));
  expect(await reading(good)).toHaveLength(2);
});

function noiseAt(index: number): string {
  return (Math.imul(index + 1, 2_654_435_761) >>> 0).toString(36).padStart(24, 'x');
}

test('a workbook that takes too long to read is given up', async () => {
  const { listPath } = await writeCampaign(named, workbook({ sheets: { Sheet1: people } }));
  const reader = new WorkbookReader({ memoryMb: 512, answerMs: 1 });
  expect(await messageOf(reader.describe(listPath, undefined))).toMatch(/^ListFileError: .*takes more time to read than any list should/);
});

test('a reading that is left early leaves the process ready for the next one', async () => {
  const rows = Array.from({ length: 500 }, (_, index) => [`Ana ${String(index)}`, 'x']);
  const { listPath } = await writeCampaign(named, workbook({ sheets: { Sheet1: textRows([['name', 'phone'], ...rows]) } }));
  const reader = new WorkbookReader();
  const layout = { kind: 'sheet', sheet: 'Sheet1', width: 2, recordsAbove: 0 } as const;
  for await (const some of reader.read(listPath, layout, 10)) {
    expect(some).toHaveLength(10);
    break;
  }
  const all = await gather(reader.read(listPath, layout, 100));
  expect(all.map(({ row }) => row)).toEqual(Array.from({ length: 501 }, (_, index) => index));
});

test.each([1, 2])('980,000 columns in line %i of a list are refused by their number', async (line) => {
  const wide = `phone${','.repeat(979_999)}`;
  const { listPath: path } = await writeCampaign(named, `${line === 1 ? '' : 'title\n'}${wide}\n+12125550101\n`);
  const question = { path, names: ['phone', 'name'], delimiter: ',', sheet: undefined, defaultRegion: null };
  expect(await messageOf(findHeader(question))).toMatch(
    /the header cannot be used: column 16385: 980000 cells are more than the 16384 a row may have/,
  );
});

test('a list without the column that is named tells of its first columns alone', async () => {
  const columns = Array.from({ length: 10_000 }, (_, index) => `c${String(index)}`).join(',');
  const message = await messageOf(importList(named, `${columns}\n${'x,'.repeat(9_999)}\n`));
  expect(message.length).toBeLessThan(3_000);
  expect(message).toContain('and 9940 more');
});

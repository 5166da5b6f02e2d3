import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { ZipError } from 'hucre';
import { expect, test } from 'vitest';
import type { ResultRow } from '../../../src/presentation/results/columns.ts';
import { workbookBytes } from '../../../src/presentation/results/file.ts';
import { WorkbookArchive } from '../../../src/list/format/xlsx/archive.ts';
import { describeWorkbook, readSheetRecords } from '../../../src/list/format/xlsx/records.ts';
import { obeyed, poison } from '../../support/terminal-poison.ts';
import { messageOf } from '../../list/campaign-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { blankResult, rowsOf } from '../../list/result-row.ts';
import { called, write } from './write.ts';
import { holds } from '../../support/answers.ts';

async function readWorkbook(path: string, sheet = 'results'): Promise<string[][]> {
  const records: string[][] = [];
  const layout = { kind: 'sheet', sheet, width: 0, recordsAbove: 0 } as const;
  for await (const part of readSheetRecords(path, layout, 100)) for (const { cells } of part) records.push(cells);
  return records;
}

async function partOf(path: string, part: string): Promise<string> {
  const archive = await WorkbookArchive.open(path);
  const chunks: Buffer[] = [];
  for await (const chunk of await archive.read(part)) chunks.push(chunk as Buffer);
  archive.close();
  return Buffer.concat(chunks).toString('utf8');
}

test('JSON Lines hold nothing that a terminal obeys, and read back equal', async () => {
  const cells = [poison, 'Zoë 日本 \u{1f514} \\u202e'];
  const { path } = await write('r.jsonl', [{ ...blankResult, row: 1, cells, collected: { [poison]: poison } }], {
    format: 'jsonl',
    columns: ['phone', 'name'],
  });
  const text = await readFile(path, 'utf8');
  holds(text, ['Zoë 日本'], [obeyed]);
  expect(JSON.parse(text)).toMatchObject({ cells: { phone: cells[0], name: cells[1] }, collected: { [poison]: poison } });
});

test('JSON Lines hold one object per row, with instants in ISO form', async () => {
  const { path, rows } = await write('results.jsonl', [called, { ...blankResult, row: 8, cells: ['x', 'surplus'] }], { format: 'jsonl' });
  expect(rows).toBe(2);
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      ...called,
      cells: { phone: '+12125550101' },
      surplusCells: [called.cells[1]],
      firstDialedAt: '2026-01-02T03:04:05.006Z',
      lastDialedAt: '2026-01-03T00:00:00.000Z',
    },
    { ...blankResult, row: 8, cells: { phone: 'x' }, surplusCells: ['surplus'] },
  ]);
});

test('cells of JSON Lines are an object, whatever the columns are called', async () => {
  const columns = ['__proto__', '', 'column_2', '', '2026'];
  const results = [
    { ...blankResult, cells: ['a', 'b', 'c', 'd', 'e'] },
    { ...blankResult, cells: ['a'] },
  ];
  const { path } = await write('results.jsonl', results, { format: 'jsonl', columns });
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  const cells = lines.map((line) => Object.entries((JSON.parse(line) as { cells: object }).cells));
  const names = ['__proto__', 'carillon_column_2', 'column_2', 'column_4', '2026'];
  expect(new Map(cells[0])).toEqual(new Map(names.map((name, at) => [name, 'abcde'[at]])));
  expect(cells[1]).toEqual([['__proto__', 'a']]);
});

test('a workbook opens again with the cells of the list and what became of them', async () => {
  const { path } = await write('results.xlsx', [called, { ...blankResult, cells: ['', 'y'], reason: 'missing_phone' }], {
    format: 'xlsx',
    columns: ['phone', 'name'],
    collectedKeys: ['confirmed', 'seats', 'slots'],
    evaluationKeys: ['polite'],
  });
  const [header, first, second] = await readWorkbook(path);
  expect(header?.slice(0, 5)).toEqual(['phone', 'name', 'outcome', 'reason', 'attempts']);
  expect(Object.fromEntries(header?.map((name, at) => [name, first?.[at]]) ?? [])).toMatchObject({
    phone: '+12125550101',
    name: called.cells[1],
    outcome: 'completed',
    attempts: '2',
    first_dialed_at: '2026-01-02T03:04:05.006Z',
    duration_seconds: '61.5',
    'collected.confirmed': 'TRUE',
    'collected.seats': '3',
    'collected.slots': '["a",1]',
    'evaluation.polite': 'success',
  });
  expect(second?.slice(0, 4)).toEqual(['', 'y', 'rejected', 'missing_phone']);
  // Counts are numbers, numbers of people are texts.
  const sheet = await partOf(path, 'xl/worksheets/sheet1.xml');
  expect(sheet).toMatch(/<c r="E2"[^>]*><v>2<\/v>/);
  // What is edited stays text.
  const [, style = ''] = /<c r="A2" t="inlineStr" s="(\d+)"/.exec(sheet) ?? [];
  const styles = await partOf(path, 'xl/styles.xml');
  const formats = /<cellXfs.*?<\/cellXfs>/s.exec(styles)?.[0].match(/<xf [^>]*>/g) ?? [];
  const [, format = ''] = /numFmtId="(\d+)"/.exec(formats[Number(style)] ?? '') ?? [];
  expect(styles).toContain(`<numFmt numFmtId="${format}" formatCode="@"/>`);
});

test('no cell of a workbook is a formula, whatever it begins with, and none is altered', async () => {
  const risky = ['=1+1', '+12125550101', '-1', '@SUM(A1)', '\tx', '\rx', '=HYPERLINK("http://127.0.0.1")'];
  const results = risky.map((text) => ({ ...blankResult, cells: [text], detail: text, collected: { v: text } }));
  const { path } = await write('results.xlsx', results, { format: 'xlsx', columns: ['=phone'], collectedKeys: ['v'] });
  const [header, ...rows] = await readWorkbook(path);
  expect(header?.[0]).toBe('=phone');
  expect(rows.map((cells) => cells[0])).toEqual(risky);
  expect(rows.map((cells) => cells[5])).toEqual(risky);
  expect(rows.map((cells) => cells.at(-1))).toEqual(risky);
  expect(await partOf(path, 'xl/worksheets/sheet1.xml')).not.toMatch(/<f[ >]/);
});

test('any text survives in a workbook', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('_x000D_', '_x005F_x000D_', ' a ', '\n', 'a\r\nb', '&lt;', ']]>', '\u0000\u001f'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 8 }), async (cells) => {
      const results = cells.map((own) => ({ ...blankResult, cells: own }));
      const { path } = await write('results.xlsx', results, { format: 'xlsx', columns: ['a', 'b'] });
      const [, ...rows] = await readWorkbook(path);
      const keptOf = (cell: string) => String(Buffer.from(cell)).replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD');
      const kept = cells.map((own) => own.map(keptOf));
      expect(rows.map((row) => row.slice(0, 2))).toEqual(kept);
    }),
    { numRuns: 30, seed: 13 },
  );
});

test('a text longer than a cell may be is cut with a word about it, and CSV keeps it whole', async () => {
  const long = 'x'.repeat(40_000);
  const [, row] = await readWorkbook((await write('r.xlsx', [{ ...blankResult, cells: [long] }], { format: 'xlsx' })).path);
  expect(row?.[0]).toHaveLength(32_767);
  expect(row?.[0]).toMatch(/^x+ … \(cut: .*CSV and JSON Lines have the whole text\)$/);
  const csv = await readFile((await write('r.csv', [{ ...blankResult, cells: [long] }])).path, 'utf8');
  expect(csv).toContain(long);
});

test('a full sheet is followed by another with the same header', async () => {
  const results = Array.from({ length: 7 }, (_, n) => ({ ...blankResult, cells: [`+1212555010${n}`] }));
  const table = { columns: ['phone'], collectedKeys: [], evaluationKeys: [] };
  const chunks: Uint8Array[] = [];
  for await (const chunk of workbookBytes(rowsOf(results), table, 4)) chunks.push(chunk);
  const path = join(temporaryFolder(), 'r.xlsx');
  await writeFile(path, Buffer.concat(chunks));
  expect((await describeWorkbook(path, undefined)).notes[0]).toContain('the first of 3');
  const sheets = await Promise.all(['results', 'results_2', 'results_3'].map((name) => readWorkbook(path, name)));
  expect(sheets.map((rows) => rows.map((cells) => cells[0]))).toEqual([
    ['phone', '+12125550100', '+12125550101', '+12125550102'],
    ['phone', '+12125550103', '+12125550104', '+12125550105'],
    ['phone', '+12125550106'],
  ]);
});

test('more columns than a sheet holds are refused before anything is written', async () => {
  const columns = Array.from({ length: 16_384 }, (_, n) => `c${n}`);
  const { path, rows } = await write('r.csv', [], { columns });
  expect(rows).toBe(0);
  expect(await messageOf(write('r.xlsx', [], { columns, format: 'xlsx' }))).toMatch(/more columns than a sheet.*16384.*CSV/);
  expect((await readFile(path, 'utf8')).startsWith('c0,c1,')).toBe(true);
});

test('a workbook that grows beyond what Excel opens is refused with another way', async () => {
  async function* growing(): AsyncGenerator<ResultRow> {
    yield blankResult;
    // What the writer itself says after 4 GiB, which would take a minute to fill.
    throw new ZipError('ZIP uncompressed size exceeds the 4 GiB limit at "xl/worksheets/sheet1.xml".');
  }
  const refused = write('r.xlsx', [], { rows: growing(), format: 'xlsx' });
  expect(await messageOf(refused)).toMatch(/r\.xlsx: the results are more than the 4 GiB .*write CSV or JSON Lines/);
});

test.each(['csv', 'jsonl', 'xlsx'] as const)('%s: rows that fail, or a person who leaves, leave nothing behind', async (format) => {
  const folder = temporaryFolder();
  const path = join(folder, 'results');
  await writeFile(path, 'before');
  function* endless(): Generator<ResultRow> {
    for (let n = 0; ; n++) yield { ...blankResult, cells: [String(n)] };
  }
  const onRow = (rows: number): void => {
    if (rows === 2_000) throw new Error('left');
  };
  await expect(write('', [], { path, format, rows: rowsOf(endless()), onRow })).rejects.toThrow('left');
  async function* failing(): AsyncGenerator<ResultRow> {
    for (let n = 0; n < 2_000; n++) yield { ...blankResult, cells: [String(n)] };
    throw new Error('the database went away');
  }
  await expect(write('', [], { path, format, rows: failing() })).rejects.toThrow('the database went away');
  expect(await readFile(path, 'utf8')).toBe('before');
  expect(await readdir(folder)).toEqual(['results']);
});

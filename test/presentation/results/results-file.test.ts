import { chmod, link, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputFileError } from '../../../src/shared/input/errors.ts';
import type { ResultRow } from '../../../src/presentation/results/columns.ts';
import type { WriteResultsInput } from '../../../src/presentation/results/file.ts';
import { refuseToOverwrite } from '../../../src/presentation/results/whole-file.ts';
import { importList, messageOf, minimalCampaign } from '../../list/campaign-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { blankResult as blank } from '../../list/result-row.ts';
import { called, write as writeFileOf } from './write.ts';

/** Writes them as CSV, and reads them again. */
async function write({ results = [], ...more }: Partial<WriteResultsInput> & { results?: ResultRow[] }): Promise<string[][]> {
  const { path } = await writeFileOf('results.csv', results, more);
  return parse(await readFile(path), { relax_column_count: false });
}

const endings = 'outcome reason attempts disposition detail conversation_id'.split(' ');
const times = 'first_dialed_at last_dialed_at ended_at duration_seconds'.split(' ');
const added = [...endings, ...times, 'audio', 'candidates', 'row'];

test('a row becomes one line: the original cells, then what became of it', async () => {
  const more = { endedAt: Date.UTC(2026, 0, 3, 0, 1), audio: 'http://127.0.0.1/a.wav', candidates: ['conv_2', 'conv_3'] };
  const lines = await write({
    columns: ['phone', 'name'],
    collectedKeys: ['confirmed', 'slots'],
    evaluationKeys: ['polite'],
    results: [
      { ...called, ...more, evaluation: { polite: { result: 'success' } } },
      { ...blank, cells: ['', ''], reason: 'missing_phone' },
    ],
  });
  const whatCame = ['completed', 'answered', '2', 'answered', '', 'conv_1'];
  const when = ['2026-01-02T03:04:05.006Z', '2026-01-03T00:00:00.000Z', '2026-01-03T00:01:00.000Z', '61.5'];
  const rest = ['http://127.0.0.1/a.wav', 'conv_2 conv_3', '7', 'true', '["a",1]', '{"result":"success"}'];
  expect(lines).toEqual([
    ['phone', 'name', ...added, 'collected.confirmed', 'collected.slots', 'evaluation.polite'],
    [...called.cells, ...whatCame, ...when, ...rest],
    ['', '', 'rejected', 'missing_phone', '0', ...Array.from({ length: 9 }, () => ''), '1', '', '', ''],
  ]);
});

test('cells that a spreadsheet would run are made safe in the added columns, and never in the original ones', async () => {
  const risky = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '\n=1', '＝1'];
  const [header, ...lines] = await write({
    columns: ['=phone'],
    collectedKeys: ['v', '=k'],
    results: risky.map((value) => ({ ...blank, cells: [value], detail: value, collected: { v: value, '=k': -1 } })),
  });
  expect(header).toEqual(['=phone', ...added, 'collected.v', 'collected.=k']);
  const safe = ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx", "'\rx", "'\n'=1", "'＝1"];
  lines.forEach((line, n) => {
    expect(line[0]).toBe(risky[n]);
    expect(line[5]).toBe(safe[n]);
    expect(line.at(-2)).toBe(safe[n]);
    expect(line.at(-1)).toBe('-1');
  });
});

/** The cells for a spreadsheet that separates by another character: a quote inside a cell is plain text to it. */
function cellsBySeparator(text: string, separator: string): string[] {
  const options = { delimiter: separator, relax_quotes: true, relax_column_count: true } as const;
  return parse(text, options).flat();
}

test.each([';', '\t'])('no added cell is a formula to a spreadsheet that separates cells by %j', async (separator) => {
  const path = join(temporaryFolder(), 'results.csv');
  const risky = ['x;=1+1', 'x\t=1+1', 'x; +1', 'x;"=1+1"', 'a;b;-1', 'x\n;@SUM(A1)', ';=1', 'y;＝1'];
  await write({
    path,
    collectedKeys: ['v', 'x;=k'],
    results: risky.map((value) => ({ ...blank, cells: ['x'], detail: value, collected: { v: value } })),
  });
  const cells = cellsBySeparator(await readFile(path, 'utf8'), separator);
  expect(cells.length).toBeGreaterThan(risky.length);
  expect(cells.filter((cell) => /^[\s"]*[=+\-@＝]/.test(cell))).toEqual([]);
});

test('the list leaves with its formulas, unless its cells are to be safe: then only its numbers stay', async () => {
  const own = ['=HYPERLINK("http://example.com")', '+12125550101', '-5', '+1-212-555-0101', 'x;=1', '@me', 'Ana'];
  const results = own.map((cell) => ({ ...blank, cells: [cell] }));
  const [, ...asTheyCame] = await write({ results });
  expect(asTheyCame.map(([cell]) => cell)).toEqual(own);
  const [header, ...safe] = await write({ columns: ['=phone'], results, csv: { safeCells: true } });
  expect(header?.[0]).toBe("'=phone");
  const made = [`'=HYPERLINK("http://example.com")`, '+12125550101', '-5', "'+1-212-555-0101", "x;'=1", "'@me", 'Ana'];
  expect(safe.map(([cell]) => cell)).toEqual(made);
});

test('a byte order mark stands before the header where it is asked for', async () => {
  const path = join(temporaryFolder(), 'results.csv');
  await write({ path, results: [{ ...blank, cells: ['Zoë'] }], csv: { bom: true } });
  expect((await readFile(path)).subarray(0, 8).toString('latin1')).toBe('\xef\xbb\xbfphone');
  await write({ path });
  expect((await readFile(path, 'utf8')).slice(0, 5)).toBe('phone');
});

test('an added column whose name the list uses gets a prefix, twice if need be', async () => {
  const [header] = await write({ columns: ['outcome', 'carillon_outcome', 'collected.x'], collectedKeys: ['x'] });
  expect(header?.slice(0, 4)).toEqual(['outcome', 'carillon_outcome', 'collected.x', 'carillon_carillon_outcome']);
  expect(header?.at(-1)).toBe('carillon_collected.x');
  expect(new Set(header).size).toBe(header?.length);
});

test('a ragged row keeps the columns in place and loses no cell', async () => {
  const [, short, long] = await write({
    columns: ['a', 'b'],
    results: [
      { ...blank, cells: ['1'] },
      { ...blank, cells: ['1', '2', '3', '=4'], detail: 'note' },
    ],
  });
  expect(short?.slice(0, 3)).toEqual(['1', '', 'rejected']);
  expect(long?.slice(0, 3)).toEqual(['1', '2', 'rejected']);
  expect(long?.[6]).toBe('note; surplus cells: 3 | =4');
});

test('a collected key such as __proto__ or constructor is only that', async () => {
  const [, line] = await write({ collectedKeys: ['constructor', '__proto__'], results: [{ ...blank, collected: {} }] });
  expect(line?.slice(-2)).toEqual(['', '']);
});

test('a dash writes to standard output', async () => {
  const stdout = new PassThrough();
  const written = text(stdout);
  const { rows } = await writeFileOf('', [{ ...blank, cells: ['x'] }], { path: '-', stdout });
  stdout.end();
  expect(rows).toBe(1);
  expect((await written).split('\n')).toHaveLength(3);
});

test('a file that is replaced keeps its permissions', async () => {
  const path = join(temporaryFolder(), 'results.csv');
  await writeFile(path, 'before');
  await chmod(path, 0o640);
  await write({ path });
  expect((await stat(path)).mode & 0o777).toBe(0o640);
});

test('the list is never overwritten, under whatever name', async () => {
  const folder = temporaryFolder();
  const listPath = join(folder, 'list.csv');
  await writeFile(listPath, 'phone\n');
  await symlink(listPath, join(folder, 'symlink.csv'));
  await link(listPath, join(folder, 'hardlink.csv'));
  for (const name of ['list.csv', 'symlink.csv', 'hardlink.csv', './list.csv']) {
    const error: unknown = await refuseToOverwrite(`${folder}/${name}`, [listPath]).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(OutputFileError);
    expect(error).toMatchObject({ isBadInput: true, message: expect.stringContaining('will not be overwritten') });
  }
  expect(await readFile(listPath, 'utf8')).toBe('phone\n');
});

test('a folder, one that is missing, and a device, which a rename would replace, are refused with a sentence', async () => {
  const folder = temporaryFolder();
  expect(await messageOf(write({ path: folder }))).toMatch(/this is a folder/);
  expect(await messageOf(write({ path: join(folder, 'none', 'results.csv') }))).toMatch(/its folder does not exist/);
  expect(await messageOf(write({ path: '/dev/null' }))).toMatch(/not a regular file/);
  expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
});

test('what was imported can be read back from the results, cell by cell', async () => {
  const cell = fc.string({ unit: 'binary', maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 10 }), async (original) => {
      const list = original.map((cells) => cells.map((value) => `"${value.replaceAll('"', '""')}"`).join(',')).join('\n');
      const { columns, rows } = await importList(minimalCampaign, `phone,note\n${list}\n`);
      const [, ...lines] = await write({ columns, results: rows.map((row) => ({ ...blank, cells: row.cells })) });
      expect(lines.map((line) => line.slice(0, 2))).toEqual(original);
    }),
    { numRuns: 100, seed: 5 },
  );
});

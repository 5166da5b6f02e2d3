import { readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeWorkbook } from '../../../../src/list/format/xlsx/records.ts';
import { noon } from '../../../ledger/scenario.ts';
import { minuteMs } from '../../../support/campaign-rules.ts';
import { createLedger, endCampaign } from '../campaign-ledger.ts';
import { until } from '../campaign-world.ts';

test('the name of the file decides the format, --format overrules it', async () => {
  const ledger = await createLedger();
  for (const [name, ...flags] of [['a.csv'], ['a.jsonl'], ['a.ndjson'], ['a.xlsx'], ['a.txt', '--format', 'XLSX']] as const)
    expect(await ledger.run('results', 'spring', '-o', ledger.path(name), ...flags)).toMatchObject({
      code: 0,
      stdout: '',
    });
  expect(ledger.cells('a.csv').map((cells) => cells[2])).toEqual(['outcome', 'completed', 'in_progress', 'rejected']);
  expect(JSON.parse(ledger.read('a.jsonl').split('\n')[0] ?? '')).toMatchObject({ row: 1, outcome: 'completed' });
  expect(ledger.read('a.ndjson')).toBe(ledger.read('a.jsonl'));
  for (const name of ['a.xlsx', 'a.txt'])
    expect((await describeWorkbook(ledger.path(name), undefined)).notes).toEqual(['sheet "results" of an Excel workbook']);
});

test.each(['csv', 'jsonl', 'xlsx'])('%s replaces earlier results of its own kind and nothing else', async (format) => {
  const ledger = await createLedger();
  const path = ledger.path(`r.${format}`);
  writeFileSync(path, '');
  const write = () => ledger.run('results', 'spring', '-o', path);
  expect(await write()).toMatchObject({ code: 0 });
  expect(await write()).toMatchObject({ code: 0 });
  const others = ['csv', 'jsonl', 'xlsx'].filter((name) => name !== format);
  for (const other of others) {
    expect(await ledger.run('results', 'spring', '-o', path, '--format', other)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no earlier result file of spring as \w+ and will not be overwritten; name another file/),
    });
  }
  writeFileSync(path, 'phone,name\n+12125550101,Ana\n');
  expect(await write()).toMatchObject({ code: 2 });
  expect(ledger.read(`r.${format}`)).toBe('phone,name\n+12125550101,Ana\n');
  expect(readdirSync(ledger.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('safe CSV with a byte order mark replaces plain CSV of the same campaign, and the other way round', async () => {
  const ledger = await createLedger();
  const write = (...flags: string[]) => ledger.run('results', 'spring', '-o', ledger.path('r.csv'), ...flags);
  for (const flags of [[], ['--safe-cells', '--bom'], ['--bom'], []]) expect(await write(...flags)).toMatchObject({ code: 0 });
  for (const format of ['xlsx', 'jsonl'])
    expect(await write('--format', format, '--safe-cells')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--safe-cells and --bom are for CSV'),
    });
});

test('filters choose rows, and a part of the results does not take the name of the whole', async () => {
  const ledger = await createLedger();
  const rows = async (...flags: string[]) => {
    const { code, stdout } = await ledger.run('results', 'spring', '-o', '-', '--json', ...flags);
    expect(code).toBe(0);
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { row: number }).row]));
  };
  expect(await rows()).toEqual([1, 2, 3]);
  expect(await rows('--outcome', 'completed, rejected')).toEqual([1, 3]);
  expect(await rows('--outcome', 'in_progress')).toEqual([2]);
  expect(await rows('--disposition', 'answered')).toEqual([1]);
  expect(await rows('--reason', 'missing_phone')).toEqual([3]);
  expect(await rows('--outcome', 'completed', '--reason', 'missing_phone')).toEqual([]);
  const here = process.cwd();
  process.chdir(ledger.folder);
  try {
    expect((await ledger.run('results', 'spring', '--outcome', 'completed')).stderr).toMatch(
      /^1 row written to spring-results-part\.csv\./,
    );
    expect((await ledger.run('results', 'spring', '--format', 'xlsx')).stderr).toMatch(
      /^3 rows written to spring-results\.xlsx\. The campaign has not ended: /,
    );
  } finally {
    process.chdir(here);
  }
});

test.each([
  [['--outcome', 'complete'], /--outcome: there is no "complete"\. Did you mean completed\? Possible are completed, .*in_progress\./],
  [['--outcome', ','], /--outcome names nothing\. Possible are completed/],
  [['--disposition', 'busy,engaged'], /there is no "engaged".*Possible are answered, opted_out/],
  [['--format', 'pdf'], /--format is "pdf"; write csv, jsonl or xlsx/],
  [['-o', 'r.xls'], /r\.xls: Carillon writes \.xlsx, not \.xls/],
  [['--since', '2030-01-15T12:00:00'], /--since is "2030-01-15T12:00:00"; write a time with its offset.*2h/],
  [['--since', 'yesterday'], /--since is "yesterday"/],
])('%j is refused with what is possible', async (flags, says) => {
  const ledger = await createLedger();
  const end = await ledger.run('results', 'spring', ...flags);
  expect(end).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(says) });
});

test('a reason that no row has gives no rows, and is named with those there are', async () => {
  const ledger = await createLedger();
  expect(await ledger.run('results', 'spring', '-o', '-', '--json', '--reason', 'mising_phone')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/No row of spring has the reason mising_phone: they have .*missing_phone/),
  });
});

test('a workbook is not thrown at a terminal', async () => {
  const ledger = await createLedger();
  const shown = await ledger.begin(['results', 'spring', '-o', '-', '--format', 'xlsx'], { isTerminal: true }).ended;
  expect(shown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--output results.xlsx') });
  const piped = await ledger.run('results', 'spring', '-o', '-', '--format', 'xlsx');
  expect(piped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^PK/) });
});

test('deltas chained by nextSinceAt bring every change', async () => {
  const ledger = await createLedger();
  const out = ledger.path('delta.csv');
  const delta = async (since: string) => {
    const { code, stdout, stderr } = await ledger.run('results', 'spring', '--since', since, '--json', '-o', out);
    expect(code).toBe(0);
    const summary = JSON.parse(stdout) as { rows: number; nextSinceAt: string; path: string; format: string };
    expect(stderr).toContain(`Changes from here on: --since ${summary.nextSinceAt}\n`);
    return {
      ...summary,
      names: ledger
        .cells('delta.csv')
        .slice(1)
        .map((cells) => cells[1]),
    };
  };
  const first = await delta('1970-01-01T00:00:00Z');
  expect(first).toMatchObject({ rows: 3, names: ['Ana', 'Ben', '=1+1'], path: out, format: 'csv', ended: false });
  // The terminal's clock is years before the calls, so all may still be on their way.
  expect(Date.parse(first.nextSinceAt)).toBeLessThan(noon);
  await ledger.change(endCampaign);
  const second = await delta(new Date(noon + minuteMs + 1).toISOString());
  expect(second).toMatchObject({ rows: 1, names: ['Ben'], ended: true });
  expect(await delta('2030-01-15T17:30:00+05:30')).toMatchObject({ names: ['Ana', 'Ben', '=1+1'] });
});

test('a duration counts back from now', async () => {
  const ledger = await createLedger();
  const at = (now: number) => ledger.begin(['results', 'spring', '-o', '-', '--json', '--since', '2m'], { now: () => now }).ended;
  expect((await at(noon + 2 * minuteMs)).stdout.trimEnd().split('\n')).toHaveLength(3);
  expect((await at(noon + 3 * minuteMs)).stdout).toMatch(/^\{"row":1,.*\n$/);
  expect(await at(noon + 9 * minuteMs)).toMatchObject({
    stdout: '',
    stderr: `Changes from here on: --since ${new Date(noon + minuteMs + 1).toISOString()}\n`,
  });
});

test('--wait writes when the campaign has ended, and shows how far it is until then', async () => {
  const ledger = await createLedger();
  const out = ledger.path('end.csv');
  const waiting = ledger.begin(['results', 'spring', '--wait', '-o', out]);
  await until(() => waiting.io.written().stderr.includes('2 of 3 done'));
  expect(readdirSync(ledger.folder)).not.toContain('end.csv');
  await ledger.change(endCampaign);
  expect(await waiting.ended).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/3 rows written to .*end\.csv\.\n$/),
  });
  expect(ledger.cells('end.csv').map((cells) => cells[2])).toEqual(['outcome', 'completed', 'exhausted', 'rejected']);
});

test('Ctrl-C leaves the waiting, and nothing is written', async () => {
  const ledger = await createLedger();
  const waiting = ledger.begin(['results', 'spring', '--wait', '-o', ledger.path('end.csv')]);
  await until(() => waiting.io.written().stderr.includes('2 of 3 done'));
  waiting.interrupt();
  expect(await waiting.ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/You left; campaign spring continues.*carillon results spring --wait\n$/s),
  });
  expect(readdirSync(ledger.folder).filter((name) => name.includes('end.csv'))).toEqual([]);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { importCampaign } from '../../../src/ledger/campaign/import-campaign.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { once } from '../../ledger/scenario.ts';
import { buildRow, buildRules } from '../../support/campaign-rules.ts';
import { proven } from './campaign-world.ts';
import { commandFolder } from './terminal.ts';

const now = Date.parse('2026-01-15T12:00:00Z');
const base = buildRules();
const columns = ['id', 'phone', 'name'];
const numberOf = (index: number): string => `+12125550${String(100 + index)}`;

interface Person {
  id: string;
  phone: string;
  name: string;
}

const people = (ids: readonly string[], firstNumber = 0, name = 'Guest'): Person[] =>
  ids.map((id, index) => ({ id, phone: numberOf(firstNumber + index), name: `${name} ${id}` }));

function asCsv(rows: readonly Person[], header = columns.join(',')): string {
  return `${header}\n${rows.map(({ id, phone, name }) => `${id},${phone},${name}`).join('\n')}\n`;
}

function createFolder() {
  const folder = commandFolder();
  const add = async (campaignId: string, rows: readonly Person[], idColumn: string | null = 'id'): Promise<void> => {
    const store = await openStore({ sqlitePath: folder.env.CARILLON_DB });
    const rules = buildRules({ list: { ...base.list, columns, idColumn } });
    const list = rows.map(({ id, phone, name }, index) => ({
      ...buildRow(index + 1, phone, [id, phone, name]),
      externalId: idColumn === null ? null : id,
    }));
    const campaign = { campaignId, name: null, fileHash: campaignId, rules, accountId: 'x' };
    await importCampaign(store, campaign, { chunks: once(list), now });
    await store.close();
  };
  return { ...folder, add };
}

const refused = (words: RegExp) => ({ code: 2, stdout: '', stderr: expect.stringMatching(words) });

test('a list without the columns of the campaign, or with others, is refused by the name of the column', async () => {
  const { add, write, run } = createFolder();
  await add('spring', people(['a', 'b']));
  const update = (text: string) => run('update', 'spring', write('list.csv', text));
  expect(await update('id,phone\na,+12125550100\n')).toEqual(refused(/the column "name" of the campaign's list is missing/));
  expect(await update('id,phone,name,mail\na,+12125550100,A,x\n')).toEqual(
    refused(/the column "mail" is no column of the campaign's list.*remove it.*"id", "phone", "name"/),
  );
  expect(await update('id,phone,name,\na,+12125550100,A,x\n')).toEqual(refused(/column 4, which has no name, is no/));
  // Column order and letter case do not matter.
  const done = await update('Name;ID;Phone\nGuest b;b;+12125550101\nGuest c;c;+12125550102\n');
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/accepted +1 .*\n.*\n +unchanged +1 /) });
  const results = await run('results', 'spring', '--output', '-');
  expect(results.stdout.split('\n').map((line) => line.split(',').slice(0, 3))).toContainEqual(['c', '+12125550102', 'Guest c']);
});

test('the list of another campaign is refused with the name of that campaign', async () => {
  const { add, write, run } = createFolder();
  await add('spring', people(['1', '2', '3'], 0));
  await add('autumn', people(['1', '2', '3'], 20, 'Person'));
  await add('winter', people(['3', '2', '1', '4'], 0, 'Person').toReversed());
  const other = write('other.csv', asCsv(people(['1', '2', '3'], 20, 'Person')));
  expect(await run('update', 'spring', other)).toEqual(
    refused(/other\.csv is the list of campaign autumn, not of spring: nothing was changed\..*--add/),
  );
  // Also reordered and renamed: in that campaign these ids belong to other recipients.
  const sorted = write('sorted.csv', asCsv(people(['1', '2', '3'], 20, 'Dear').toReversed()));
  expect(await run('update', 'spring', sorted)).toEqual(refused(/is the list of campaign autumn/));
  const strange = write('strange.csv', asCsv(people(['x', 'y'], 60)));
  expect(await run('update', 'spring', strange)).toEqual(refused(/has no row whose id campaign spring knows/));
  expect(await run('update', 'spring', strange, '--add')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/accepted +2 /),
  });
  // Its own list, and a corrected one, pass although another campaign called the same recipients.
  await add('copy', people(['1', '2', '3'], 0));
  expect(await run('update', 'spring', write('own.csv', asCsv(people(['1', '2', '3'], 0))))).toMatchObject({ code: 0 });
  const corrected = people(['1', '2', '3'], 0).map((person, index) => (index === 1 ? { ...person, phone: numberOf(50) } : person));
  expect(await run('update', 'spring', write('corrected.csv', asCsv(corrected)))).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/corrected +1 /),
  });
});

test('a list that begins row for row like that of another campaign is that list', async () => {
  const { add, write, run } = createFolder();
  const shared = people(['1', '2', '3', '4', '5'], 0);
  await add('spring', shared.slice(0, 3));
  await add('autumn', shared.slice(2));
  expect(await run('update', 'spring', write('list.csv', asCsv(shared.slice(2))))).toEqual(refused(/is the list of campaign autumn/));
  expect(await run('update', 'spring', write('list.csv', asCsv(shared)))).toMatchObject({ code: 0 });
});

test('what cannot be updated is refused, and nothing is written', async () => {
  const { add, write, run, path } = createFolder();
  await add('spring', people(['a', 'b']));
  await add('mute', people(['a', 'b']), null);
  const list = write('list.csv', asCsv(people(['a', 'b'])));
  expect(await run('update', 'mute', list)).toEqual(refused(/mute has no id column \(list\.id\).*new id/));
  expect(await run('update', 'nowhere', list)).toEqual(refused(/has no campaign "nowhere"/));
  expect(await run('update', 'spring', path('none.csv'))).toEqual(refused(/none\.csv: there is no such file/));
  expect(await run('update', 'spring', 'campaign.yaml')).toEqual(refused(/is a campaign file; name the list/));
  expect(await run('update', 'spring', list, '--report', list)).toEqual(refused(/will not be overwritten/));
  expect(await run('update', 'spring', list, '--withdraw-missing')).toEqual(refused(/cannot ask for confirmation.*run again with --yes/));
  expect(await run('withdraw', 'spring')).toEqual(refused(/one of --id, --row and --file/));
  expect(await run('withdraw', 'spring', '--id', 'a', '--row', '1')).toEqual(refused(/one of --id, --row and --file/));
  expect(await run('withdraw', 'spring', '--row', '0')).toEqual(refused(/row numbers from 1/));
  expect(await run('withdraw', 'mute', '--id', 'a', '--yes')).toEqual(refused(/name the rows by their numbers, --row/));
  expect(await run('withdraw', 'mute', '--row', '1', '--yes')).toMatchObject({
    code: 0,
    stdout: '1 row of campaign mute withdrawn.\n',
  });
});

test('rows without an id and rows that fail are told with the reason, and the others are done', async () => {
  const { add, write, run } = createFolder();
  await add('spring', people(['a', 'b', 'c']));
  const rows = [
    { id: '', phone: numberOf(30), name: 'Nobody' },
    { id: 'x', phone: numberOf(0), name: 'Taken' },
    { id: 'a', phone: 'oops', name: 'Guest a' },
    { id: 'b', phone: numberOf(1), name: 'Other' },
  ];
  const done = await run('update', 'spring', write('list.csv', asCsv(rows)), '--json');
  expect(done.code).toBe(1);
  expect(JSON.parse(done.stdout)).toMatchObject({
    rows: 4,
    accepted: 0,
    corrected: 1,
    failed: 3,
    failures: [
      { code: 'missing_id', count: 1, examples: [{ row: 1, line: 2, id: null }] },
      { code: 'duplicate_phone', count: 1, examples: [{ row: 2, line: 3, id: 'x' }] },
      { code: 'invalid_phone', count: 1, examples: [{ row: 3, line: 4, id: 'a' }] },
    ],
  });
  // An ambiguous row may be any recipient, so none is certainly missing.
  const missing = await run('update', 'spring', write('list.csv', asCsv(rows)), '--withdraw-missing', '--yes');
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/1 row of the list has no readable id/) });
  expect(missing.stdout).toContain('0 rows that the list does not have withdrawn.');
});

test('who may still be called at the old number, since the corrected one is invalid, is warned of', async () => {
  const { add, write, run, path } = createFolder();
  await add('spring', people(['a', 'b', 'c', 'd']));
  expect(await run('withdraw', 'spring', '--id', 'd', '--yes')).toMatchObject({ code: 0 });
  const rows = [
    { id: 'a', phone: '+1212555', name: 'Guest a' },
    { id: 'b', phone: numberOf(2), name: 'Guest b' },
    { id: 'c', phone: numberOf(2), name: 'Guest c' },
    { id: 'c', phone: 'again', name: 'Guest c' },
    { id: 'd', phone: 'oops', name: 'Guest d' },
    { id: 'new', phone: 'oops', name: 'Guest e' },
  ];
  const list = write('list.csv', asCsv(rows));
  for (const flags of [['--dry-run'], []]) {
    const done = await run('update', 'spring', list, '--json', '--report', path('report.csv'), ...flags);
    expect(done.stderr).toMatch(
      /^Warning: 3 recipients whose rows failed may still be called.*at the old number.*withdraw spring --id a,b,c$/m,
    );
    expect(JSON.parse(done.stdout)).toMatchObject({ failed: 6, unchanged: 0, mayStillBeCalled: 3 });
  }
  const lines = readFileSync(path('report.csv'), 'utf8').trim().split('\n').slice(1);
  expect(lines[0]).toMatch(/^1,2,a,failed,invalid_phone,.*; row 1 of the campaign stays as it was and may still be called so,1$/);
  expect(lines[4]).toMatch(/^5,6,d,failed,invalid_phone,(?!.*still be called).*,$/);
});

test('failed rows are told in the order of the file, also when one had to wait for the number of another', async () => {
  const { add, write, run, path } = createFolder();
  await add('spring', people(['a', 'b', 'c']));
  const rows = [
    { id: 'x', phone: numberOf(0), name: 'Taken' },
    { id: 'y', phone: 'oops', name: 'Guest y' },
    { id: 'a', phone: numberOf(40), name: 'Guest a' },
    { id: 'z', phone: numberOf(1), name: 'Taken' },
    { id: 'v', phone: 'oops', name: 'Guest v' },
  ];
  const done = await run('update', 'spring', write('list.csv', asCsv(rows)), '--report', path('report.csv'));
  expect(done.stdout.match(/^\d+ +\d+ +[a-z]+ +\w+/gm)?.map((line) => line.split(/ +/)[0])).toEqual(['2', '4', '5']);
  const lines = readFileSync(path('report.csv'), 'utf8').trim().split('\n').slice(1);
  expect(lines.map((line) => line.split(',')[0])).toEqual(['1', '2', '3', '4', '5']);
});

test('a list that has slipped by a row is mended in one go, however long it is', async () => {
  const { add, write, run, path } = createFolder();
  const count = 1_600;
  const areas = '201 202 203 205 206 207 208 209 210 212 213 214 215 216 217 218'.split(' ');
  const phone = (index: number): string => `+1${areas[Math.floor(index / 100)]}55501${String(index % 100).padStart(2, '0')}`;
  const rows = Array.from({ length: count }, (_, index) => ({
    id: `k${index}`,
    phone: phone(index),
    name: `N${index}`,
  }));
  await add('spring', rows);
  for (const [name, slip] of [
    ['up', 1],
    ['down', -1],
    ['round', 700],
  ] as const) {
    const moved = rows.map((row, index) => ({ ...row, phone: phone((index + slip + count) % count) }));
    const report = path(`${name}.csv`);
    const done = await run('update', 'spring', write(`${name}-list.csv`, asCsv(moved)), '--report', report, '--json', '--add');
    expect(JSON.parse(done.stdout)).toMatchObject({ rows: count, corrected: count, failed: 0 });
    const lines = readFileSync(report, 'utf8').trim().split('\n').slice(1);
    expect(new Set(lines.map((line) => line.split(',')[0])).size).toBe(count);
  }
  expect(await run('verify', 'spring')).toMatchObject(proven);
});

test('withdrawn rows are named when they are named again, and come back with --restore', async () => {
  const { add, write, run } = createFolder();
  await add('spring', people(['a', 'b', 'c']));
  expect(await run('withdraw', 'spring', '--row', '1,2', '--reason', 'moved away', '--yes')).toMatchObject({ code: 0 });
  const again = await run('withdraw', 'spring', '--row', '2,99', '--yes', '--json');
  expect(again.code).toBe(1);
  expect(JSON.parse(again.stdout)).toEqual({
    campaign: 'spring',
    dryRun: false,
    withdrawn: 0,
    withdrawing: 0,
    call_open: 0,
    already_ended: 1,
    not_found: 1,
    left: [
      { key: 2, campaignRow: 2, result: 'already_ended' },
      { key: 99, campaignRow: null, result: 'not_found' },
    ],
  });
  const list = write('list.csv', asCsv(people(['a', 'b', 'c'])));
  const same = await run('update', 'spring', list);
  expect(same.code).toBe(1);
  expect(same.stdout).toMatch(/unchanged +1 /);
  expect(same.stdout).toMatch(/failed +2 /);
  expect(same.stdout).toContain('--restore');
  expect((await run('update', 'spring', list, '--restore')).stdout).toMatch(/corrected +2 /);
  expect(await run('verify', 'spring')).toMatchObject(proven);
});

test('ids to withdraw come from a column of a file, or from lines alone', async () => {
  const { add, write, run, path } = createFolder();
  await add('spring', people(['a', 'b', 'c', 'd']));
  const named = write('gone.csv', 'name,id\nGuest a,a\nGuest b,b\n');
  expect(await run('withdraw', 'spring', '--file', named, '--dry-run')).toMatchObject({
    code: 0,
    stdout: '2 rows of campaign spring would be withdrawn.\n',
  });
  expect(await run('withdraw', 'spring', '--file', named, '--yes')).toMatchObject({
    code: 0,
    stdout: '2 rows of campaign spring withdrawn.\n',
  });
  const bare = await run('withdraw', 'spring', '--file', write('bare.txt', 'c\nz\n'), '--yes');
  expect(bare.code).toBe(1);
  expect(bare.stdout).toMatch(/^1 row of campaign spring withdrawn\.\n\n.*\nz +- +not_found +the campaign has no such row\n$/);
  expect(await run('withdraw', 'spring', '--file', write('wide.csv', 'x,y\n1,2\n'), '--yes')).toEqual(
    refused(/there is no column "id", which has the ids; there are "x", "y"/),
  );
  await add('letters', people(['Zoë', 'b']));
  const mac = path('mac.csv');
  writeFileSync(mac, Buffer.from('id\nZo\x91\n', 'latin1'));
  expect((await run('withdraw', 'letters', '--file', mac, '--yes')).stdout).toMatch(/^0 rows of campaign letters withdrawn/);
  expect(await run('withdraw', 'letters', '--file', mac, '--encoding', 'martian', '--yes')).toEqual(
    refused(/encoding "martian" is not known/),
  );
  expect(await run('withdraw', 'letters', '--id', 'b', '--encoding', 'cp850', '--yes')).toEqual(refused(/--encoding needs --file/));
  expect(await run('withdraw', 'letters', '--file', mac, '--encoding', 'macintosh', '--yes')).toMatchObject({
    code: 0,
    stdout: '1 row of campaign letters withdrawn.\n',
  });
});

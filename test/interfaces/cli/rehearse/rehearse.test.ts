import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FictionalNumbers } from '../../../../src/list/fictional-numbers.ts';
import { readCampaignFile } from '../../../../src/campaign/file/file.ts';
import { importList, readCampaign, type ReadCampaign } from '../../../../src/campaign/preflight/import-list.ts';
import { countRows, drawRehearsedRows } from '../../../../src/interfaces/cli/rehearse/list.ts';
import { readRecipients, type ListRow } from '../../../../src/list/recipients.ts';
import { rehearsalRules } from '../../../../src/interfaces/cli/rehearse/world.ts';
import { openCleanStore } from '../../../ledger/clean-store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { runCommand } from '../terminal.ts';

const now = Date.parse('2030-01-15T12:00:00Z');

interface Files {
  folder: string;
  path: string;
}

/** A list with an explicit zone, another state's row, one without zone, a malformed and a bad one. */
function writeFiles({ rows = [], yaml = [] }: { rows?: string[]; yaml?: string[] } = {}): Files {
  const folder = temporaryFolder();
  const list = rows.length > 0 ? rows : usualRows;
  writeFileSync(join(folder, 'list.csv'), `${['phone,name,zone,state', ...list].join('\n')}\n`);
  const file = [
    'id: tryout',
    'agent_id: agent_of_the_account',
    'from_phone_number_id: pn_of_the_account',
    'list: { file: list.csv, phone: phone, timezone: zone, state: state, default_region: US }',
    "first_message: 'Hello {{ name }}, a reminder.'",
    'hours: any',
    ...yaml,
  ];
  writeFileSync(join(folder, 'campaign.yaml'), `${file.join('\n')}\n`);
  return { folder, path: join(folder, 'campaign.yaml') };
}

const usualRows = [
  '+12125550142,Ada,America/Los_Angeles,',
  '+18505550143,Ben,,FL',
  '+442079460958,Cho,,',
  '+12125550144,Dee,,,too many cells',
  'no number,Eve,,',
  '+12125550142,Fay,,',
];

async function readTryout(path: string): Promise<ReadCampaign> {
  return readCampaign(await readCampaignFile(path), now);
}

async function rehearsedRows(path: string, wanted: number | null, seed = 'a'): Promise<ListRow[]> {
  const read = await readTryout(path);
  const numbers = new FictionalNumbers(seed);
  const count = await countRows(read, wanted, numbers.capacity);
  const draw = drawRehearsedRows(read, count, { numbers, seed });
  const rows: ListRow[] = [];
  for await (const chunk of readRecipients(read.file, read.header, read.rules)) rows.push(...draw(chunk));
  expect(rows).toHaveLength(count.rehearsed);
  return rows;
}

test('a fictional number stands for each real one, at the place of the real one', async () => {
  const { path } = writeFiles();
  const rows = await rehearsedRows(path, null);
  expect(rows.map(({ verdict }) => verdict)).toEqual(['accepted', 'accepted', 'accepted', 'rejected', 'rejected', 'rejected']);
  const [ada, ben, cho] = rows;
  expect(ada).toMatchObject({ zones: ['America/Los_Angeles'], country: 'US', regions: ['NY'] });
  expect(ben).toMatchObject({ zones: ['America/Chicago', 'America/New_York'], regions: ['FL'] });
  expect(cho).toMatchObject({ zones: ['Europe/London'], country: 'GB' });
  expect(rows.map(({ cells }) => cells[1])).toEqual(['Ada', 'Ben', 'Cho', '', 'Eve', 'Fay']);
  for (const row of rows.slice(0, 3)) expect(row.cells[0]).toBe(row.e164);
  const text = JSON.stringify(rows);
  for (const real of ['2125550142', '8505550143', '2079460958', '2125550144', 'no number']) expect(text).not.toContain(real);
});

test('a sample keeps the rows in their order, has the size that was asked for, and is the same for the same seed', async () => {
  const list = Array.from({ length: 60 }, (_, index) => `+1212555${String(2000 + index)},Row ${index + 1},,`);
  const { path } = writeFiles({ rows: list });
  const first = (await rehearsedRows(path, 20, 'a')).map(({ row }) => row);
  expect(first).toEqual(first.toSorted((a, b) => a - b));
  expect((await rehearsedRows(path, 20, 'a')).map(({ row }) => row)).toEqual(first);
  expect((await rehearsedRows(path, 20, 'b')).map(({ row }) => row)).not.toEqual(first);
  expect(await rehearsedRows(path, 500)).toHaveLength(60);
});

test('there are never more rows than fictional numbers', async () => {
  const { path } = writeFiles();
  const read = await readTryout(path);
  expect(await countRows(read, null, 2)).toEqual({ inList: 6, rehearsed: 2 });
  expect(await countRows(read, 4, 100)).toEqual({ inList: 6, rehearsed: 4 });
});

test('what has nobody to call says so, and what a start would warn of is said', async () => {
  const store = await openCleanStore('sqlite');
  const importFrom = async (rows: string[]): Promise<string[]> => {
    const read = await readTryout(writeFiles({ rows }).path);
    const numbers = new FictionalNumbers('a');
    const select = drawRehearsedRows(read, await countRows(read, null, 10), { numbers, seed: 'a' });
    return importList({ store, read, accountId: 'http://service', now, allowPartial: true, select });
  };
  await expect(importFrom(['no number,Eve,,', '12,Bob,,'])).rejects.toThrow(
    /none of the 2 rows taken from list\.csv can be dialled \(invalid_phone 2\)/,
  );
  expect(await importFrom(usualRows)).toEqual([
    expect.stringContaining('no rule by law is known for GB (1 row)'),
    expect.stringContaining('a request not to be called again would not be heard'),
  ]);
});

test('nobody outside is asked or told, and what differs from the file is said', async () => {
  const { path } = writeFiles({
    yaml: [
      'pre_dial: { url: "https://hooks.example.com/ask" }',
      'on_completion: { url: "https://hooks.example.com/told" }',
      'on_pause: { url: "https://hooks.example.com/told" }',
    ],
  });
  const { rules } = await readTryout(path);
  const rehearsed = rehearsalRules(rules, 600);
  expect(rehearsed.rules).toEqual({
    ...rules,
    preDial: null,
    onCompletion: null,
    onPause: null,
    timing: { ...rules.timing, pollMs: 60_000 },
  });
  expect(rehearsed.notes.join('; ')).toMatch(
    /pre_dial is not asked.*on_completion is not notified.*on_pause is not notified.*every 60 s.*not every 10 s/,
  );
  expect(rehearsalRules({ ...rules, preDial: null, onCompletion: null, onPause: null }, 1).notes).toEqual([]);
});

test.each([
  { args: ['--start-at', 'tomorrow'], says: /--start-at.*'tomorrow' is invalid\. Write a date and time/ },
  { args: ['--rows', '0'], says: /--rows.*'0' is invalid\. Write a whole number above 0/ },
  { args: ['--pause-after', '3 weeks'], says: /--pause-after.*'3 weeks' is invalid\. Write a duration/ },
  { args: ['--speed', '0'], says: /--speed.*'0' is invalid/ },
  { args: ['--dialect', 'old'], says: /--dialect.*Allowed choices are spec, extended/ },
  { args: ['--start-at', '2031-01-01T00:00:00Z'], says: /ends_at.*has passed/s },
])('$args is refused as bad input, with the reason', async ({ args, says }) => {
  const { path } = writeFiles({ yaml: ["ends_at: '2030-06-01T00:00:00Z'"] });
  const refused = { code: 2, stdout: '', stderr: expect.stringMatching(says) };
  expect(await runCommand(['rehearse', path, ...args], { now: () => now })).toMatchObject(refused);
});

test('a folder that holds something is not written into', async () => {
  const { path, folder } = writeFiles();
  const kept = join(folder, 'kept');
  mkdirSync(kept);
  writeFileSync(join(kept, 'mine.txt'), 'mine');
  expect(await runCommand(['rehearse', path, '--keep', kept], { now: () => now })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/kept.*not empty; name a new one/),
  });
  expect(readdirSync(kept)).toEqual(['mine.txt']);
});

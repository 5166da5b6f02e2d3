import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { campaignHash, readCampaignFile } from '../../../src/campaign/file/file.ts';
import { readToStart } from '../../../src/operations/control/start.ts';
import { ListEncodingError } from '../../../src/shared/input/errors.ts';
import { importCampaign } from '../../../src/ledger/campaign/import-campaign.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { bothDialects } from '../../ledger/test-stores.ts';
import { buildRow, buildRules } from '../../support/campaign-rules.ts';
import { ApiWorld } from '../api/api-world.ts';
import { commandFolder } from './terminal.ts';
import type { ImportRow } from '../../../src/ledger/campaign/row-hash.ts';

const now = Date.parse('2026-01-15T12:00:00Z');
const cases = new URL('../../list/encodings/', import.meta.url);
const yaml = (encoding = '') => `id: letters
agent_id: agent_reminders
from_phone_number_id: pn_main
list: { file: list.csv, phone: phone, id: id, default_region: US${encoding} }
first_message: 'Hello {{ first_name }}.'
hours: any
law: off
`;

function createFolder(file: string) {
  const folder = commandFolder();
  folder.write('list.csv', readFileSync(new URL(file, cases)));
  return folder;
}

test('check and start end with 2 and show the likely readings side by side; with list.encoding the letters are shown', async () => {
  const { run, write } = createFolder('cp850.csv');
  const path = write('campaign.yaml', yaml());
  for (const args of [
    ['check', path, '--offline'],
    ['start', path],
  ]) {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /list\.csv: its letters are neither UTF-8 nor UTF-16.*list\.encoding.*\n {2}cp850 +Renée, Müller, José\n {2}macintosh +RenÇe, MÅller, JosÇ\n {2}windows-1252 /,
    );
  }
  const { code, stdout } = await run('check', write('campaign.yaml', yaml(', encoding: CP850')), '--offline');
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/read as cp850: Renée, Müller, José/) });
});

const people = [
  ['Zoë-1', '+12125550101'],
  ['b', '+12125550102'],
] as const;

/** `encoding`: as its rules have it. */
async function begin(store: Awaited<ReturnType<typeof openStore>>, campaignId: string, list: { encoding?: string | null }, id = 'Zoë-1') {
  const rules = buildRules({
    firstMessage: null,
    variables: null,
    list: { ...buildRules().list, columns: ['id', 'phone'], idColumn: 'id', ...list },
  });
  async function* chunks(): AsyncGenerator<ImportRow[]> {
    yield people.map(([own, phone], at) => {
      const externalId = at === 0 ? id : own;
      return { ...buildRow(at + 1, phone, [externalId, phone]), externalId };
    });
  }
  await importCampaign(store, { campaignId, name: null, fileHash: campaignId, rules, accountId: 'x' }, { chunks: chunks(), now });
}

const listOf = (id: string, letters: 'utf8' | 'latin1') => Buffer.from(`id,phone\n${id},+12125550101\nb,+12125550102\n`, letters);

test('an update reads its list as the campaign was started, asks where that is not known, and refuses ids that an encoding changes', async () => {
  const { env, run, write } = createFolder('cp850.csv');
  const store = await openStore({ sqlitePath: env.CARILLON_DB });
  await begin(store, 'named', { encoding: 'windows-1252' });
  await begin(store, 'unnamed', { encoding: null });
  await begin(store, 'older', {});
  // As MacRoman was misread before: its ë is the ‘ of Windows-1252.
  await begin(store, 'misread', {}, 'Zo‘-1');
  await store.close();
  const latin = write('latin.csv', listOf('Zoë-1', 'latin1'));
  const utf8 = write('utf8.csv', listOf('Zoë-1', 'utf8'));
  const update = (...args: string[]) => run('update', ...args, '--json').then(({ code, stdout, stderr }) => [code, stdout || stderr]);
  const unchanged = [0, expect.stringMatching(/"unchanged": ?2/)];
  expect(await update('named', latin)).toEqual(unchanged);
  expect(await update('named', utf8)).toEqual([2, expect.stringMatching(/it is UTF-8, and the encoding windows-1252 is named/)]);
  expect(await update('named', utf8, '--encoding', 'utf-8')).toEqual(unchanged);
  expect(await update('unnamed', utf8)).toEqual(unchanged);
  expect(await update('unnamed', latin)).toEqual([2, expect.stringMatching(/--encoding:.*windows-1252 +Zoë\W/s)]);
  expect(await update('unnamed', latin, '--encoding', 'latin1')).toEqual(unchanged);
  expect(await update('unnamed', latin, '--encoding', 'klingon')).toEqual([
    2,
    expect.stringMatching(/klingon.* is not known; write the name/),
  ]);
  expect(await update('older', latin)).toEqual(unchanged);
  expect(await update('older', utf8)).toEqual(unchanged);
  const changed = /Line 2 of .* has the id .*Zoë-1.*, and campaign \w+ has .*: they differ by their encoding alone, so nothing was changed/;
  expect(await update('misread', utf8, '--add')).toEqual([expect.any(Number), expect.stringMatching(changed)]);
  expect(await update('misread', utf8, '--add', '--dry-run')).toEqual([expect.any(Number), expect.stringMatching(changed)]);
  expect((await update('unnamed', latin, '--encoding', 'macintosh'))[1]).toMatch(/differ by their encoding alone/);
});

test.for(bothDialects)('the API answers 422 with the readings, and takes the encoding of an update: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const world = await ApiWorld.over(store);
  await begin(store, 'unnamed', { encoding: null });
  await begin(store, 'misread', {}, 'Zo‘-1');
  const send = (path: string, parts: Record<string, Uint8Array | string>) => {
    const form = new FormData();
    for (const [name, content] of Object.entries(parts)) form.append(name, new Blob([content]), name);
    return world.ask(`POST /api/v1/campaigns${path}`, { body: form });
  };
  const list = readFileSync(new URL('cp1254.csv', cases));
  const first = { encoding: 'windows-1254', words: ['Gülşen', 'Işık', 'Ayşe'] };
  for (const path of ['', '/check'])
    expect(await send(path, { campaign: yaml(), list })).toMatchObject({
      status: 422,
      body: { code: 'list_encoding', readings: [first, {}, { encoding: 'windows-1252' }], detail: expect.stringMatching(/^list\.csv: /) },
    });
  expect(await send('/check', { campaign: yaml(', encoding: cp1254'), list })).toMatchObject({ status: 200 });
  const latin = { list: listOf('Zoë-1', 'latin1') };
  expect(await send('/unnamed/update', latin)).toMatchObject({ status: 422, body: { code: 'list_encoding', readings: [{}, {}, {}] } });
  expect(await send('/unnamed/update?encoding=latin1', latin)).toMatchObject({ status: 200, body: { unchanged: 2 } });
  expect(await send('/misread/update?add=true', { list: listOf('Zoë-1', 'utf8') })).toMatchObject({
    status: 409,
    body: { detail: expect.stringMatching(/differ by their encoding alone/) },
  });
});

test('a campaign that began before encodings were named is attached to with the list that it began with', async () => {
  const { env, write } = createFolder('cp1254.csv');
  const store = await openStore({ sqlitePath: env.CARILLON_DB });
  onTestFinished(() => store.close());
  const file = await readCampaignFile(write('campaign.yaml', yaml()));
  await expect(readToStart({ store }, file, now)).rejects.toBeInstanceOf(ListEncodingError);
  await begin(store, 'letters', {});
  const { header, hash, rules } = await readToStart({ store }, file, now);
  expect(header.notes).toEqual([expect.stringMatching(/^read as Windows-1252/)]);
  expect(rules.list.encoding).toBeUndefined();
  expect(hash).toBe(await campaignHash(file));
});

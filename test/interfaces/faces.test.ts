import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { openTemporal } from '../../src/operations/control/control.ts';
import { readConfig } from '../../src/shared/config.ts';
import { createWorld, numberAt, type CampaignWorld } from './cli/campaign-world.ts';
import { ConsoleWorld } from './console/console-world.ts';
import { DraftWorld, goodCalls, goodList, goodName, goodWords } from './console/draft-world.ts';
import { holds } from '../support/answers.ts';

async function openFaces(world: CampaignWorld) {
  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  const config = readConfig(world.env);
  const page = new DraftWorld(await ConsoleWorld.over(store, world.env, (limitMs) => openTemporal(world.env, config, limitMs)));
  const { app } = page.console.api;
  const api = async (way: '' | '/check') => {
    const form = new FormData();
    form.append('campaign', new Blob([world.read('campaign.yaml')]), 'campaign.yaml');
    form.append('list', new Blob([readFileSync(join(world.folder, 'list.csv'))]), 'list.csv');
    const headers = { authorization: `Bearer ${page.console.api.tokenText('operate')}`, 'idempotency-key': `faces${way}` };
    const answer = await app.inject({ method: 'POST', url: `/api/v1/campaigns${way}`, headers, payload: form });
    return { status: answer.statusCode, body: answer.json<{ startable?: boolean; refusal?: string; detail?: string }>() };
  };
  return { store, page, api };
}

/** Each face's refusal to start the campaign of the world's folder. */
async function refusals(world: CampaignWorld, expected: RegExp): Promise<Awaited<ReturnType<typeof openFaces>>> {
  const faces = await openFaces(world);
  const { code, stdout, stderr } = await world.run('check', world.campaignPath, '--json');
  const { startable } = JSON.parse(stdout.slice(0, stdout.indexOf('\n}\n') + 2)) as { startable: boolean };
  expect({ startable, code: code > 0 }).toEqual({ startable: false, code: true });
  expect(`${stdout.replaceAll('\\"', '"')}${stderr}`).toMatch(expected);
  const started = await world.run('start', world.campaignPath);
  expect(started.code).toBeGreaterThan(0);
  expect(started.stderr).toMatch(expected);
  expect((await faces.api('/check')).body).toMatchObject({ startable: false, refusal: expect.stringMatching(expected) as string });
  const created = await faces.api('');
  expect({ status: created.status >= 400, detail: created.body.detail }).toEqual({
    status: true,
    detail: expect.stringMatching(expected) as string,
  });
  expect(await faces.page.console.api.body('GET /campaigns')).toMatchObject({ campaigns: [] });
  return faces;
}

test('a caller number that is not ready is refused beside a good one, by its id, on every face', async () => {
  const world = await createWorld();
  world.writeCampaign({ yaml: ['from_phone_number_id: [pn_main, pn_unverified]'] });
  const says = /1 of the 2 caller numbers may not call \(pn_unverified is not verified\): fix them with the service, or take them out/;
  const { page } = await refusals(world, says);
  const words = { ...goodWords, from_phone_number_id: 'pn_main\npn_unverified' };
  const text = await page.page(await page.prepare({ words: words }, goodList));
  holds(text, [says], ['ready at the service']);
});

const unused = (column: string) => new RegExp(`column "${column}" looks like consent and is not used`);

test.each([
  [
    'states consent and maps no column',
    'basis: consent',
    'phone,name',
    'Ann',
    /states consent, and no column of the list says who gave it/,
  ],
  ['leaves a column of yes and no unused', '', 'phone,name,Opt-in', 'Ann,no', unused('Opt-in')],
  ['rests on something else', 'basis: legitimate_interest', 'phone,name,Consent date', 'Ann,2026-05-01', unused('Consent date')],
  [
    'maps one consent and leaves another',
    'consent: { at: when, source: name, text: name }',
    'phone,name,when,Permission',
    'Ann,2026-05-01,no',
    unused('Permission'),
  ],
])('a campaign that %s is refused on every face', async (_, yaml, header, cells, says) => {
  const world = await createWorld();
  world.writeCampaign({ yaml: [yaml] });
  writeFileSync(world.path('list.csv'), `${header}\n${numberAt(0)},${cells}\n`);
  await refusals(world, says);
});

test('on the page a column that looks like consent has to be answered: as a yes, or as something else', async () => {
  const { page } = await openFaces(await createWorld());
  const list = ['id,phone,Agreed on,Consent', `1,${numberAt(0)},2026-05-01,yes`, `2,${numberAt(1)},2026-05-01,no`, `3,${numberAt(2)},,yes`];
  const path = await page.begin(list.join('\n'));
  const { agent_id, from_phone_number_id } = goodWords;
  const plain = { agent_id, from_phone_number_id };
  for (const [part, fields] of Object.entries({ columns: { 'column.0': 'list.id' }, words: plain, calls: goodCalls, name: goodName }))
    expect((await page.save(path, part, fields)).status).toBe(303);
  const open = await page.page(path);
  holds(open, [/This looks like consent\. Choose what it is\./, /It cannot start[\s\S]*looks like consent/]);

  const ofList = { 'consent.source_of_list': 'web form', 'consent.text_of_list': 'I agree to be called' };
  const consent = { 'column.2': 'consent.at', 'column.3': 'consent.yes', ...ofList };
  expect((await page.save(path, 'columns', consent)).status).toBe(303);
  const mapped = await page.page(path);
  holds(mapped, [/<span class="big num">1<\/span>\s*<span class="soft">of 3 can be called/], ['looks like consent']);
  const written = /consent:\n {2}yes: Consent\n {2}at: Agreed on\n {2}source_of_list: web form\n {2}text_of_list: I agree to be called\n/;
  expect(await page.yaml(path)).toMatch(written);

  expect((await page.save(path, 'columns', { 'column.2': 'list.not_consent', 'column.3': 'list.not_consent' })).status).toBe(303);
  const other = await page.page(path);
  expect(await page.yaml(path)).toMatch(/not_consent:\n {4}- Agreed on\n {4}- Consent\n/);
  expect(other).not.toContain('looks like consent');
  expect((await page.save(path, 'calls', { ...goodCalls, basis: 'consent' })).status).toBe(303);
  expect(await page.page(path)).toMatch(/It cannot start[\s\S]*no column of the list says who gave it/);
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { RecipientEditor } from '../../src/ledger/people/edit-recipients.ts';
import { buildRow } from '../support/campaign-rules.ts';
import { createWorld, numberAt, proven, type CampaignWorld } from '../interfaces/cli/campaign-world.ts';
import { until } from '../support/until.ts';

interface Answer {
  status: number;
  headers: Headers;
  // A test says of each answer what it expects.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

/** The API of the world's database, and a way to ask it with a token of each role. */
async function serve(world: CampaignWorld) {
  const tokens: Record<string, string> = {};
  for (const role of ['read', 'operate', 'admin']) {
    const made = await world.run('token', 'create', `${role} console`, '--role', role, '--json');
    tokens[role] = (JSON.parse(made.stdout) as { token: string }).token;
  }
  const server = world.begin('serve', '--port', '0', '--json');
  const ready = await until('the API listens', () => /\{.*"ready".*\}/.exec(server.io.written().stdout)?.[0]);
  const { url } = JSON.parse(ready) as { url: string };
  let keys = 0;
  const ask = async (
    request: `${'GET' | 'POST'} ${string}`,
    { role = 'operate', key, json, form }: { role?: string; key?: string; json?: object; form?: FormData } = {},
  ): Promise<Answer> => {
    const [method = '', path = ''] = request.split(' ');
    keys += 1;
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${tokens[role]}`,
        ...(method === 'GET' ? {} : { 'idempotency-key': key ?? `key-${keys}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: form ?? (json === undefined ? null : JSON.stringify(json)),
    });
    const text = await response.text();
    const isJson = /json\b(?!l)/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  return { ask, server };
}

function upload(files: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(files)) form.append(name, new Blob([text]), `${name}.txt`);
  return form;
}

test('a campaign is checked, started, paused, sped up, resumed and handed on through the API alone', async () => {
  const world = await createWorld();
  world.writeCampaign({ rows: 12, yaml: ['retry: { max_attempts: 1 }'] });
  const files = { campaign: world.read('campaign.yaml'), list: world.read('list.csv') };
  await world.work();
  const { ask, server } = await serve(world);
  const { id } = world;

  const checked = await ask('POST /campaigns/check', { role: 'read', form: upload(files) });
  expect(checked.body).toMatchObject({ startable: true, refusal: null, rows: 12, accepted: 12, campaign: { id } });
  expect(JSON.stringify(checked.body)).not.toContain('carillon-upload');
  expect((await ask('POST /campaigns', { role: 'read', form: upload(files) })).status).toBe(403);

  const started = await ask('POST /campaigns', { key: 'go', form: upload(files) });
  expect(started.status, JSON.stringify(started.body)).toBe(201);
  expect(started.body).toMatchObject({ campaignId: id, result: 'started', imported: true, rowsTotal: 12, round: 1 });
  const paused = await ask(`POST /campaigns/${id}/pause`);
  expect(paused.body).toMatchObject({ campaignId: id, notice: null });
  const again = await ask('POST /campaigns', { key: 'go', form: upload(files) });
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.body).toEqual(started.body);
  const attached = await ask('POST /campaigns', { form: upload(files) });
  expect(attached.body).toMatchObject({ result: 'attached', imported: false });
  const other = { ...files, list: files.list.replace('Row1\n', 'Somebody\n') };
  expect(await ask('POST /campaigns', { form: upload(other) })).toMatchObject({
    status: 409,
    body: { code: 'campaign_conflict' },
  });
  const faster = await ask(`POST /campaigns/${id}/adjust`, { json: { maxConcurrentCalls: 12 } });
  expect(faster.body).toMatchObject({ limits: { maxConcurrentCalls: 12 }, notice: null });

  const shown = await ask(`GET /campaigns/${id}`, { role: 'read' });
  expect(shown.body).toMatchObject({ state: 'paused', why: expect.stringMatching(/^paused/) });
  expect(await ask(`POST /campaigns/${id}/resume`, { json: { pausesSeen: 0 } })).toMatchObject({ status: 409 });
  const { pausesSeen } = shown.body as { pausesSeen: number };
  const resumed = await ask(`POST /campaigns/${id}/resume`, { json: { pausesSeen } });
  expect(resumed).toMatchObject({ status: 200, body: { state: 'running' } });
  await until('the campaign has completed', async () => {
    const { body } = await ask(`GET /campaigns/${id}`, { role: 'read' });
    return body.state === 'completed';
  });
  const results = await ask(`GET /campaigns/${id}/results.csv`);
  expect(results.body.trim().split(/\r?\n/)).toHaveLength(13);
  const page = await ask(`GET /campaigns/${id}/results?limit=5&after=5`);
  expect(page.body).toMatchObject({ rows: [6, 7, 8, 9, 10].map((row) => ({ row })), next: 10 });
  const completed = await ask(`GET /campaigns/${id}/results?limit=1&outcome=completed`);
  const [result] = completed.body.rows as { row: number; attempts: number; conversationId: string }[];
  const call = `GET /campaigns/${id}/rows/${result?.row}/calls/${result?.attempts}` as const;
  const transcript = await ask(`${call}/transcript`);
  expect(transcript.body).toMatchObject({ row: result?.row, conversationId: result?.conversationId });
  expect(transcript.body.turns.length).toBeGreaterThan(1);
  expect((await ask(`${call}/recording`)).body.slice(0, 4)).toBe('RIFF');
  expect(await ask(`POST /campaigns/${id}/recover`)).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
  const report = await ask(`GET /campaigns/${id}/report`, { role: 'read' });
  expect(report.body.rows).toEqual({ total: 12, ended: 12 });
  expect(JSON.parse((await world.run('report', id, '--json')).stdout)).toEqual(report.body);
  expect(await world.run('verify', id)).toMatchObject({ code: 0 });
  server.interrupt();
  expect((await server.ended).code).toBe(0);
});

test('rows that were rejected are corrected after the end, and called in another round', async () => {
  const world = await createWorld();
  const [good, wrong, twin, last] = [numberAt(0), numberAt(1), numberAt(2), numberAt(3)];
  // Of five rows, one has a letter in its number, and one the number of another one.
  const lines = [`${good},Guest 1`, `${wrong.slice(0, -1)}O,Guest 2`, `${good},Guest 3`, `${last},Guest 4`, `+1,Guest 5`];
  world.writeCampaign({ lines, yaml: ['retry: { max_attempts: 1 }'] });
  await world.work();
  const { ask, server } = await serve(world);
  const { id } = world;
  const files = { campaign: world.read('campaign.yaml'), list: world.read('list.csv') };
  const started = await ask('POST /campaigns', { form: upload(files) });
  expect(started.body, JSON.stringify(started.body)).toMatchObject({ rowsTotal: 5, rowsRejected: 3 });
  const ended = () =>
    until('the round has ended', async () => (await ask(`GET /campaigns/${id}`, { role: 'read' })).body.state === 'completed');
  await ended();
  const calls = () => world.sandbox.calls().map(({ to }) => to).toSorted(); // prettier-ignore
  expect(calls()).toEqual([good, last].toSorted());

  const rows = [
    { row: 2, cells: { phone: wrong } },
    { row: 3, cells: { phone: twin, name: 'Guest three' } },
    { row: 5, cells: { name: 'Guest five' } },
  ];
  const path = `POST /campaigns/${id}/fix` as const;
  expect((await ask(path, { role: 'read', json: { rows } })).status).toBe(403);
  const looked = await ask(path, { json: { rows, dryRun: true } });
  const told = ['corrected', 'corrected', 'failed'].map((result) => expect.objectContaining({ result }) as unknown);
  expect(looked.body).toMatchObject({ dryRun: true, round: null, rows: told });
  expect(looked.body.rows[2]).toMatchObject({ row: 5, code: 'invalid_phone', column: 'phone' });
  expect((await ask(`GET /campaigns/${id}`)).body).toMatchObject({ state: 'completed', round: 1 });
  const fixed = await ask(path, { key: 'fix', json: { rows } });
  expect(fixed.body).toMatchObject({ dryRun: false, round: 2, notice: null, rows: told });
  expect((await ask(path, { key: 'fix', json: { rows } })).body).toEqual(fixed.body);
  await ended();
  // The service was asked for nobody twice.
  expect(calls()).toEqual([good, wrong, twin, last].toSorted());
  const page = await ask(`GET /campaigns/${id}/results`);
  expect(page.body.rows.map(({ outcome }: { outcome: string }) => outcome === 'rejected')).toEqual([false, false, false, false, true]);
  expect((await ask(`GET /campaigns/${id}/results.csv`)).body).toContain('Guest three');
  expect(await ask(path, { json: { rows } })).toMatchObject({
    status: 200,
    body: { round: null, rows: [{ code: 'not_rejected' }, {}, {}] },
  });
  // The server dies when the row is in line, and before its round begins: the same request again begins it.
  const e164 = numberAt(4);
  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  const row = { ...buildRow(5, e164, [e164, 'Guest 5']), country: 'US' };
  const editor = new RecipientEditor(store, { campaignId: id, restore: false, dryRun: false, fixes: true });
  const { at } = await store.db
    .selectFrom('events')
    .select((eb) => eb.fn.max('at').as('at'))
    .executeTakeFirstOrThrow();
  expect(await editor.apply([row], at)).toMatchObject([{ result: 'corrected' }]);
  await store.close();
  const again = await ask(path, { json: { rows: [{ row: 5, cells: { phone: e164 } }] } });
  expect(again.body).toMatchObject({ round: 3, rows: [{ row: 5, result: 'unchanged' }] });
  await ended();
  expect(calls()).toEqual([good, wrong, twin, last, e164].toSorted());
  expect(await world.run('verify', id)).toMatchObject(proven);
  server.interrupt();
  expect((await server.ended).code).toBe(0);
});

test('what is sent cannot name files of the server, and what is wrong with it is told without its paths', async () => {
  const world = await createWorld();
  world.writeCampaign({ rows: 2 });
  const [campaign, list] = [world.read('campaign.yaml'), world.read('list.csv')];
  const { ask, server } = await serve(world);
  const send = (files: Record<string, string>) => ask('POST /campaigns', { form: upload(files) });
  const listNamed = (name: string) => campaign.replace('file: list.csv', `file: ${name}`);
  for (const name of ['/etc/passwd', '../list.csv', 'folder/list.csv', 'campaign.yaml'])
    expect(await send({ campaign: listNamed(name), list }), name).toMatchObject({
      status: 422,
      body: { code: 'campaign_file', detail: expect.stringMatching(/name of the list alone/) },
    });
  const lawful = campaign.replace('law: off', 'law: { rules: /etc/passwd }');
  expect(await send({ campaign: lawful, list })).toMatchObject({ status: 422, body: { code: 'campaign_file' } });
  expect(await send({ campaign })).toMatchObject({
    status: 400,
    body: { code: 'upload', detail: 'The file list is missing.' },
  });
  expect(await send({ campaign, list, more: 'x' })).toMatchObject({ status: 400 });
  const broken = await send({ campaign: campaign.replace('hours: any', 'hours: never'), list });
  expect(broken).toMatchObject({ status: 422, body: { code: 'campaign_file' } });
  expect(broken.body.detail).toMatch(/^campaign\.yaml:\d+: hours/);
  const wrongList = await send({ campaign, list: 'number,name\n1,2\n' });
  expect(wrongList.status).toBe(422);
  expect(wrongList.body.detail).not.toContain('carillon-upload');
  expect(await ask('POST /campaigns', { json: { campaign } })).toMatchObject({ status: 415 });
  expect((await ask('GET /campaigns')).body).toEqual({ campaigns: [] });
  server.interrupt();
  await server.ended;
});

test('a schedule that was made through the API alone fetches its list and calls everybody on it', async () => {
  const world = await createWorld();
  world.writeCampaign({ yaml: ['retry: { max_attempts: 1 }'] });
  const people = Array.from({ length: 5 }, (_, index) => `${numberAt(index)},Guest ${index + 1}`);
  const lists = createServer((_, response) => response.end(`phone,name\n${people.join('\n')}\n`)).listen(0, '127.0.0.1');
  onTestFinished(() => void lists.close());
  await world.work();
  const { ask } = await serve(world);
  const list = `http://127.0.0.1:${(lists.address() as AddressInfo).port}/{{ date }}.csv`;
  const json = { campaign: world.read('campaign.yaml'), list, cron: '0 9 1 1 *', timezone: 'America/New_York' };
  expect(await ask('POST /schedules', { role: 'admin', json })).toMatchObject({ status: 201 });
  const fired = await ask(`POST /schedules/${world.id}/trigger`);
  const { campaignId } = fired.body as { campaignId: string };
  const stateOf = async () => ((await ask(`GET /campaigns/${campaignId}`)).body as { state?: string }).state;
  await until('its campaign has ended', async () => (await stateOf()) === 'completed', {
    everyMs: 250,
  });
  expect(new Set(world.sandbox.calls().map(({ to }) => to))).toEqual(new Set(people.map((_, index) => numberAt(index))));
  expect((await ask(`GET /schedules/${world.id}`)).body.last).toMatchObject({ campaignId, result: 'completed' });
  expect(await world.run('verify')).toMatchObject(proven);
});

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { sweepDrafts } from '../../src/ledger/console/drafts.ts';
import { beginRehearsal, endRehearsal } from '../../src/ledger/console/rehearsals.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { RecipientEditor } from '../../src/ledger/people/edit-recipients.ts';
import { groupBy } from '../../src/rules/collections.ts';
import { numberAt, proven, useSharedWorld, type CampaignWorld } from '../interfaces/cli/campaign-world.ts';
import { hiddenFields } from '../interfaces/console/console-world.ts';
import { rehearsedReport } from '../interfaces/console/rehearsed-report.ts';
import { buildRow, hourMs } from '../support/campaign-rules.ts';
import { signIn } from '../support/sign-in.ts';
import { until } from '../support/until.ts';

/*
 * Campaigns of one worker and one server, all at once: each calls numbers of its own, and is asked for through the interface that its test
 * is about.
 */

const [ana, ben, chloe] = ['+17185550131', '+13055550132', '+16025550133'];
let url: string;
const tokens: Record<string, string> = {};
const people = [
  { number: ana, mood: 'friendly' as const, answers: { wants_callback: true, callback_in: 60 } },
  { number: ben, mood: 'friendly' as const, answers: { wants_callback: false, callback_in: 60 } },
  { number: chloe, mood: 'friendly' as const, answers: { wants_callback: true, callback_in: 0 } },
];
const newWorld = useSharedWorld({}, { world: { people } }, async (world) => {
  [url] = await Promise.all([world.serve(), world.work()]);
  for (const role of ['read', 'operate', 'admin']) tokens[role] = await world.token(`${role} console`, role);
});

interface Answer {
  status: number;
  headers: Headers;
  // Each test states its expected answer.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

let keys = 0;
async function ask(
  request: `${'GET' | 'POST'} ${string}`,
  { role = 'operate', key = `key-${++keys}`, json, form }: { role?: string; key?: string; json?: object; form?: FormData } = {},
): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${tokens[role]}`,
      ...(method === 'GET' ? {} : { 'idempotency-key': key }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: form ?? (json === undefined ? null : JSON.stringify(json)),
  });
  const text = await response.text();
  const isJson = /json\b(?!l)/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

function upload(files: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(files)) form.append(name, new Blob([text]), `${name}.txt`);
  return form;
}

const completed = (id: string) =>
  until(`${id} has ended`, async () => (await ask(`GET /campaigns/${id}`, { role: 'read' })).body.state === 'completed', { everyMs: 100 });

const calledOf = ({ sandbox }: CampaignWorld, numbers: readonly string[]): string[] =>
  sandbox.calls().flatMap(({ to }) => (numbers.includes(to) ? [to] : [])).toSorted(); // prettier-ignore

test.concurrent(
  'a campaign is checked, started, paused, sped up, resumed, mended after its end and handed on through the API alone',
  async () => {
    const world = newWorld();
    const { id } = world;
    const good = Array.from({ length: 9 }, (_, at) => numberAt(at));
    const [first = ''] = good;
    const [wrong, twin, last] = [numberAt(9), numberAt(10), numberAt(11)];
    // Of twelve rows, one has a letter in its number, one another row's number, and one none.
    const lines = [...good, `${wrong.slice(0, -1)}O`, first, '+1'].map((number, at) => `${number},Guest ${at + 1}`);
    world.writeCampaign({ lines, yaml: ['retry: { max_attempts: 1 }'] });
    const files = { campaign: world.read('campaign.yaml'), list: world.read('list.csv') };

    const checked = await ask('POST /campaigns/check', { role: 'read', form: upload(files) });
    expect(checked.body).toMatchObject({ startable: true, refusal: null, rows: 12, accepted: 9, campaign: { id } });
    expect(JSON.stringify(checked.body)).not.toContain('carillon-upload');
    expect((await ask('POST /campaigns', { role: 'read', form: upload(files) })).status).toBe(403);

    const started = await ask('POST /campaigns', { key: 'go', form: upload(files) });
    expect(started.status, JSON.stringify(started.body)).toBe(201);
    expect(started.body).toMatchObject({ campaignId: id, result: 'started', imported: true, rowsTotal: 12, rowsRejected: 3, round: 1 });
    // A new worker may outlast the answer's wait; repeating the pause is harmless.
    await until('the worker has heard of the pause', async () => (await ask(`POST /campaigns/${id}/pause`)).body.notice === null);
    const again = await ask('POST /campaigns', { key: 'go', form: upload(files) });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(started.body);
    const attached = await ask('POST /campaigns', { form: upload(files) });
    expect(attached.body).toMatchObject({ result: 'attached', imported: false });
    const other = { ...files, list: files.list.replace('Guest 1\n', 'Somebody\n') };
    expect(await ask('POST /campaigns', { form: upload(other) })).toMatchObject({ status: 409, body: { code: 'campaign_conflict' } });
    const faster = await ask(`POST /campaigns/${id}/adjust`, { json: { maxConcurrentCalls: 12 } });
    expect(faster.body).toMatchObject({ limits: { maxConcurrentCalls: 12 } });

    const shown = await ask(`GET /campaigns/${id}`, { role: 'read' });
    expect(shown.body).toMatchObject({ state: 'paused', why: expect.stringMatching(/^paused/) });
    expect(await ask(`POST /campaigns/${id}/resume`, { json: { pausesSeen: 0 } })).toMatchObject({ status: 409 });
    const { pausesSeen } = shown.body as { pausesSeen: number };
    const resumed = await ask(`POST /campaigns/${id}/resume`, { json: { pausesSeen } });
    expect(resumed).toMatchObject({ status: 200, body: { state: 'running' } });
    await completed(id);
    const calls = () =>
      calledOf(
        world,
        Array.from({ length: 13 }, (_, at) => numberAt(at)),
      );
    expect(calls()).toEqual(good.toSorted());
    const results = await ask(`GET /campaigns/${id}/results.csv`);
    expect(results.body.trim().split(/\r?\n/)).toHaveLength(13);
    const page = await ask(`GET /campaigns/${id}/results?limit=5&after=5`);
    expect(page.body).toMatchObject({ rows: [6, 7, 8, 9, 10].map((row) => ({ row })), next: 10 });
    const answered = await ask(`GET /campaigns/${id}/results?limit=1&outcome=completed`);
    const [result] = answered.body.rows as { row: number; attempts: number; conversationId: string }[];
    const call = `GET /campaigns/${id}/rows/${result?.row}/calls/${result?.attempts}` as const;
    const transcript = await ask(`${call}/transcript`);
    expect(transcript.body).toMatchObject({ row: result?.row, conversationId: result?.conversationId });
    expect(transcript.body.turns.length).toBeGreaterThan(1);
    expect((await ask(`${call}/recording`)).body.slice(0, 4)).toBe('RIFF');
    expect(await ask(`POST /campaigns/${id}/recover`)).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
    const report = await ask(`GET /campaigns/${id}/report`, { role: 'read' });
    expect(report.body.rows).toEqual({ total: 12, ended: 12 });
    expect(JSON.parse((await world.run('report', id, '--json')).stdout)).toEqual(report.body);

    const rows = [
      { row: 10, cells: { phone: wrong } },
      { row: 11, cells: { phone: twin, name: 'Guest eleven' } },
      { row: 12, cells: { name: 'Guest twelve' } },
    ];
    const path = `POST /campaigns/${id}/fix` as const;
    expect((await ask(path, { role: 'read', json: { rows } })).status).toBe(403);
    const looked = await ask(path, { json: { rows, dryRun: true } });
    const told = ['corrected', 'corrected', 'failed'].map((each) => expect.objectContaining({ result: each }) as unknown);
    expect(looked.body).toMatchObject({ dryRun: true, round: null, rows: told });
    expect(looked.body.rows[2]).toMatchObject({ row: 12, code: 'invalid_phone', column: 'phone' });
    expect((await ask(`GET /campaigns/${id}`)).body).toMatchObject({ state: 'completed', round: 1 });
    const fixed = await ask(path, { key: 'fix', json: { rows } });
    expect(fixed.body).toMatchObject({ dryRun: false, round: 2, rows: told });
    expect((await ask(path, { key: 'fix', json: { rows } })).body).toEqual(fixed.body);
    await completed(id);
    expect(calls()).toEqual([...good, wrong, twin].toSorted());
    const ends = (await ask(`GET /campaigns/${id}/results`)).body.rows as { outcome: string }[];
    expect(ends.flatMap(({ outcome }, at) => (outcome === 'rejected' ? [at + 1] : []))).toEqual([12]);
    expect((await ask(`GET /campaigns/${id}/results.csv`)).body).toContain('Guest eleven');
    const late = { round: null, rows: [{ code: 'not_rejected' }, {}, {}] };
    expect(await ask(path, { json: { rows } })).toMatchObject({ status: 200, body: late });
    // The server dies when the row is queued, before its round begins: repeating the request begins it.
    const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
    const row = { ...buildRow(12, last, [last, 'Guest 12']), country: 'US' };
    const editor = new RecipientEditor(store, { campaignId: id, restore: false, dryRun: false, fixes: true });
    const newest = store.db.selectFrom('events').select((eb) => eb.fn.max('at').as('at')).where('campaign_id', '=', id); // prettier-ignore
    const { at } = await newest.executeTakeFirstOrThrow();
    expect(await editor.apply([row], at)).toMatchObject([{ result: 'corrected' }]);
    await store.close();
    const anew = await ask(path, { json: { rows: [{ row: 12, cells: { phone: last } }] } });
    expect(anew.body).toMatchObject({ round: 3, rows: [{ row: 12, result: 'unchanged' }] });
    await completed(id);
    expect(calls()).toEqual([...good, wrong, twin, last].toSorted());
    expect(await world.run('verify', id)).toMatchObject(proven);
  },
);

test.concurrent('a schedule that was made through the API alone fetches its list and calls everybody on it', async () => {
  const world = newWorld();
  world.writeCampaign({ yaml: ['retry: { max_attempts: 1 }'] });
  const people = [20, 21, 22, 23, 24].map(numberAt);
  const csv = ['phone,name', ...people.map((number, at) => `${number},Guest ${at + 1}`), ''].join('\n');
  const lists = createServer((_, response) => response.end(csv)).listen(0, '127.0.0.1');
  await once(lists, 'listening');
  try {
    const list = `http://127.0.0.1:${(lists.address() as AddressInfo).port}/{{ date }}.csv`;
    const json = { campaign: world.read('campaign.yaml'), list, cron: '0 9 1 1 *', timezone: 'America/New_York' };
    expect(await ask('POST /schedules', { role: 'admin', json })).toMatchObject({ status: 201 });
    const fired = await ask(`POST /schedules/${world.id}/trigger`);
    const { campaignId } = fired.body as { campaignId: string };
    await completed(campaignId);
    expect(calledOf(world, people)).toEqual(people.toSorted());
    const last = async () => (await ask(`GET /schedules/${world.id}`)).body.last as object;
    await until('the run is over', async () => 'result' in (await last()));
    expect(await last()).toMatchObject({ campaignId, result: 'completed' });
    expect(await world.run('verify', campaignId)).toMatchObject(proven);
  } finally {
    lists.close();
  }
});

interface ServiceRecord {
  transcript: { role?: string; speaker?: string }[];
  metadata: { call_duration_secs: number; phone_call: { external_number: string; call_result: string } };
  collected_data: Record<string, unknown>;
}

/** The result of a talk by the service's record alone; null: no talk, or an opt-out. */
function cameTo({ transcript, metadata, collected_data: collected }: ServiceRecord): string | null {
  const value = (key: string): unknown => {
    const said = collected[key];
    return typeof said === 'object' && said !== null && 'value' in said ? said.value : said;
  };
  const spoke = transcript.some(({ role, speaker }) => (role ?? speaker) === 'user');
  if (!spoke || metadata.phone_call.call_result !== 'answered' || value('opt_out') === true) return null;
  if (value('appointment') === 'confirmed') return 'confirmed';
  if (value('appointment') === 'reschedule' || value('appointment') === 'later') return 'moved';
  if (metadata.call_duration_secs < 30) return 'quick';
  return 'other';
}

/** The service refuses these before it queues anything, and with them their whole request. */
const refused = ['+12125550120', '+13125550120', '+14155550120'];

interface Told {
  calls: { calls: number };
  attempt: { value: number; calls: number }[];
  disposition: { value: string; calls: number }[];
  caller: { calls: number }[];
  funnel: { called: number; notCalled: Record<string, number> };
  course: { points: { starts: number }[] };
  goal: { talks: object; people: object };
}

test.concurrent(
  'what a report calls a call is one of the service, and what talks came to is what its records tell, on every face',
  async () => {
    const world = newWorld();
    const { id } = world;
    const people = Array.from({ length: 80 }, (_, at) => numberAt(60 + at));
    const lines = [...people.slice(0, 8), ...refused, ...people.slice(8)].map((number, at) => `${number},Row${at}`);
    const retry = 'retry: { max_attempts: 3, busy: 2m, no_answer: 2m, unreached: 2m, voicemail: 2m, failed: 2m }';
    const yaml = [
      'opt_out: [{ collected: opt_out, equals: true }]',
      'results:',
      '  - { result: confirmed, collected: appointment, equals: confirmed, goal: true }',
      '  - { result: moved, collected: appointment, equals: [reschedule, later] }',
      '  - { result: quick, talk_under: 30s }',
      'pacing: { max_concurrent_calls: 27, batch_size: 9 }',
      retry,
    ];
    expect((await world.run('start', world.writeCampaign({ lines, yaml }))).code).toBe(0);
    await completed(id);

    const calls = world.sandbox.calls().filter(({ to }) => people.includes(to));
    const perPerson = groupBy(calls, ({ to }) => to);
    const nth = [...perPerson.values()].flatMap((own) => own.map((_, index) => index + 1));
    const placed = [1, 2, 3].map((value) => ({ value, calls: nth.filter((each) => each === value).length }));
    // The world exercises the rule: calls were withdrawn and repeated, some recipients called more than once.
    expect((await world.run('events', id, '--json')).stdout).toMatch(/"attempt\.released".*"attemptId":"[^"]*\/[4-9]"/s);
    expect(placed.every((line) => line.calls > 0)).toBe(true);
    const expected = new Map<string, string>();
    for (const { conversationId } of calls) {
      if (conversationId === null) continue;
      const headers = { 'x-api-key': 'sk_sandbox_ok' };
      const answer = await fetch(`${world.sandbox.url}/v1/convai/conversations/${conversationId}`, { headers });
      const record = (await answer.json()) as ServiceRecord;
      const result = cameTo(record);
      if (result !== null) expected.set(record.metadata.phone_call.external_number, result);
    }
    expect(expected.size).toBeGreaterThan(people.length / 4);
    const counts: Record<string, number> = {};
    for (const result of expected.values()) counts[result] = (counts[result] ?? 0) + 1;
    expect(counts['confirmed']).toBeGreaterThan(0);

    const written = await world.run('results', id, '--output', '-');
    const cells = parse<Record<string, string>>(written.stdout, { columns: true });
    const results = new Map(cells.flatMap(({ phone = '', result = '' }) => (result === '' ? [] : [[phone, result] as const])));
    expect(results).toEqual(expected);
    const some = await world.run('results', id, '--result', 'confirmed', '--format', 'jsonl', '--output', '-');
    expect(some.stdout.trim().split('\n')).toHaveLength(counts['confirmed'] ?? 0);

    const report = JSON.parse((await world.run('report', id, '--json')).stdout) as Told;
    expect(report.calls.calls).toBe(calls.length);
    expect(report.attempt).toMatchObject(placed);
    expect(report.attempt).toHaveLength(placed.length);
    const sum = (each: { calls: number }[]) => each.reduce((total, line) => total + line.calls, 0);
    expect(sum(report.disposition)).toBe(calls.length);
    expect(sum(report.caller)).toBe(calls.length);
    expect(report.funnel).toMatchObject({ called: people.length, notCalled: { undialable: refused.length } });
    expect(report.course.points.reduce((total, { starts }) => total + starts, 0)).toBe(calls.length);
    expect(report.goal.talks).toMatchObject({ count: counts['confirmed'], of: expected.size });
    expect(report.goal.people).toMatchObject({ count: counts['confirmed'], of: people.length });
    expect((await world.run('report', id)).stdout).toContain(`goal reached in ${counts['confirmed']} of ${expected.size} talks`);
    const told = JSON.parse((await world.run('status', id, '--json')).stdout) as { callers: { calls: number }[]; results: object };
    expect(told.results).toEqual(counts);
    expect(sum(told.callers)).toBe(calls.length);
    const [, said = ''] = /\nCalls +(.*)/.exec((await world.run('status', id)).stdout) ?? [];
    const counted = said.split(' · ').map((part) => Number(part.split(' ').at(-1)));
    expect(counted.reduce((total, count) => total + count, 0)).toBe(calls.length);
    expect(await world.run('verify', id)).toMatchObject(proven);
  },
);

/** A minute of real time: under load sooner is not certain. */
const lateMs = 10 * hourMs;

interface Listed {
  callbacks: { row: number; state: string; dueAt: string | null; said: string | null; reason: string | null; madeBy: string | null }[];
}

test.concurrent(
  'a new campaign of init calls people back as they asked, and as an operator says; what is not clear is left to a person',
  async () => {
    const world = newWorld();
    const folder = world.path('spring-calls');
    expect(await world.run('init', folder, '--with', 'callbacks')).toMatchObject({ code: 0 });
    const file = `${folder}/campaign.yaml`;
    const id = `${world.id}-calls`;
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('late: 30m');
    // At any hour; otherwise the test would wait for the morning.
    const timeless = text
      .replace(/^holidays: .*\n/m, '')
      .replace(/^hours:\n(?: {2}.*\n)+/m, 'hours: any\nlaw: off\nadvanced: { analysis_wait: 2m }\n')
      .replace('late: 30m', 'late: 10h')
      .replace(/^id: .*$/m, `id: ${id}`)
      .replace(/^caps:\n.*\n/m, '');
    writeFileSync(file, timeless);
    const people = [`1,Ana,${ana},Monday,9 am`, `2,Ben,${ben},Monday,10 am`, `3,Chloe,${chloe},Monday,11 am`];
    writeFileSync(`${folder}/recipients.csv`, ['id,first_name,phone,day,time', ...people, ''].join('\n'));
    expect(await world.run('check', file)).toMatchObject({ code: 0 });
    expect(await world.run('start', file)).toMatchObject({ code: 0 });
    const listed = async () => JSON.parse((await world.run('callback', 'list', id, '--json')).stdout) as Listed;
    await until('two call backs', async () => (await listed()).callbacks.length >= 2, { everyMs: 250 });
    expect((await listed()).callbacks.find(({ row }) => row === 3)).toMatchObject({
      state: 'unclear',
      reason: 'not_understood',
      said: '0',
      dueAt: null,
    });

    // Ben declined a call; an operator schedules a callback for him.
    const talkWith = async (row: number) =>
      ((await ask(`GET /campaigns/${id}/results`)).body.rows as { outcome: string }[])[row - 1]?.outcome;
    await until('a talk with Ben', async () => (await talkWith(2)) === 'completed');
    const at = new Date(Math.ceil(world.sandbox.clock.now() / 1000) * 1000 + 4 * hourMs).toISOString();
    const callback = (what: string, ...args: string[]) => world.run('callback', what, id, ...args);
    expect(await callback('set', '--id', '2', '--at', at)).toMatchObject({ code: 0, stdout: expect.stringContaining(at) });
    const refusedAs = (says: string) => ({ code: 2, stderr: expect.stringContaining(says) as string });
    expect(await callback('set', '--id', '9', '--at', at)).toMatchObject(refusedAs('no row with the id 9'));
    expect(await callback('set', '--row', '2', '--at', '17:00')).toMatchObject({ code: 2 });
    expect(await callback('set', '--row', '2', '--at', '2020-01-01 17:00')).toMatchObject(refusedAs('that time has passed'));
    expect((await listed()).callbacks.find(({ row }) => row === 2)).toMatchObject({ state: 'open', madeBy: 'the command line' });
    expect(await callback('cancel', '--row', '3', '--id', '3', '--yes')).toMatchObject({ code: 2 });
    expect(await callback('cancel', '--id', '3', '--yes')).toMatchObject({ code: 0 });
    expect(await callback('cancel', '--row', '3', '--yes')).toMatchObject({ code: 2 });

    expect((await world.run('run', file)).code).toBe(0);
    const callsTo = (number: string) =>
    world.sandbox.calls().filter(({ to }) => to === number).toSorted((a, b) => a.acceptedAt - b.acceptedAt); // prettier-ignore
    expect(callsTo(chloe)).toHaveLength(1);
    const [, second, ...more] = callsTo(ben);
    expect(more).toEqual([]);
    expect(second?.acceptedAt).toBeGreaterThanOrEqual(Date.parse(at));
    expect(second?.acceptedAt).toBeLessThan(Date.parse(at) + lateMs);
    // Three callbacks, each an hour after the previous talk; at the fourth request an operator decides.
    const calls = callsTo(ana);
    expect(calls).toHaveLength(4);
    for (const [index, call] of calls.entries()) {
      const before = calls[index - 1]?.endedAt;
      if (before == null) continue;
      expect(call.acceptedAt).toBeGreaterThanOrEqual(before + hourMs - 1_000);
      expect(call.acceptedAt).toBeLessThan(before + hourMs + lateMs);
    }
    const { body: status } = await ask(`GET /campaigns/${id}`);
    expect(status.callbacks).toMatchObject({ open: 0, overdue: 0, unclear: 1, ended: { kept: 4, missed: 0, cancelled: 1 } });
    expect((await world.run('status', id)).stdout).toMatch(/Callbacks +kept 4 · cancelled 1 · unclear 1/);
    expect((await world.run('report', id)).stdout).toContain('Call backs: kept 4 · cancelled 1 · unclear 1');
    expect((await ask(`GET /campaigns/${id}/report`)).body).toMatchObject({ callbacks: { ended: { kept: 4 } } });
    expect((await world.run('results', id, '-o', '-')).stdout).toMatch(/callback_at,callback_state/);
    expect(await callback('set', '--row', '2', '--at', at)).toMatchObject(refusedAs('is completed'));
    expect(await world.run('verify', id)).toMatchObject(proven);
  },
);

async function openBrowser(token: string) {
  const cookie = await signIn(url, token);
  const ask = async (path: string, body?: FormData | URLSearchParams) => {
    const sent = body === undefined ? {} : { method: 'POST', body };
    const headers = { cookie, origin: url, 'sec-fetch-site': 'same-origin' };
    const answer = await fetch(`${url}${path}`, { ...sent, headers, redirect: 'manual' });
    return { status: answer.status, text: await answer.text(), location: answer.headers.get('location') ?? '' };
  };
  return ask;
}

test.concurrent('a campaign that the page has started is the one that its downloaded file starts', async () => {
  const world = newWorld();
  const browse = await openBrowser(tokens['operate'] ?? '');
  const get = async (path: string) => (await browse(path)).text;
  const post = async (path: string, body: FormData | Record<string, string>) => {
    const answer = await browse(path, body instanceof FormData ? body : new URLSearchParams(body));
    expect(answer.status, answer.text).toBe(303);
    return answer.location;
  };
  const list = `phone,name\n${numberAt(30)},Ana\n${numberAt(31)},Ben\n`;
  const form = new FormData();
  form.append('list', new Blob([list]), 'guests.csv');
  const path = await post('/new', form);
  await post(`${path}/words`, { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', first_message: 'Hello {{ name }}.' });
  await post(`${path}/calls`, { hours: 'any' });
  await post(`${path}/name`, { id: world.id });
  const yaml = await get(`${path}/campaign.yaml`);
  const checked = await until('the list is read', async () => {
    const text = await get(path);
    return text.includes('being read') ? undefined : text;
  });
  expect(checked).toContain('Agent and caller number are ready at the service');
  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  const [draftId = ''] = (await store.db.selectFrom('drafts').select('draft_id').execute()).map((row) => row.draft_id);
  await world.inTurn(() => beginRehearsal(store, draftId, 'as it was'));
  const [, key = ''] = /name="key" value="([^"]+)"/.exec(checked) ?? [];
  expect(await post(`${path}/start`, { key, campaign: world.id })).toBe(`/campaigns/${world.id}`);
  // The button was pressed twice, or the draft was open in a second tab.
  expect(await post(`${path}/start`, { key, campaign: world.id })).toBe(`/campaigns/${world.id}`);
  expect(await get('/new')).toContain('There is none.');
  // It began before the campaign's start and ends afterwards.
  await world.inTurn(() => endRehearsal(store, draftId, JSON.stringify(rehearsedReport)));
  await world.inTurn(() => sweepDrafts(store, Date.now()));
  await store.close();
  expect(await get(`/campaigns/${world.id}`)).toContain(`href="/campaigns/${world.id}/rehearsal"`);
  expect(await get(`/campaigns/${world.id}/rehearsal`)).toContain('The campaign went as it should.');

  writeFileSync(world.path('campaign.yaml'), yaml);
  writeFileSync(world.path('guests.csv'), list);
  const again = await world.run('start', world.path('campaign.yaml'), '--json');
  expect(again.code, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ campaignId: world.id, imported: false });
  writeFileSync(world.path('guests.csv'), list.replace('Ben', 'Bert'));
  expect(await world.run('start', world.path('campaign.yaml'))).toMatchObject({ code: 2 });
});

test.concurrent('two people who press opposite buttons at once are each told the truth, and twice is once', async () => {
  const world = newWorld();
  const { id } = world;
  const lines = [40, 41, 42].map((at) => `${numberAt(at)},Row${at}`);
  await world.run('start', world.writeCampaign({ lines, yaml: ['starts_at: 2099-01-01T00:00:00Z'] }));
  const open = async (name: string) => {
    const browse = await openBrowser(await world.token(name, 'operate'));
    return {
      open: async (wish: string) => hiddenFields((await browse(`/campaigns/${id}/${wish}`)).text),
      press: (wish: string, fields: Record<string, string>) => browse(`/campaigns/${id}/${wish}`, new URLSearchParams(fields)),
    };
  };
  const [anna, otto] = [await open('front desk'), await open('night console')];
  const state = async () => (await ask(`GET /campaigns/${id}`)).body.state as string;

  const pauseOfBefore = await anna.open('pause');
  expect((await otto.press('pause', await otto.open('pause'))).status).toBe(303);
  const resume = await otto.open('resume');
  const [paused, resumed] = await Promise.all([anna.press('pause', pauseOfBefore), otto.press('resume', resume)]);
  expect(paused.status).toBe(303);
  // The later change wins; a resume from a page before a later pause does not undo it.
  if (resumed.status === 409) expect(resumed.text).toContain('Last changed by');
  else expect(resumed.status).toBe(303);
  expect(['paused', 'scheduled']).toContain(await state());
  if (resumed.status === 409) expect(await state()).toBe('paused');

  const [drain, cancel] = [await anna.open('drain'), await otto.open('cancel')];
  // Each presses twice, and both answers to a button are of the same change.
  const presses = [() => anna.press('drain', drain), () => otto.press('cancel', cancel)];
  for (const { status, text } of await Promise.all([...presses, ...presses].map((press) => press()))) {
    expect([303, 409]).toContain(status);
    if (status === 409) expect(text).toMatch(/role="alert"/);
  }
  await until('it has ended', async () => ['completed', 'cancelled'].includes(await state()));
  const log = (await world.run('events', id, '--json')).stdout.trim().split('\n');
  const acts = log.map((line) => JSON.parse(line) as { type: string; text: string });
  const done = acts.flatMap(({ type, text }) => (type === 'operator.acted' ? [text] : []));
  // In any order, each change is logged once, under its operator's name.
  expect(done.toSorted()).toEqual([...new Set(done)].toSorted());
  expect(done).toEqual(expect.arrayContaining(['front desk: pause', 'night console: pause']));
  expect(done.some((act) => act === 'front desk: drain' || act === 'night console: cancel')).toBe(true);
  const late = await otto.press('cancel', { ...cancel, key: 'much later' });
  expect(late).toMatchObject({ status: 409, text: expect.stringMatching(/has ended.*Last changed by/s) });
  expect(await world.run('verify', id)).toMatchObject(proven);
});

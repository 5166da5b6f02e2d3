import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { readEvents } from '../../src/ledger/events.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { FictionalNumbers } from '../../src/list/fictional-numbers.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { proven, useSharedWorld, type CampaignWorld } from '../interfaces/cli/campaign-world.ts';
import { isFull, seedFactor } from '../support/depth.ts';
import { freePort } from '../support/free-port.ts';
import { killedCommand, lostRequests, type KilledCommand } from '../support/killed-command.ts';
import { until } from '../support/until.ts';

/*
 * Three campaigns at once over one worker and one server of the API, both of which are killed again and again: leads that come by request,
 * a list of which a sample is called first, and one that rests on consent and has to be answered for.
 */

const isLong = isFull && seedFactor > 1;
/** All 5,000 with `SEED_FACTOR=2`. */
const adds = isFull ? (isLong ? 5_000 : 1_000) : 240;
const [listed, sample] = isFull ? (isLong ? [10_000, 400] : [3_000, 100]) : [400, 40];
/** Those that get bundles; four of them share each name. */
const answeredFor = isFull ? (isLong ? 300 : 80) : 24;

/** 13:10 in New York, and near midnight in Kolkata. */
const epochMs = Date.parse('2026-12-01T18:10:00Z');
let port: string;
let token: string;
let worker: KilledCommand;
let api: KilledCommand;
const settings = {
  CARILLON_HEARTBEAT_TIMEOUT_MS: '6000',
  CARILLON_SUBMIT_HEARTBEAT_TIMEOUT_MS: '6000',
  CARILLON_SHORT_TIMEOUT_MS: '4000',
  CARILLON_SUBMIT_SLACK_MS: '500',
  CARILLON_STICKY_TIMEOUT_MS: '1000',
};
const newWorld = useSharedWorld(settings, { seed: 31, concurrency: 400, speed: 160, epochMs }, async (world) => {
  port = String(await freePort());
  worker = killedCommand(world.env, ['worker', '--json'], '"ready":true');
  api = killedCommand(world.env, ['serve', '--port', port, '--json'], '"ready"');
  token = await world.token('the web form', 'operate');
  await Promise.all([worker.begin(), api.begin()]);
});
afterAll(() => Promise.all([worker.end(), api.end()]));

const spare = new FictionalNumbers('under kills');
const take = () => spare.take('+12125550121') ?? '';

async function start(world: CampaignWorld, yaml: readonly string[], list: readonly string[], ...flags: string[]): Promise<void> {
  writeFileSync(world.path('list.csv'), `${list.join('\n')}\n`);
  const basis = [
    `id: ${world.id}`,
    'agent_id: agent_reminders',
    'from_phone_number_id: pn_main',
    'law: off',
    'breaker: off',
    'retry: { max_attempts: 1 }',
  ];
  writeFileSync(world.campaignPath, [...basis, ...yaml, ''].join('\n'));
  const started = await world.run('start', world.campaignPath, ...flags);
  expect(started, started.stderr).toMatchObject({ code: 0 });
}

interface Status {
  state: string;
  stateReason: string | null;
  why: string | null;
  pilot: { sample: number; state: string; rows: number; called: number } | null;
}
/** Null: no server now. Resumes a campaign that paused because its first calls left no record. */
async function statusOf(world: CampaignWorld): Promise<Status | null> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/campaigns/${world.id}`, { headers }).catch(() => null);
  const status = answer?.ok === true ? ((await answer.json().catch(() => null)) as Status | null) : null;
  if (status?.state === 'paused' && /first calls/.test(status.stateReason ?? '')) await world.run('resume', world.id);
  return status;
}

const untilIt = (world: CampaignWorld, what: string, holds: (status: Status) => boolean) =>
  until(
    `${world.id} ${what}`,
    async () => {
      const status = await statusOf(world);
      return status !== null && holds(status) && status;
    },
    { everyMs: 250 },
  );
const untilEnded = (world: CampaignWorld, as = 'completed') => untilIt(world, 'has ended', ({ state }) => state === as);

const calledBy: ReadonlySet<string>[] = [];
const callsTo = ({ sandbox }: CampaignWorld, numbers: ReadonlySet<string>) => sandbox.calls().filter(({ to }) => numbers.has(to));
const repeated = (texts: readonly string[]) => texts.filter((text, at) => texts.indexOf(text) !== at);

interface Lead {
  lead: string;
  phone: string;
  name: string;
  zone: string;
}
const clientCount = 8;
const mostPerRequest = 5;
const hours = { from: 13, to: 22 };
const expiresAfterMs = 10 * 3_600_000;
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const killsAt = isLong ? [0.15, 0.4, 0.7] : [0.3];

function hourAt(instant: number, zone: string): number {
  return Number(new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', hourCycle: 'h23' }).format(instant));
}

test.concurrent('leads that come twice by eight clients are one row each, and one call within hours and time', async () => {
  const random = new Random('leads under kills');
  const world = newWorld();
  // Four share each name; a tenth lives where calls are not allowed for hours.
  const leads = Array.from({ length: adds / 2 }, (_, at): Lead => {
    const zone = at % 10 === 7 ? 'Asia/Kolkata' : 'America/New_York';
    return { lead: `lead-${at}`, phone: take(), name: `Guest ${at % (adds / 8)}`, zone };
  });
  calledBy.push(new Set(leads.map(({ phone }) => phone)));
  const yaml = [
    'list: { file: list.csv, phone: phone, id: lead, timezone: zone }',
    "first_message: 'Hello {{ name }}, thank you for your message.'",
    `hours: { ${days.map((day) => `${day}: '${hours.from}:00-${hours.to}:00'`).join(', ')} }`,
    'pacing: { max_concurrent_calls: 200 }',
    'stays_open: { expires_after: 10h, newest_first: true }',
  ];
  await start(world, yaml, ['lead,phone,name,zone']);
  const ask = (key: string, rows: readonly object[]) =>
    fetch(`http://127.0.0.1:${port}/api/v1/campaigns/${world.id}/rows`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ rows: rows.map((cells) => ({ cells })) }),
    });

  /** When each lead was first answered as taken or known, by the service's clock; and every number sent for it. */
  const answeredAt = new Map<string, number>();
  const sentAs = new Map<string, Set<string>>();
  const kinds = new Map<string, number>();
  let taken = 0;
  let nextKill = 0;
  const kills: Promise<unknown>[] = [];
  const send = async (key: string, rows: readonly Lead[]) => {
    const answer = await until(`the API takes ${key}`, async () => {
      const response = await ask(key, rows).catch(() => null);
      const text = await response?.text().catch(() => null);
      // Under way: its process was killed, perhaps.
      const isAgain = response?.status === 429 || text?.includes('under_way') === true;
      if (response == null || text == null || isAgain || response.status >= 500) return;
      return { status: response.status, text };
    });
    expect(answer, answer.text).toMatchObject({ status: 200 });
    const { rows: told } = JSON.parse(answer.text) as { rows: { result: string }[] };
    expect(told).toHaveLength(rows.length);
    for (const [at, { result }] of told.entries()) {
      kinds.set(result, (kinds.get(result) ?? 0) + 1);
      const id = rows[at]?.lead ?? '';
      if (!answeredAt.has(id)) answeredAt.set(id, world.sandbox.clock.now());
    }
    taken += rows.length;
    if (taken < adds * (killsAt[nextKill] ?? Infinity)) return;
    nextKill += 1;
    kills.push(api.killAndBegin(), worker.killAndBegin());
  };
  // Each lead comes twice, from two clients; a resent form sometimes has another number.
  const clients = Array.from({ length: clientCount }, (_, client) => {
    const own = leads.filter((_, at) => at % clientCount === client);
    const others = leads.filter((_, at) => (at + 3) % clientCount === client);
    const again = others.map((lead, at) => (at % 10 === 3 ? { ...lead, phone: take() } : lead));
    const drawn = [...own, ...again].map((lead) => ({ lead, place: random.next() })).toSorted((a, b) => a.place - b.place);
    return { key: `client ${client}`, queue: drawn.map(({ lead }) => lead) };
  });
  await Promise.all(
    clients.map(async ({ key, queue }) => {
      for (let n = 1; queue.length > 0; n += 1) {
        const rows: Lead[] = [];
        for (const lead of queue.splice(0, 1 + Math.floor(random.between(0, mostPerRequest)))) {
          rows.push(lead);
          sentAs.set(lead.lead, (sentAs.get(lead.lead) ?? new Set()).add(lead.phone));
        }
        await send(`${key} request ${n}`, rows);
      }
    }),
  );
  await Promise.all(kills);
  expect(nextKill).toBe(killsAt.length);
  expect(taken).toBe(adds);
  expect([...kinds.keys()].sort()).toEqual(['accepted', 'known']); // prettier-ignore
  expect(kinds.get('accepted')).toBeLessThanOrEqual(leads.length);

  const zoe = { lead: 'lead-zoe', phone: take(), name: 'Zoe', zone: 'America/New_York' };
  const cells = (['phone', 'name', 'zone'] as const).flatMap((name) => ['--set', `${name}=${zoe[name]}`]);
  const add = () => world.run('add', world.id, '--id', zoe.lead, ...cells);
  expect(await add()).toMatchObject({ code: 0, stdout: expect.stringContaining(`Row ${leads.length + 1}`) });
  expect(await add()).toMatchObject({ code: 0, stdout: expect.stringContaining('is known already') });
  const none = { code: 2, stderr: expect.stringContaining('was not added') };
  expect(await world.run('add', world.id, '--set', 'phone=1')).toMatchObject(none);
  leads.push(zoe);
  sentAs.set(zoe.lead, new Set([zoe.phone]));
  answeredAt.set(zoe.lead, world.sandbox.clock.now());

  await untilIt(world, 'waits for rows', ({ why }) => /waits for rows/.test(why ?? ''));
  expect(await world.run('drain', world.id, '--yes')).toMatchObject({ code: 0 });
  await untilEnded(world);
  expect((await ask('late', [zoe])).status).toBe(409);

  // Each lead is exactly one row, and there are no others.
  const exported = await world.run('results', world.id, '--output', world.path('results.csv'));
  expect(exported, exported.stderr).toMatchObject({ code: 0 });
  const results = parse<Record<string, string>>(world.read('results.csv'), { columns: true });
  const byId = new Map(results.map((row) => [row['lead'] ?? '', row]));
  expect(results.map((row) => row['lead'] ?? '').sort()).toEqual(leads.map(({ lead }) => lead).sort()); // prettier-ignore
  const leadOf = new Map([...sentAs].flatMap(([id, numbers]) => [...numbers].map((number) => [number, id] as const)));
  const calls = callsTo(world, new Set(leadOf.keys()));
  const calledOnce = calls.flatMap(({ to, result }) => (result === 'failed' ? [] : [leadOf.get(to) ?? '']));
  expect(repeated(calledOnce)).toEqual([]);
  for (const { to, acceptedAt } of calls) {
    const id = leadOf.get(to) ?? '';
    expect(byId.get(id)?.['phone']).toBe(to);
    const hour = hourAt(acceptedAt, byId.get(id)?.['zone'] ?? '');
    expect(hour).toBeGreaterThanOrEqual(hours.from);
    expect(hour).toBeLessThan(hours.to);
    expect(acceptedAt).toBeLessThan((answeredAt.get(id) ?? 0) + expiresAfterMs);
  }
  // Each row not called says why.
  const spared = results.filter((row) => !calledOnce.includes(row['lead'] ?? ''));
  expect(calledOnce.length, spared.map((row) => row['reason']).join(' ')).toBeGreaterThan(0);
  const why = new Set(spared.map((row) => row['outcome'] ?? ''));
  expect([...why].filter((outcome) => !['expired', 'unresolved', 'undialable'].includes(outcome))).toEqual([]);
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});

test.concurrent(`of ${listed} rows the samples alone are called before somebody decides`, async () => {
  const random = new Random('pilot under kills');
  const world = newWorld();
  const { id } = world;
  const people = Array.from({ length: listed }, take);
  const yaml = [
    'list: { file: list.csv, phone: phone }',
    "first_message: 'Hello {{ name }}, a reminder.'",
    'hours: any',
    'pacing: { max_concurrent_calls: 40, batch_size: 10 }',
    `pilot: { rows: ${sample} }`,
  ];
  await start(world, yaml, ['phone,name', ...people.map((number, at) => `${number},Guest ${at % (listed / 4)}`)]);
  const all = new Set(people);
  calledBy.push(all);
  const called = () => new Set(callsTo(world, all).map(({ to }) => to));
  const untilAsked = (nth: number) =>
    untilIt(
      world,
      `asks about sample ${nth}`,
      ({ state, pilot }) => state === 'paused' && pilot?.sample === nth && pilot.state === 'asked',
    );
  const drawn = async () => {
    const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' }, 'as-is');
    const events = await readEvents(store.db, id, { afterSeq: 0, limit: 10, types: ['pilot.drawn'] });
    await store.close();
    return events.map(({ data }) => (data as { rows: readonly number[] }).rows.map((row) => people[row - 1] ?? ''));
  };

  const kills = isLong ? 4 : 2;
  for (let nth = 1; nth <= kills; nth += 1) {
    const enough = Math.floor(((nth - random.next()) * sample) / (kills + 1));
    await untilIt(world, `has ${enough} calls`, () => called().size >= enough);
    await worker.killAndBegin();
  }
  expect((await untilAsked(1)).pilot).toMatchObject({ rows: sample });
  const told = new RegExp(`Pilot +sample 1: \\d+ of ${sample} rows called .*waits for a decision`);
  expect((await world.run('status', id)).stdout).toMatch(told);
  const [chosen = [], ...others] = await drawn();
  expect(others).toEqual([]);
  expect(new Set(chosen).size).toBe(sample);
  const first = called();
  expect([...first].filter((number) => !chosen.includes(number))).toEqual([]);
  // A request that died with its worker may have reached a phone: an operator decides, and its rows are not called again.
  const left = await world.run('results', id, '--outcome', 'unresolved', '--format', 'jsonl', '--output', '-');
  const lines = left.stdout.split('\n').filter(Boolean);
  const doubtful = lines.map((line) => (JSON.parse(line) as { cells: { phone: string } }).cells.phone);
  expect(chosen.filter((number) => !first.has(number) && !doubtful.includes(number))).toEqual([]);
  expect(first.size).toBeGreaterThan(sample / 2);

  expect(await world.run('resume', id, '--sample')).toMatchObject({ code: 0 });
  await untilAsked(2);
  const both = new Set((await drawn()).flat());
  expect(both.size).toBe(2 * sample);
  expect([...called()].filter((number) => !both.has(number))).toEqual([]);

  const before = called().size;
  expect(await world.run('resume', id)).toMatchObject({ code: 0 });
  await untilIt(world, 'calls others', () => called().size > before + 40);
  await worker.killAndBegin();
  await untilIt(world, 'calls more', () => called().size > before + 120);
  expect(await world.run('cancel', id, '--yes')).toMatchObject({ code: 0 });
  await untilEnded(world, 'cancelled');
  expect(repeated(callsTo(world, all).flatMap(({ to, result }) => (result === 'failed' ? [] : [to])))).toEqual([]);
  expect(await world.run('verify', id)).toMatchObject(proven);
});

/** Files of an uncompressed archive in sequence; its directory is ignored. */
function filesOf(zip: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  for (let at = 0; zip.readUInt32LE(at) === 0x04034b50;) {
    const [size, length] = [zip.readUInt32LE(at + 18), zip.readUInt16LE(at + 26)];
    const name = zip.toString('utf8', at + 30, at + 30 + length);
    files.set(name, zip.toString('utf8', at + 30 + length, at + 30 + length + size));
    at += 30 + length + size;
  }
  return files;
}

interface Told {
  rows: {
    outcome: string | null;
    cells: { column: string; value: string }[];
    consent: { at: string; source: string; text: string; beginsAt: string; endsAt: string };
    law: { id: string; asOf: string }[];
    calls: {
      state: string;
      requests: { at: string }[];
      openingLine: string;
      disposition: string | null;
      record: { conversationId: string; callResult: string | null } | null;
    }[];
  }[];
}

const check = (path: string, ...more: string[]) =>
  spawnSync(process.execPath, ['src/presentation/evidence/check.mjs', path, ...more], { encoding: 'utf8' });

test.concurrent(
  'what a bundle says of one person is what the service and the list say, of nobody else, and no byte of it can be changed',
  async () => {
    const world = newWorld();
    const { id } = world;
    const people = Array.from({ length: answeredFor }, (_, at) => ({
      number: take(),
      name: `Guest ${String(at % (answeredFor / 4)).padStart(3, '0')}`,
    }));
    const given = '2026-11-20T10:00:00-05:00';
    const lines = people.map(({ number, name }, at) => `${at + 1},${name},${number},${given},web form ${at},terms v${at}`);
    const yaml = [
      'list: { file: list.csv, phone: phone, id: id }',
      "first_message: 'Hello {{ name }}, this is about your visit.'",
      'variables: { key: variables, values: { name: "{{ name }}" }, reference: carillon_ref }',
      'hours: any',
      'pacing: { batch_size: 4 }',
      'purpose: recall',
      'basis: consent',
      'consent: { at: agreed, source: where, text: words, max_age: 366d }',
      'opt_out: [{ collected: opt_out, equals: [true, yes] }]',
    ];
    await start(world, yaml, ['id,name,phone,agreed,where,words', ...lines, '901,Nobody,+12125550199,,paper,v1'], '--allow-partial');
    const numbers = people.map(({ number }) => number);
    const all = new Set(numbers);
    await untilIt(world, 'has called a third', () => callsTo(world, all).length > answeredFor / 3);
    // Before its first proven calls a campaign would wait for an operator.
    await until('each of the others calls', () => calledBy.length === 2 && calledBy.every((numbers) => callsTo(world, numbers).length > 0));
    world.sandbox.addFaults(lostRequests);
    await worker.killAndBegin();
    await untilEnded(world);

    const key = (await world.run('evidence', 'key')).stdout.trim();
    const names = [...new Set(people.map(({ name }) => name))];
    const bundleOf = (number: string) => world.path(`bundle-${number.slice(1)}.zip`);
    const seen = { calls: 0, recorded: 0, doubtful: 0 };
    for (const [at, { number, name }] of people.entries()) {
      const out = bundleOf(number);
      const made = await world.run('evidence', '--number', number, '--out', out, '--json');
      expect(made, made.stderr).toMatchObject({ code: 0 });
      const files = filesOf(readFileSync(out));
      expect([...files.keys()]).toEqual(
        expect.arrayContaining(['summary.html', 'calls.json', 'events.jsonl', `campaigns/${id}.json`, 'verify.json', 'check.mjs', 'manifest.json', 'manifest.sig']), // prettier-ignore
      );
      const text = [...files].filter(([path]) => path !== 'check.mjs').map(([, each]) => each).join('\n'); // prettier-ignore
      expect(numbers.filter((each) => each !== number && text.includes(each))).toEqual([]);
      expect(names.filter((each) => each !== name && text.includes(each))).toEqual([]);
      const told = JSON.parse(files.get('calls.json') ?? '') as Told;
      const calls = callsTo(world, new Set([number]));
      const [row, ...others] = told.rows;
      expect(others).toEqual([]);
      const requested = (row?.calls ?? []).filter(({ requests, state }) => requests.length > 0 && state !== 'released');
      // Each call belongs to the request before it; an extra call in the bundle is marked unknown.
      const requestedAt = (call: (typeof requested)[number]) => Date.parse(call.requests.at(-1)?.at ?? '');
      const owners = calls.map((call) => requested.findLast((each) => requestedAt(each) <= call.acceptedAt));
      expect(new Set(owners).size).toBe(calls.length);
      for (const { record } of requested.filter((each) => !owners.includes(each))) {
        expect([record, row?.outcome]).toEqual([null, 'unresolved']);
        seen.doubtful += 1;
      }
      seen.calls += calls.length;
      for (const [index, call] of calls.entries()) {
        const owner = owners[index];
        if (owner === undefined) throw new Error(`the bundle of ${number} has no request before a call of the service`);
        const { openingLine, record, disposition } = owner;
        expect(call.acceptedAt - requestedAt(owner)).toBeLessThan(60 * 60_000);
        expect(openingLine).toBe(`Hello ${name}, this is about your visit.`);
        if (record === null) continue;
        seen.recorded += 1;
        expect(record).toMatchObject({ conversationId: call.conversationId, callResult: call.result });
        expect(disposition).toBe(call.optedOut ? 'opted_out' : call.result);
      }
      const line = lines[at]?.split(',') ?? [];
      expect(row?.cells.map(({ value }) => value)).toEqual(line);
      expect(row?.consent).toMatchObject({ at: given, source: line[4], text: line[5], beginsAt: '2026-11-20T15:00:00.000Z' });
      const summary = files.get('summary.html') ?? '';
      for (const said of [number, given, line[4] ?? '', 'not recorded', 'none is broken by these calls']) expect(summary).toContain(said);
      expect(summary).toContain(`Hello ${name}, this is about your visit.`);
    }
    expect(seen.calls).toBeGreaterThan(answeredFor * 0.7);
    expect(seen.recorded).toBeGreaterThan(answeredFor / 2);
    expect(seen.doubtful).toBeLessThan(answeredFor / 2);

    const [number = ''] = numbers;
    const out = bundleOf(number);
    expect(check(out, '--key', key)).toMatchObject({ status: 0, stdout: expect.stringContaining(number) });
    const zip = readFileSync(out);
    const random = new Random('flips');
    const flips = [0, 4, 10, zip.length - 1, zip.length - 30];
    for (let nth = 0; nth < (isFull ? 100 : 12); nth += 1) flips.push(Math.floor(random.between(0, zip.length)));
    const flipped = flips.map((at) => {
      const changed = Buffer.from(zip);
      changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random.between(0, 8)));
      return changed;
    });
    const cut = [zip.subarray(0, zip.length - 1), zip.subarray(0, 100), Buffer.concat([zip, Buffer.from('x')]), Buffer.alloc(0)];
    for (const [nth, broken] of [...flipped, ...cut].entries()) {
      writeFileSync(world.path('broken.zip'), broken);
      expect(check(world.path('broken.zip')).status, `byte ${flips[nth] ?? 'cut'}`).toBe(1);
    }
    expect(check(out, '--key', Buffer.alloc(44).toString('base64')).status).toBe(1);
    expect(check(world.path('nothing.zip')).status).toBe(2);
    // An earlier bundle is replaced; other contents of the folder stay.
    expect(await world.run('evidence', '--number', number, '--out', out)).toMatchObject({ code: 0 });
    const list = world.read('list.csv');
    for (const there of [world.path('list.csv'), world.campaignPath])
      expect(await world.run('evidence', '--number', number, '--out', there)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is no earlier bundle and will not be overwritten'),
      });
    expect(world.read('list.csv')).toBe(list);
    // A recipient listed under two numbers has two separate bundles.
    const second = take();
    writeFileSync(world.path('later.csv'), `id,name,phone\n1,${people[0]?.name},${second}\n`);
    const basis = ['agent_id: agent_reminders', 'from_phone_number_id: pn_main', 'list: { file: later.csv, phone: phone, id: id }'];
    const startsAt = new Date(world.sandbox.clock.now() + 20 * 86_400_000).toISOString();
    writeFileSync(world.path('later.yaml'), [`id: ${id}-later`, ...basis, 'hours: any', `starts_at: '${startsAt}'`, ''].join('\n'));
    expect(await world.run('start', world.path('later.yaml'))).toMatchObject({ code: 0 });
    const both = await world.run('evidence', '--person', '1', '--out', world.path('both.zip'), '--json');
    expect(both, both.stderr).toMatchObject({ code: 0 });
    const { bundles } = JSON.parse(both.stdout) as { bundles: { path: string; number: string }[] };
    expect(bundles.map((each) => each.number).sort()).toEqual([number, second].sort()); // prettier-ignore
    const inWords = await world.run('evidence', '--person', '1', '--out', world.path('both.zip'));
    expect(inWords).toMatchObject({ code: 0, stderr: expect.stringContaining('2 numbers under this id') });
    for (const { path, number: own } of bundles) {
      expect(path).toBe(world.path(`both-${own.slice(1)}.zip`));
      expect(check(path, '--key', key).status).toBe(0);
      const files = filesOf(readFileSync(path));
      expect(files.get('calls.json')).not.toContain(own === number ? second : number);
      const { rows } = JSON.parse(files.get('calls.json') ?? '') as Told;
      expect(rows.map(({ law }) => law.length > 0)).toEqual([own === second]);
      for (const { asOf } of rows.flatMap(({ law }) => law)) expect(asOf).toMatch(/^20\d\d-\d\d-\d\d$/);
    }
    expect(await world.run('evidence', '--number', '+12125550198', '--out', world.path('none.zip'))).toMatchObject({ code: 2 });
    expect((await world.run('events', id, '--json')).stdout).toContain('evidence exported');
    expect(await world.run('verify', id)).toMatchObject(proven);
  },
);

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FictionalNumbers } from '../../src/list/fictional-numbers.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { createWorld, proven } from '../interfaces/cli/campaign-world.ts';
import { isFull, seedFactor } from '../support/depth.ts';
import { killedCommand, lostRequests } from '../support/killed-command.ts';
import { until } from '../support/until.ts';

/** All 300 with `SEED_FACTOR=2`. */
const count = isFull ? (seedFactor > 1 ? 300 : 80) : 40;
const spare = new FictionalNumbers('evidence');
/** Four of them share each name. */
const people = Array.from({ length: count }, (_, index) => ({
  number: spare.take('+12125550121') ?? '',
  name: `Guest ${String(index % (count / 4)).padStart(3, '0')}`,
}));
/** Files of an archive without compression, one after the other from its beginning: its directory is not looked at. */
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
      caller: { e164: string };
      disposition: string | null;
      record: { conversationId: string; callResult: string | null } | null;
    }[];
  }[];
}

test('what a bundle says of one person is what the service and the list say, of nobody else, and no byte of it can be changed', async () => {
  const world = await createWorld({ seed: 11, faults: lostRequests, concurrency: 40 });
  const worker = killedCommand(world.env, ['worker', '--json'], '"ready":true');
  await worker.begin();
  const given = '2026-11-20T10:00:00-05:00';
  const lines = people.map(({ number, name }, at) => `${at + 1},${name},${number},${given},web form ${at},terms v${at}`);
  writeFileSync(
    world.path('people.csv'),
    ['id,name,phone,agreed,where,words', ...lines, '901,Nobody,+12125550199,,paper,v1', ''].join('\n'),
  );
  const file = world.path('recall.yaml');
  writeFileSync(
    file,
    [
      `id: ${world.id}`,
      'agent_id: agent_reminders',
      'from_phone_number_id: pn_main',
      'list: { file: people.csv, phone: phone, id: id }',
      "first_message: 'Hello {{ name }}, this is about your visit.'",
      'variables: { key: variables, values: { name: "{{ name }}" }, reference: carillon_ref }',
      'hours: any',
      'law: off',
      'purpose: recall',
      'basis: consent',
      'consent: { at: agreed, source: where, text: words, max_age: 366d }',
      'retry: { max_attempts: 1 }',
      'opt_out: [{ collected: opt_out, equals: [true, yes] }]',
      'breaker: off',
      '',
    ].join('\n'),
  );
  const checked = await world.run('check', file);
  expect(checked.stdout, checked.stderr).toContain('missing consent');
  const started = await world.run('start', file, '--allow-partial');
  expect(started.code, started.stderr).toBe(0);
  await until('a third is called', () => world.sandbox.calls().length > count / 3);
  await worker.killAndBegin();
  const status = async () => JSON.parse((await world.run('status', world.id, '--json')).stdout) as { state: string };
  await until('its end', async () => (await status()).state === 'completed');

  const key = (await world.run('evidence', 'key')).stdout.trim();
  const check = (path: string, ...more: string[]) =>
    spawnSync(process.execPath, ['src/presentation/evidence/check.mjs', path, ...more], { encoding: 'utf8' });
  const names = [...new Set(people.map(({ name }) => name))];
  const numbers = people.map(({ number }) => number);
  /** Of how many the bundle says what nobody knows, and of how many there is a record. */
  const seen = { calls: 0, recorded: 0, doubtful: 0 };
  for (const [at, { number, name }] of people.entries()) {
    const out = world.path(`bundle-${number.slice(1)}.zip`);
    const made = await world.run('evidence', '--number', number, '--out', out, '--json');
    expect(made, made.stderr).toMatchObject({ code: 0 });
    expect(check(out, '--key', key)).toMatchObject({ status: 0, stdout: expect.stringContaining(number) });
    const files = filesOf(readFileSync(out));
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(['summary.html', 'calls.json', 'events.jsonl', `campaigns/${world.id}.json`, 'verify.json', 'check.mjs', 'manifest.json', 'manifest.sig']), // prettier-ignore
    );
    const all = [...files].filter(([path]) => path !== 'check.mjs').map(([, text]) => text).join('\n'); // prettier-ignore
    expect(numbers.filter((each) => each !== number && all.includes(each))).toEqual([]);
    expect(names.filter((each) => each !== name && all.includes(each))).toEqual([]);
    // Against the service's own calls, and the list.
    const told = JSON.parse(files.get('calls.json') ?? '') as Told;
    const calls = world.sandbox.calls().filter(({ to }) => to === number);
    const [row, ...others] = told.rows;
    expect(others).toEqual([]);
    const requested = (row?.calls ?? []).filter(({ requests, state }) => requests.length > 0 && state !== 'released');
    // Each call is that of the request before it; where the bundle has one more, it says that nobody knows.
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
      const since = call.acceptedAt - requestedAt(owner);
      expect(since).toBeLessThan(60 * 60_000);
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
  expect(seen.calls).toBeGreaterThan(count * 0.7);
  expect(seen.recorded).toBeGreaterThan(count / 2);
  expect(seen.doubtful).toBeLessThan(count / 2);

  const number = people[0]?.number ?? '';
  const out = world.path(`bundle-${number.slice(1)}.zip`);
  const zip = readFileSync(out);
  const random = new Random('flips');
  const broken = world.path('broken.zip');
  const places = Array.from({ length: isFull ? 100 : 60 }, () => Math.floor(random.between(0, zip.length)));
  for (const at of [0, 4, 10, zip.length - 1, zip.length - 30, ...places]) {
    const changed = Buffer.from(zip);
    changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random.between(0, 8)));
    writeFileSync(broken, changed);
    expect(check(broken).status, `byte ${at}`).toBe(1);
  }
  for (const cut of [zip.subarray(0, zip.length - 1), zip.subarray(0, 100), Buffer.concat([zip, Buffer.from('x')]), Buffer.alloc(0)]) {
    writeFileSync(broken, cut);
    expect(check(broken).status).toBe(1);
  }
  expect(check(out, '--key', Buffer.alloc(44).toString('base64')).status).toBe(1);
  expect(check(world.path('nothing.zip')).status).toBe(2);
  // An earlier bundle is made anew; whatever else stands there stays as it is.
  expect(await world.run('evidence', '--number', number, '--out', out)).toMatchObject({ code: 0 });
  const listed = readFileSync(world.path('people.csv'), 'utf8');
  for (const taken of [world.path('people.csv'), file])
    expect(await world.run('evidence', '--number', number, '--out', taken)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is no earlier bundle and will not be overwritten'),
    });
  expect(readFileSync(world.path('people.csv'), 'utf8')).toBe(listed);
  // Somebody whom lists have under two numbers has a bundle of each, which tells nothing of the other.
  const second = spare.take('+12125550121') ?? '';
  writeFileSync(world.path('later.csv'), `id,name,phone\n1,${people[0]?.name},${second}\n`);
  const later = world.path('later.yaml');
  const basis = ['agent_id: agent_reminders', 'from_phone_number_id: pn_main', 'list: { file: later.csv, phone: phone, id: id }'];
  const startsAt = new Date(Date.now() + 20 * 86_400_000).toISOString();
  writeFileSync(later, [`id: ${world.id}-later`, ...basis, 'hours: any', `starts_at: '${startsAt}'`, ''].join('\n'));
  expect(await world.run('start', later)).toMatchObject({ code: 0 });
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
  // The log tells who asked.
  expect(await world.run('evidence', '--number', '+12125550198', '--out', world.path('none.zip'))).toMatchObject({ code: 2 });
  expect((await world.run('events', world.id, '--json')).stdout).toContain('evidence exported');
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});

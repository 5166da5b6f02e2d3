import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Random } from '../../src/sandbox/core/random.ts';
import { createWorld, proven } from '../interfaces/cli/campaign-world.ts';
import { isFull } from '../support/depth.ts';

const people = Array.from({ length: 30 }, (_, index) => ({
  number: `+1212555${String(110 + index).padStart(4, '0')}`,
  name: `Guest ${String.fromCharCode(65 + (index % 26))}${index}`,
  mood: 'friendly' as const,
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
  ids: string[];
  rows: {
    cells: { column: string; value: string }[];
    consent: { at: string; source: string; text: string; beginsAt: string; endsAt: string };
    calls: {
      requests: { at: string }[];
      openingLine: string;
      caller: { e164: string };
      disposition: string;
      record: { conversationId: string } | null;
    }[];
  }[];
}

test('what a bundle says of one person is what the service and the list say, of nobody else, and no byte of it can be changed', async () => {
  const world = await createWorld({ seed: 11 });
  await world.work();
  const given = '2026-11-20T10:00:00-05:00';
  const lines = people.map(({ number, name }, at) => `${at + 1},${name},${number},${given},web form ${at},terms v${at}`);
  writeFileSync(
    world.path('people.csv'),
    ['id,name,phone,agreed,where,words', ...lines, '31,Nobody,+12125550199,,paper,v1', ''].join('\n'),
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
      'retry: { max_attempts: 2, busy: 5m, no_answer: 5m, failed: 5m, voicemail: 5m, unreached: 5m }',
      '',
    ].join('\n'),
  );
  const checked = await world.run('check', file);
  expect(checked.stdout, checked.stderr).toContain('missing consent');
  const ran = await world.run('run', file, '--allow-partial');
  expect(ran.code, ran.stderr).toBe(0);

  const key = (await world.run('evidence', 'key')).stdout.trim();
  const check = (path: string, ...more: string[]) =>
    spawnSync(process.execPath, ['src/presentation/evidence/check.mjs', path, ...more], { encoding: 'utf8' });
  const names = people.map(({ name }) => name);
  let called = 0;
  let recorded = 0;
  for (const { number, name } of people.slice(0, 8)) {
    const out = world.path(`bundle-${number.slice(-4)}.zip`);
    const made = await world.run('evidence', '--number', number, '--out', out, '--json');
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const zip = readFileSync(out);
    expect(check(out, '--key', key)).toMatchObject({ status: 0, stdout: expect.stringContaining(number) });
    const files = filesOf(zip);
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(['summary.html', 'calls.json', 'events.jsonl', `campaigns/${world.id}.json`, 'verify.json', 'check.mjs', 'manifest.json', 'manifest.sig']), // prettier-ignore
    );
    const all = [...files].filter(([path]) => path !== 'check.mjs').map(([, text]) => text).join('\n'); // prettier-ignore
    for (const other of people.filter((each) => each.number !== number)) expect(all).not.toContain(other.number);
    // Names are words of nobody else's row as well.
    for (const other of names.filter((each) => each !== name)) expect(all.includes(`${other},`) || all.includes(`"${other}"`)).toBe(false);
    // Against the service's own calls, and the list.
    const told = JSON.parse(files.get('calls.json') ?? '') as Told;
    const calls = world.sandbox.calls().filter(({ to }) => to === number).toSorted((a, b) => a.acceptedAt - b.acceptedAt); // prettier-ignore
    const [row, ...others] = told.rows;
    expect(others).toEqual([]);
    const requested = (row?.calls ?? []).filter(({ requests }) => requests.length > 0);
    expect(requested).toHaveLength(calls.length);
    called += calls.length;
    recorded += requested.filter(({ record }) => record !== null).length;
    for (const [index, { requests, openingLine, record }] of requested.entries()) {
      const call = calls[index];
      const since = (call?.acceptedAt ?? 0) - Date.parse(requests.at(-1)?.at ?? '');
      expect(since).toBeGreaterThanOrEqual(0);
      expect(since).toBeLessThan(10 * 60_000);
      expect(openingLine).toBe(`Hello ${name}, this is about your visit.`);
      if (record !== null) expect(call?.conversationId).toBe(record.conversationId);
    }
    const line = lines[people.findIndex((each) => each.number === number)]?.split(',') ?? [];
    expect(row?.cells.map(({ value }) => value)).toEqual(line);
    expect(row?.consent).toMatchObject({ at: given, source: line[4], text: line[5], beginsAt: '2026-11-20T15:00:00.000Z' });
    const summary = files.get('summary.html') ?? '';
    for (const said of [number, given, line[4] ?? '', 'not recorded', 'none is broken by these calls']) expect(summary).toContain(said);
    expect(summary).toContain(`Hello ${name}, this is about your visit.`);
  }

  expect(called).toBeGreaterThanOrEqual(8);
  expect(recorded).toBeGreaterThan(4);

  const number = people[0]?.number ?? '';
  const out = world.path(`bundle-${number.slice(-4)}.zip`);
  const zip = readFileSync(out);
  const random = new Random('flips');
  const broken = world.path('broken.zip');
  const places = Array.from({ length: isFull ? 200 : 60 }, () => Math.floor(random.between(0, zip.length)));
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
  // The log tells who asked.
  expect(await world.run('evidence', '--number', '+12125550198', '--out', world.path('none.zip'))).toMatchObject({ code: 2 });
  expect((await world.run('events', world.id, '--json')).stdout).toContain('evidence exported');
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});

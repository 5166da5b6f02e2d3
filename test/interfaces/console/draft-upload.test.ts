import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readdirSync, rmSync, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { dialects } from '../../ledger/test-stores.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { textRows, workbook, workbookParts, zip } from '../../list/xlsx-fixture.ts';
import { DraftWorld, goodList, goodCalls } from './draft-world.ts';
import { rehearsedReport } from './rehearsed-report.ts';
import type { Rehearse } from '../../../src/operations/control/control.ts';
import { isFull } from '../../support/depth.ts';
import { until } from '../../support/until.ts';
import { ConsoleWorld } from './console-world.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { holds, told, locationOf } from '../../support/answers.ts';

async function keptIn({ db }: Store) {
  const drafts = await db.selectFrom('drafts').selectAll().execute();
  const pieces = await db.selectFrom('draft_pieces').select('place').execute();
  return { drafts: drafts.length, pieces: pieces.length };
}

const nothing = { drafts: 0, pieces: 0 };

test.for(dialects)('an uploaded list is kept, its columns guessed and its numbers masked: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const world = await DraftWorld.over(store);
  const path = await world.begin(goodList, { name: 'C:\\lists\\..\\autumn.csv' });
  expect(await keptIn(store)).toEqual({ drafts: 1, pieces: 1 });
  const { status, text } = await world.console.get(path);
  expect(status).toBe(200);
  holds(
    text,
    [
      />Mobile phone<[\s\S]*?<option value="list.phone" selected>/,
      />Customer No<[\s\S]*?<option value="list.id" selected>/,
      '3 of the first 4 readable',
      '+1••••••••31',
      />\s*•••\s*</,
      '<b>autumn.csv</b>',
    ],
    ['2125550131', 'Not live'],
  );
});

test('a workbook, a list with semicolons and one with titles above its header are read', async () => {
  const world = await DraftWorld.empty();
  const sheet = textRows([['id', 'phone'], ['1', '+12125550131']]); // prettier-ignore
  const lists: [string, string | Uint8Array][] = [
    ['list.xlsx', workbook({ sheets: { People: sheet } })],
    ['semicolons.csv', 'id;phone\n1;+12125550131\n'],
    ['titles.csv', 'Our customers\n\nid,phone\n1,+12125550131\n'],
  ];
  for (const [name, content] of lists) {
    const { text } = await world.console.get(await world.begin(content, { name }));
    expect(text, name).toMatch(/>phone<[\s\S]*?<option value="list.phone" selected>/);
    expect(text, name).toContain('1 of the first 1 readable');
  }
});

const bomb = () => {
  const parts = workbookParts({ sheets: { S: textRows([['phone'], ['+12125550131']]) } }); // prettier-ignore
  return zip({ ...parts, 'xl/worksheets/sheet1.xml': ' '.repeat(40_000_000) });
};

test('what is no list is refused at its field, and nothing is kept', async () => {
  const world = await DraftWorld.empty();
  for (const [content, says] of [
    [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]), /this is a PNG picture, not a list/],
    ['', /the list is empty/],
    ['1,+12125550131\n2,+12125550132\n', /holds a phone number, so the list has no header/],
    [bomb(), /unfolds to 40 MB/],
  ] as const) {
    const { status, text } = await world.upload(content);
    expect(status).toBe(422);
    holds(text, [says, /id="list"[^>]*aria-invalid="true"/], ['carillon-draft-']);
  }
  expect(await keptIn(world.store)).toEqual(nothing);
});

test('half an upload, no file and another kind of form are refused, and leave no file behind', async () => {
  const world = await DraftWorld.empty();
  const { store } = world;
  const folder = mkdtempSync(join(tmpdir(), 'carillon-uploads-test-'));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  const head = '--b\r\ncontent-disposition: form-data; name="list"; filename="list.csv"\r\n\r\n';
  const half = await world.raw('/new', `${head}phone\r\n+1212`, { 'content-type': 'multipart/form-data; boundary=b' });
  expect(half).toMatchObject(told(400, /broke off before its end, and nothing was kept/));
  const none = await world.upload('', { name: '' });
  expect(none).toMatchObject(told(422, /No file was chosen/));
  const plain = await world.console.post('/new', { list: 'list.csv' });
  expect(plain).toMatchObject(told(415, /No file was sent/));
  expect(await keptIn(store)).toEqual(nothing);
  expect(readdirSync(folder)).toEqual([]);
});

test('a list that is too large is refused while it comes, and nothing is kept', async () => {
  const world = await DraftWorld.empty();
  const { store } = world;
  const { app } = world.console.api;
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const own = { 'sec-fetch-site': 'same-origin', cookie: await world.console.api.cookie('operate') };
  const send = (more: Record<string, string>) => {
    const headers = { ...own, 'content-type': 'multipart/form-data; boundary=b', ...more };
    return request({ port, host: '127.0.0.1', method: 'POST', path: '/new', headers });
  };
  const announced = send({ 'content-length': '2147483648' });
  announced.flushHeaders();
  const [refused] = (await once(announced, 'response')) as [IncomingMessage];
  expect(refused.statusCode).toBe(413);
  announced.on('error', () => {});
  announced.destroy();
  expect(await keptIn(store)).toEqual(nothing);
  if (!isFull) return;
  const streamed = send({});
  const answered = once(streamed, 'response') as Promise<[IncomingMessage]>;
  streamed.write('--b\r\ncontent-disposition: form-data; name="list"; filename="list.csv"\r\n\r\nphone\r\n');
  const lines = Buffer.from('+12125550131\r\n'.repeat(75_000));
  for (let sent = 0; sent < 102_000_000; sent += lines.length) if (!streamed.write(lines)) await once(streamed, 'drain');
  streamed.end('\r\n--b--\r\n');
  const [answer] = await answered;
  expect(answer.statusCode).toBe(413);
  let text = '';
  for await (const part of answer) text += String(part);
  expect(text).toMatch(/larger than 100 MB, and nothing was kept\. Start it with carillon start/);
  expect(await keptIn(store)).toEqual(nothing);
});

async function openWorld() {
  const world = await DraftWorld.empty();
  const asked: Parameters<Rehearse>[0][] = [];
  let end: (answer: object | string) => void = () => {};
  world.console.api.context.rehearse = (ask) => {
    asked.push(ask);
    return new Promise((resolve) => (end = resolve));
  };
  const begin = async (path: string) => {
    const answer = await world.save(path, 'rehearsal');
    if (answer.status === 303) await until('it has begun', () => asked.length > 0);
    return answer;
  };
  const shows = (path: string, words: string) =>
    until(`the page says ${words}`, async () => (await world.console.text(`${path}/rehearsal`)).includes(words));
  return { world, console: world.console, asked, begin, shows, end: (answer: object | string) => end(answer) };
}

test('a draft is rehearsed with its own two files, told of on the way, and its report stays until it is changed', async () => {
  const { world, console, asked, begin, shows, end } = await openWorld();
  const path = await world.prepare();
  expect(await console.text(path)).toContain(`formaction="${path}/rehearsal"`);
  expect(await console.text(`${path}/rehearsal`)).toContain('Nothing has been rehearsed.');
  expect(locationOf(await begin(path))).toBe(`${path}/rehearsal`);
  const [ask] = asked;
  if (ask === undefined) throw new Error('nothing was rehearsed');
  expect(ask.rows).toBe(200);
  expect(readFileSync(ask.path, 'utf8')).toContain('id: autumn');
  expect(readFileSync(`${dirname(ask.path)}/list.csv`, 'utf8')).toContain('+12125550131');
  ask.onLine('Tue 15 Jan 12:00 UTC  1 of 3 done <b>');
  await shows(path, '1 of 3 done &lt;b&gt;');
  expect(await console.text(path)).toContain('See how far it is');
  expect(await console.text(`${path}/rehearsal`)).toContain('Stop the rehearsal');

  end({ ...rehearsedReport, ok: false, faults: ['1 row has no outcome <script>'] });
  await shows(path, 'Not as it should be: 1 row has no outcome &lt;script&gt;.');
  expect(existsSync(dirname(ask.path))).toBe(false);
  holds(await console.text(`${path}/rehearsal`), [], ['has been changed since', 'style=']);
  const page = await console.text(path);
  expect(page).toMatch(
    /The rehearsal did not go as it should[\s\S]*You have not changed anything since\.[\s\S]*href="[^"]+\/rehearsal">Report/,
  );
  // Another process reads it from the database, like this one after a restart.
  expect(await (await ConsoleWorld.over(world.store)).text(`${path}/rehearsal`, 'admin')).toContain(
    'Not as it should be: 1 row has no outcome',
  );
  expect((await world.save(path, 'calls', { ...goodCalls, 'retry.max_attempts': '3' })).status).toBe(303);
  expect(await console.text(`${path}/rehearsal`)).toContain('The draft has been changed since.');
  expect(await console.text(path)).toContain('You have changed something since.');
});

test('one rehearsal runs at a time, pressed twice it is one, and it can be stopped', async () => {
  const { world, asked, begin, shows, end } = await openWorld();
  const first = await world.prepare();
  const second = await world.prepare({ name: { id: 'winter' } });
  await begin(first);
  expect((await begin(first)).status).toBe(303);
  expect(await begin(second)).toMatchObject(told(409, 'Another draft is being'));
  expect(asked).toHaveLength(1);
  expect((await world.save(first, 'rehearsal', { stop: 'yes' })).status).toBe(303);
  expect(asked[0]?.signal.aborted).toBe(true);
  const folder = dirname(asked[0]?.path ?? '');
  end(`list ${folder}/list.csv: Stopped before the end of the campaign.`);
  await shows(first, 'list list.csv: Stopped before the end of the campaign.');
  expect((await begin(second)).status).toBe(303);
});

test('who may only read, or works on another draft, rehearses nothing; without the program none is offered', async () => {
  const { world, console, asked } = await openWorld();
  const path = await world.prepare();
  expect((await console.post(`${path}/rehearsal`, {}, 'read')).status).toBe(403);
  delete world.console.api.context.rehearse;
  expect(await console.text(path)).not.toContain('Rehearse</button>');
  expect((await world.save(path, 'rehearsal')).status).toBe(409);
  expect(asked).toEqual([]);
});

test('a list whose encoding is not certain shows its likely readings, and one click reads it so; nothing starts before', async () => {
  const world = await DraftWorld.empty();
  const list = readFileSync(new URL('../../list/encodings/macroman.csv', import.meta.url));
  const path = await world.begin(list);
  const asked = await world.page(path);
  expect(asked).toContain('Which letters are right?');
  const readings = [...asked.matchAll(/name="encoding" value="([\w-]+)" aria-pressed="false">\s*([^<]+?)\s*</g)].map(([, ...read]) => read);
  expect(readings).toEqual([
    ['macintosh', 'Renée, Müller, José'],
    ['cp850', 'RenÄe, Mƒller, JosÄ'],
    ['windows-1252', 'RenŽe, MŸller, JosŽ'],
  ]);
  expect(asked).toMatch(/neither UTF-8 nor UTF-16/);
  expect(await world.yaml(path)).not.toContain('encoding');
  await world.save(path, 'encoding', { encoding: 'klingon' });
  expect(await world.yaml(path)).not.toContain('encoding');

  expect(await world.save(path, 'encoding', { encoding: 'macintosh' })).toMatchObject({ status: 303 });
  const chosen = await world.page(path);
  holds(chosen, [/value="macintosh" aria-pressed="true"/, '<td>Renée Müller</td>', /4 of 4 rows can be called/]);
  expect(await world.yaml(path)).toContain('encoding: macintosh');
  // Another list is read again, in a stored encoding.
  expect(await world.upload(list, { path: `${path}/list`, fields: { 'list.encoding': 'MacRoman' } })).toMatchObject({ status: 303 });
  expect(await world.page(path)).not.toContain('Which letters');
  const unknown = await world.upload(list, { path: `${path}/list`, fields: { 'list.encoding': 'klingon' } });
  expect(unknown).toMatchObject(told(422, /the encoding klingon is not known; write the name/));
});

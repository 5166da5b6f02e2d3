import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../../../src/ledger/open-ledger.ts';
import { dialects, openTestStore } from '../../ledger/test-stores.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { textRows, workbook, workbookParts, zip } from '../../list/xlsx-fixture.ts';
import { DraftWorld, goodList } from './draft-world.ts';

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
  const { status, text } = await world.console.get(`${path}/columns`);
  expect(status).toBe(200);
  expect(text).toMatch(/<option value="Mobile phone" selected>/);
  expect(text).toMatch(/<option value="Customer No" selected>/);
  expect(text).toContain('Of the first 4 rows, 3 have a number that can be read.');
  expect(text).toContain('+1••••••••31');
  expect(text).toMatch(/>\s*•••\s*</);
  expect(text).not.toContain('2125550131');
  expect(text).toContain('beside autumn.csv');
  expect(text).not.toContain('Not live');
});

test('a workbook, a list with semicolons and one with titles above its header are read', async () => {
  const store = await openTestStore('sqlite');
  const world = await DraftWorld.over(store);
  const sheet = textRows([['id', 'phone'], ['1', '+12125550131']]); // prettier-ignore
  const lists: [string, string | Uint8Array][] = [
    ['list.xlsx', workbook({ sheets: { People: sheet } })],
    ['semicolons.csv', 'id;phone\n1;+12125550131\n'],
    ['titles.csv', 'Our customers\n\nid,phone\n1,+12125550131\n'],
  ];
  for (const [name, content] of lists) {
    const { text } = await world.console.get(`${await world.begin(content, { name })}/columns`);
    expect(text, name).toMatch(/<option value="phone" selected>/);
    expect(text, name).toContain('all have a number that can be read');
  }
});

const bomb = () => {
  const parts = workbookParts({ sheets: { S: textRows([['phone'], ['+12125550131']]) } }); // prettier-ignore
  return zip({ ...parts, 'xl/worksheets/sheet1.xml': ' '.repeat(40_000_000) });
};

test.for<[string, () => string | Uint8Array, RegExp]>([
  ['a picture', () => Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]), /this is a PNG picture, not a list/],
  ['nothing', () => '', /the list is empty/],
  ['a header alone', () => 'id,phone\n', /a header and no rows below it/],
  ['no header', () => '1,+12125550131\n2,+12125550132\n', /holds a phone number, so the list has no header/],
  ['one name twice', () => 'phone,phone\n+12125550131,x\n', /have the same name/],
  ['an archive that unfolds', bomb, /unfolds to 40 MB/],
])('what is no list is refused at its field, and nothing is kept: %s', async ([, content, says]) => {
  const store = await openTestStore('sqlite');
  const world = await DraftWorld.over(store);
  const { status, text } = await world.upload(content());
  expect(status).toBe(422);
  expect(text).toMatch(says);
  expect(text).toMatch(/id="list"[^>]*aria-invalid="true"/);
  expect(text).not.toContain('carillon-draft-');
  expect(await keptIn(store)).toEqual(nothing);
});

test('half an upload, no file and another kind of form are refused, and leave no file behind', async () => {
  const store = await openTestStore('sqlite');
  const world = await DraftWorld.over(store);
  const folder = mkdtempSync(join(tmpdir(), 'carillon-uploads-test-'));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  const head = '--b\r\ncontent-disposition: form-data; name="list"; filename="list.csv"\r\n\r\n';
  const half = await world.raw('/new', `${head}phone\r\n+1212`, { 'content-type': 'multipart/form-data; boundary=b' });
  expect(half).toMatchObject({
    status: 400,
    text: expect.stringMatching(/broke off before its end, and nothing was kept/),
  });
  const none = await world.upload('', { name: '' });
  expect(none).toMatchObject({ status: 422, text: expect.stringMatching(/No file was chosen/) });
  const plain = await world.console.post('/new', { list: 'list.csv' });
  expect(plain).toMatchObject({ status: 415, text: expect.stringMatching(/No file was sent/) });
  expect(await keptIn(store)).toEqual(nothing);
  expect(readdirSync(folder)).toEqual([]);
});

test('a list that is too large is refused while it comes, and nothing is kept', async () => {
  const store = await openTestStore('sqlite');
  const world = await DraftWorld.over(store);
  const { app } = world.console.api;
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const cookie = await world.console.api.cookie('operate');
  const send = (headers: Record<string, string>) =>
    request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/new',
      headers: {
        'sec-fetch-site': 'same-origin',
        cookie,
        'content-type': 'multipart/form-data; boundary=b',
        ...headers,
      },
    });
  const announced = send({ 'content-length': '2147483648' });
  announced.flushHeaders();
  const [refused] = (await once(announced, 'response')) as [IncomingMessage];
  expect(refused.statusCode).toBe(413);
  announced.on('error', () => {});
  announced.destroy();

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

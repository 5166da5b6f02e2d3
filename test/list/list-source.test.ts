import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type DownloadLimits, downloadList } from '../../src/list/download.ts';
import { openListSource, placeOfList, readListSource, showSource } from '../../src/list/source.ts';
import { KeptUrlError } from '../../src/shared/input/kept-url.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const noVariable = () => undefined;

const firing = {
  campaignPath: '/srv/calls/campaign.yaml',
  scheduledAtMs: Date.parse('2026-11-21T14:00:00Z'),
  timeZone: 'America/New_York',
};

test.each([
  { source: 'list.csv', path: '/srv/calls/list.csv' },
  { source: 'lists/{{ date }}.csv', path: '/srv/calls/lists/2026-11-21.csv' },
  { source: '{{year}}/{{month}}/{{day}}-{{hour}}{{minute}}.xlsx', path: '/srv/calls/2026/11/21-0900.xlsx' },
  { source: '/lists/{{ weekday }}.csv', path: '/lists/sat.csv' },
])('$source is read from $path', async ({ source, path }) => {
  expect(placeOfList(await openListSource(readListSource(source), noVariable), firing)).toMatchObject({
    kind: 'path',
    path,
  });
});

test('of a URL the host alone is shown', async () => {
  const source = readListSource('https://lists.example:8443/{{ date }}.csv?key=planted-secret');
  const place = placeOfList(await openListSource(source, noVariable), firing);
  expect(place).toEqual({
    kind: 'url',
    url: 'https://lists.example:8443/2026-11-21.csv?key=planted-secret',
    name: 'lists.example:8443',
  });
  expect(showSource(source)).toBe('https://lists.example:8443/{{ date }}.csv?…');
  expect(showSource(readListSource('lists/{{ date }}.csv'))).toBe('lists/{{ date }}.csv');
});

test.each([
  { source: '  ', says: /is empty/ },
  { source: 'x'.repeat(5000), says: /too long/ },
  { source: 'lists/{{ wekday }}.csv', says: /names "wekday": did you mean weekday\?.*It may name date, time/ },
  { source: 'lists/{{ }}.csv', says: /names ""/ },
  { source: 'lists/{{ date | upcase }}.csv', says: /brace/ },
  { source: 'lists/{{ date }}}}.csv', says: /brace/ },
  { source: 'file:///lists/a.csv', says: /file: URL.*write the path/ },
  { source: 'https://', says: /is not a URL/ },
  { source: 'https://me:pw@lists.example/a', says: /user name or password/ },
  { source: 'http://lists.example/a.csv', says: /use https/ },
])('$source is refused', ({ source, says }) => {
  expect(() => readListSource(source)).toThrow(says);
  expect(() => readListSource(source)).toThrow(expect.objectContaining({ isBadInput: true }));
});

test('a signed list URL is no argument and is not kept: what is written down says where it stands', async () => {
  const url = 'https://lists.example.com/{{ date }}.csv?signature=planted-secret';
  const folder = temporaryFolder();
  await writeFile(join(folder, 'url'), `${url}\n`);
  const variables = new Map([['CARILLON_URL_LIST', url]]);
  for (const written of ['env://CARILLON_URL_LIST', `url-file://${join(folder, 'url')}`]) {
    const source = readListSource(written);
    expect(source).toEqual({ kind: 'kept', pattern: written });
    expect(showSource(source)).toBe(written);
    expect(await openListSource(source, (name) => variables.get(name))).toEqual({ kind: 'url', pattern: url });
  }
});

test.each([
  { value: undefined, says: 'env://CARILLON_URL_LIST is not set for this worker' },
  { value: 'planted-secret', says: 'what stands in env://CARILLON_URL_LIST is no address' },
  { value: 'http://lists.example.com/planted-secret', says: 'is no address of a list' },
])('a list whose address stands elsewhere and cannot be used is a sentence without it: $value', async ({ value, says }) => {
  const opening = openListSource(readListSource('env://CARILLON_URL_LIST'), () => value);
  await expect(opening).rejects.toThrow(KeptUrlError);
  await expect(opening).rejects.toThrow(says);
  await expect(opening).rejects.not.toThrow('planted-secret');
});

test.each(['env://SVC_API_KEY', 'env://', 'url-file://relative'])('%s is refused where it is written', (written) => {
  expect(() => readListSource(written)).toThrow(/write env:\/\/CARILLON_URL_<NAME>, or url-file:\/\/\/path/);
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function download(url: string, limits: Partial<DownloadLimits> = {}): Promise<string> {
  const target = join(temporaryFolder(), 'list');
  await downloadList({ url, target, limits });
  expect((await stat(target)).mode & 0o077).toBe(0);
  return readFile(target, 'utf8');
}

const list = 'phone\n+12125550100\n';

test('a list is fetched as it is, over redirects within the host', async () => {
  const paths: string[] = [];
  const url = await serve(({ url: path = '' }, response) => {
    paths.push(path);
    if (path === '/today') response.writeHead(302, { location: '/lists/1.csv?v=2' }).end();
    else response.end(list);
  });
  expect(await download(`${url}/today`)).toBe(list);
  expect(paths).toEqual(['/today', '/lists/1.csv?v=2']);
});

test.each([
  { status: 401, retryable: false },
  { status: 404, retryable: false },
  { status: 204, retryable: false },
  { status: 304, retryable: false },
  { status: 429, retryable: true },
  { status: 503, retryable: true },
])('an answer $status is told with the host alone; worth another try: $retryable', async ({ status, retryable }) => {
  const url = await serve((_, response) => response.writeHead(status).end());
  const { host } = new URL(url);
  await expect(download(`${url}/planted-path?key=planted-secret`)).rejects.toMatchObject({
    message: `The list could not be fetched: ${host} answered ${status}.`,
    retryable,
  });
});

test('a redirect to another host is not followed', async () => {
  let reached = false;
  const other = await serve((_, response) => {
    reached = true;
    response.end(list);
  });
  const url = await serve((_, response) => response.writeHead(307, { location: `${other}/elsewhere?key=1` }).end());
  await expect(download(url)).rejects.toMatchObject({
    message: expect.stringMatching(/redirects to http:\/\/127\.0\.0\.1:\d+, which is not followed/),
    retryable: false,
  });
  expect(reached).toBe(false);
});

test('redirects that go round end', async () => {
  let asked = 0;
  const url = await serve((_, response) => {
    asked += 1;
    response.writeHead(302, { location: '/again' }).end();
  });
  await expect(download(url)).rejects.toThrow(/redirects more than 5 times/);
  expect(asked).toBe(6);
});

test.each([
  { what: 'said to be too large', headers: { 'content-length': '2000' } },
  { what: 'too large without saying so', headers: {} },
])('a list that is $what is refused', async ({ headers }) => {
  const url = await serve((_, response) => {
    response.writeHead(200, headers);
    response.end('x'.repeat(2000));
  });
  await expect(download(url, { maxBytes: 1000 })).rejects.toMatchObject({
    message: expect.stringMatching(/is larger than 1000 bytes/),
    retryable: false,
  });
});

test('an empty list is refused', async () => {
  const url = await serve((_, response) => response.end());
  await expect(download(url)).rejects.toThrow(/is empty/);
});

test('a server that hangs, breaks off or is not there is worth another try', async () => {
  const silent = await serve(() => {});
  await expect(download(silent, { totalTimeoutMs: 100 })).rejects.toMatchObject({
    message: expect.stringMatching(/could not be fetched .*longer than 0\.1 s/),
    retryable: true,
  });
  const broken = await serve((_, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('phone\n');
    response.socket?.destroySoon();
  });
  await expect(download(broken)).rejects.toMatchObject({ retryable: true });
  await expect(download('http://127.0.0.1:1/a.csv?key=planted')).rejects.toMatchObject({
    message: 'The list could not be fetched from 127.0.0.1:1 (ECONNREFUSED).',
    retryable: true,
  });
});

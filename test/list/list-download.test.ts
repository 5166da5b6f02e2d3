import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { downloadList, type DownloadLimits } from '../../src/list/download.ts';

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
  const folder = await mkdtemp(join(tmpdir(), 'carillon-download-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const target = join(folder, 'list');
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

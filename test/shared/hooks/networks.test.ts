import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/shared/config.ts';
import { HookError } from '../../../src/shared/hooks/errors.ts';
import { mayReach, readNetworks, refuseClosed, refuseWritten, type Resolve } from '../../../src/shared/hooks/networks.ts';
import { askPreDial } from '../../../src/shared/hooks/pre-dial.ts';
import { hookConnector, postSigned, type SignedPost } from '../../../src/shared/hooks/signed-post.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven } from '../../ledger/scenario.ts';
import { makeCertificate, startConnectProxy } from '../../support/connect-proxy.ts';
import { until } from '../../support/until.ts';
import { allowAll, startHookServer } from './hook-server.ts';
import { addTestWebhook, secret, startDelivery, webhookOf } from './webhook-world.ts';

const closed = [
  '127.0.0.1', '127.255.255.254', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1',
  '169.254.169.254', '100.64.0.1', '100.100.100.200', '192.0.0.192', '168.63.129.16', '198.18.0.1', '203.0.113.9',
  '224.0.0.1', '240.0.0.1', '255.255.255.255', '::', '::1', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::127.0.0.1',
  'fe80::1', 'fc00::1', 'fd00:ec2::254', 'fec0::1', 'ff02::1', '64:ff9b::7f00:1', '64:ff9b:1::a00:1',
  '2002:7f00:1::', '2001::1', '2001:db8::1', '100::1', '::ffff:8.8.8.8',
]; // prettier-ignore
const reached = ['1.1.1.1', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '2606:4700::1111'];

test.each(closed)('%s is refused', (address) => expect(mayReach(address, undefined)).toBe(false));
test.each(reached)('%s is reached', (address) => expect(mayReach(address, undefined)).toBe(true));

test.each(['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0', '[::ffff:127.0.0.1]', '[::]', '169.254.43518', '10.1'])(
  'an address that is written as %s is refused as what it is',
  (host) => expect(() => refuseWritten(new URL(`https://${host}/`), undefined)).toThrow(HookError),
); // prettier-ignore

test('what a setting names is reached, and what it cannot name is told', () => {
  const networks = readNetworks('127.0.0.1, 10.2.0.0/16,fd00::/8') ?? undefined;
  for (const address of ['127.0.0.1', '10.2.255.1', 'fd12::1', '::ffff:10.2.0.1', '1.1.1.1'])
    expect(mayReach(address, networks), address).toBe(true);
  for (const address of ['127.0.0.2', '10.3.0.1', 'fc00::1', '169.254.169.254']) expect(mayReach(address, networks), address).toBe(false);
  for (const written of ['10.2.0.0/33', 'localhost', '10.2', '::/129', '10.0.0.1,'])
    expect(() => readConfig({ CARILLON_HOOK_NETWORKS: written }), written).toThrow(/CARILLON_HOOK_NETWORKS/);
});

const signed = {
  readVariable: () => undefined,
  secret,
  networks: undefined,
  eventId: 'one',
  timeoutMs: 10_000,
  nowReal: Date.now,
  stopping: new AbortController().signal,
};

const post = (url: string, changes: Partial<SignedPost>): Promise<void> =>
  postSigned({ ...signed, url, body: { recipients: [] }, ...changes });

/** A name that leads elsewhere each time it is looked up. */
function changing(...answers: string[][]): { resolve: Resolve; looked: () => number } {
  let looked = 0;
  const resolve: Resolve = async () => {
    const addresses = answers[Math.min(looked, answers.length - 1)] ?? [];
    looked += 1;
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { resolve, looked: () => looked };
}

const refused = { fault: 'address_refused', message: expect.stringContaining('CARILLON_HOOK_NETWORKS') };

test('a name is judged by where it leads when the request is made, and the connection goes there', async () => {
  const hook = await startHookServer(allowAll);
  const { port } = new URL(hook.url);
  const networks = readNetworks('127.0.0.1') ?? undefined;
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433'])
    await expect(post(`http://${host}:${port}/`, {})).rejects.toMatchObject(refused);
  const url = `http://name.localhost:${port}/`;
  const rebound = changing(['1.1.1.1'], ['127.0.0.1']);
  await refuseClosed(new URL(url), undefined, rebound.resolve);
  await expect(post(url, { resolve: rebound.resolve })).rejects.toMatchObject(refused);
  await expect(post(url, { resolve: changing([]).resolve })).rejects.toMatchObject(refused);
  expect(hook.calls).toEqual([]);

  const allowed = changing(['10.0.0.1', '127.0.0.1', '::1'], ['127.0.0.2']);
  await post(url, { networks, resolve: allowed.resolve });
  expect(allowed.looked()).toBe(1);
  await expect(post(url, { networks, resolve: allowed.resolve })).rejects.toMatchObject(refused);
  expect(hook.calls).toHaveLength(1);
});

test('a webhook that leads to this machine is told of nothing until a setting allows it, and of all from then on', async () => {
  const store = await openCleanStore('sqlite');
  await beginProven(store);
  const hook = await startHookServer();
  await addTestWebhook(store, hook.url.replace('127.0.0.1', 'localhost'), { cursor: 0 });
  expect(await startDelivery(store, { hookNetworks: undefined }).ended).toMatchObject({ message: /address_refused/ });
  expect(hook.calls).toEqual([]);
  expect(await webhookOf(store)).toMatchObject({ fault: 'address_refused', cursor: 0 });
  const { stop } = startDelivery(store);
  await until('it is told', () => hook.calls.length > 0);
  await stop();
});

/** A name that is known here by this address of documentation, which the setting allows. */
const faraway = { networks: readNetworks('203.0.113.0/24') ?? undefined, resolve: changing(['203.0.113.9']).resolve };

test('through a proxy the address is judged here, and the tunnel is asked for it; the name stays in the request', async () => {
  const hook = await startHookServer();
  const proxy = await startConnectProxy(() => ({ port: Number(new URL(hook.url).port) }));
  const dispatcher = new Agent({ connect: await hookConnector({ ...faraway, proxies: proxy.proxies, timeoutMs: 10_000 }) });
  await request('http://hook.example:8080/path', { dispatcher, method: 'POST', body: '{}' });
  await dispatcher.destroy();
  const url = 'https://hook.example/';
  expect(proxy.asked.map(({ authority }) => authority)).toEqual(['203.0.113.9:8080']);
  expect(hook.calls).toMatchObject([{ path: '/path', headers: { host: 'hook.example:8080' } }]);
  for (const addresses of [['203.0.113.9', '10.0.0.1'], ['10.0.0.1'], ['203.0.113.9', '::1']])
    await expect(post(url, { ...faraway, resolve: changing(addresses).resolve, proxies: proxy.proxies })).rejects.toMatchObject(refused);
  const unknown = post(url, { ...faraway, resolve: changing([]).resolve, proxies: proxy.proxies });
  await expect(unknown).rejects.toMatchObject({ fault: 'no_connection', message: expect.stringContaining('no address here') });
  expect(proxy.asked).toHaveLength(1);
  expect(hook.calls).toHaveLength(1);
});

test('through a proxy the name of a hook stands in SNI, and its certificate has to be of that name', async () => {
  const { key, cert } = makeCertificate('hook.example');
  const names: unknown[] = [];
  const tls = createTlsServer({ key, cert, SNICallback: (name, done) => done(null, void names.push(name)) });
  tls.listen(0, '127.0.0.1').on('tlsClientError', () => {});
  await once(tls, 'listening');
  onTestFinished(() => void tls.close());
  const proxy = await startConnectProxy(() => ({ port: (tls.address() as AddressInfo).port }));
  await expect(post('https://hook.example/', { ...faraway, proxies: proxy.proxies })).rejects.toMatchObject({ fault: 'no_connection' });
  expect(proxy.asked[0]?.authority).toBe('203.0.113.9:443');
  expect(names).toEqual(['hook.example']);
});

test('a proxy that opens no tunnel to an address leaves the hook without an answer: nobody may be called', async () => {
  const proxy = await startConnectProxy(() => ({ status: 403 }));
  const failed = {
    fault: 'no_tunnel',
    message: expect.stringContaining(`the proxy ${proxy.url} (HTTPS_PROXY) refuses the tunnel with status 403`),
  };
  await expect(post('https://hook.example/', { ...faraway, proxies: proxy.proxies })).rejects.toMatchObject(failed);
});

test('a webhook on this machine has no proxy', async () => {
  const hook = await startHookServer();
  const proxy = await startConnectProxy(() => ({ status: 403 }));
  await post(hook.url.replace('127.0.0.1', 'mine.localhost'), {
    networks: readNetworks('127.0.0.1') ?? undefined,
    resolve: changing(['127.0.0.1']).resolve,
    proxies: proxy.proxies,
  });
  expect([hook.calls.length, proxy.asked.length]).toEqual([1, 0]);
});

const drip = (response: ServerResponse): void => {
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
};

test.each<[string, OutgoingHttpHeaders, (response: ServerResponse) => unknown]>([
  ['never ends', {}, drip],
  ['breaks', { 'content-length': '99' }, (response) => response.write('x', () => response.destroy())],
  ['is long', {}, (response) => response.end(Buffer.alloc(4 * 1024 * 1024))],
  ['is no gzip, as it says', { 'content-encoding': 'gzip' }, (response) => response.end('not gzip')],
])('a receiver whose body %s has taken an event that it answers with 200, and no other', async (_name, headers, sendBody) => {
  const hook = await startHookServer();
  for (const status of [200, 503]) {
    hook.answerWith((response) => sendBody(response.writeHead(status, headers)));
    const posting = post(hook.url, { networks: readNetworks('127.0.0.1') ?? undefined });
    if (status === 200) await posting;
    else await expect(posting).rejects.toMatchObject({ fault: 'status', status });
  }
  expect(hook.calls).toHaveLength(2);
});

test('a pre-dial hook whose answer never ends says no; one that a proxy compressed unasked is read', async () => {
  const question = { campaign: 'c', batch: 'b', recipients: [{ ref: 'r', phone: '+12125550101', id: null, row: 1 }] };
  const ask = (url: string, timeoutMs: number) =>
    askPreDial(question, { ...signed, url, timeoutMs, networks: readNetworks('127.0.0.1') ?? undefined });
  const text = JSON.stringify({ recipients: [{ ref: 'r', eligible: true }] });
  const dripping = await startHookServer((response) => {
    response.writeHead(200).write(text);
    drip(response);
  });
  await expect(ask(dripping.url, 1_000)).rejects.toMatchObject({ fault: 'timeout' });
  const squeezed = await startHookServer((response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`\ufeff${text}`)),
  );
  expect(await ask(squeezed.url, 10_000)).toEqual(new Map([['r', { kind: 'eligible' }]]));
  squeezed.answerWith((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(text));
  await expect(ask(squeezed.url, 10_000)).rejects.toMatchObject({ fault: 'unusable', message: expect.stringContaining('gzip') });
});

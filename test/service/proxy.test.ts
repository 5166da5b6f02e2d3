import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { NotSentError, OutcomeUnknownError, RefusedError, ServiceError } from '../../src/service/port/errors.ts';
import { connectorThrough, type Connected } from '../../src/shared/network/connector.ts';
import { proxyFor, readProxy } from '../../src/shared/network/proxies.ts';
import { environmentProxies } from '../../src/shared/config.ts';
import { makeCertificate, startConnectProxy, tunnelTo, type ConnectProxy, type Way } from '../support/connect-proxy.ts';
import { answerJson, clientOf, deadBaseUrl, dial, placeOne, rejectionOf, startHttpService } from './convai/loopback-servers.ts';

/** An address that leads nowhere: what arrives at the service came by the proxy. */
const far = 'http://203.0.113.7:8080';
const date = 'Sun, 06 Nov 1994 08:49:37 GMT';

function placeThrough({ proxies }: Pick<ConnectProxy, 'proxies'>, timeouts: { connectMs?: number; headersMs?: number } = {}) {
  const sending = vi.fn();
  const client = clientOf(far, { proxies, allowInsecure: true, timeouts });
  const placing = client.placeBatchCalls(dial, { requestId: 'b/1', mayBegin: () => true, onSending: sending });
  return { client, sending, placing };
}

test.each([
  ['localhost', null],
  ['LOCALHOST', null],
  ['sandbox.localhost', null],
  ['127.8.0.1', null],
  ['[::1]', null],
  ['[::ffff:127.0.0.2]', null],
  ['0.0.0.0', null],
  ['mine', null],
  ['half.example', 'http://proxy:3128'],
  ['unknown.example', 'http://proxy:3128'],
  ['127.example', 'http://proxy:3128'],
  ['inner.corp', null],
  ['a.inner.corp', null],
  ['notinner.corp', 'http://proxy:3128'],
  ['10.2.3.4', null],
  ['10.3.0.1', 'http://proxy:3128'],
  ['ported.example', null],
])('requests to %s go through %s', async (hostname, place) => {
  const addresses: Record<string, string[]> = { mine: ['127.0.1.1', '::1'], 'half.example': ['127.0.0.1', '198.51.100.1'] };
  const find = async (name: string) => (addresses[name] ?? ['198.51.100.2']).map((address) => ({ address }));
  const variable = { name: 'HTTP_PROXY', value: 'http://u:p%40ss@proxy:3128' };
  const proxies = { http: variable, https: null, except: '.inner.corp, 10.2.0.0/16 ported.example:4010,ported.example:1' };
  expect((await proxyFor({ protocol: 'http:', hostname, port: 4010 }, proxies, find))?.place ?? null).toBe(place);
  expect(await proxyFor({ protocol: 'https:', hostname, port: 4010 }, proxies, find)).toBeNull();
});

test('both cases of letters are read, small ones first; a value that cannot be used is named without its password', () => {
  expect(environmentProxies({ HTTP_PROXY: 'http://one:1', http_proxy: '', NO_PROXY: 'a' })).toEqual({
    http: { name: 'HTTP_PROXY', value: 'http://one:1' },
    https: { name: 'HTTP_PROXY', value: 'http://one:1' },
    except: 'a',
  });
  expect(environmentProxies({ https_proxy: 'two:2', HTTPS_PROXY: 'three:3', no_proxy: 'b', NO_PROXY: 'a' })).toMatchObject({
    http: null,
    https: { name: 'https_proxy', value: 'two:2' },
    except: 'b',
  });
  expect(readProxy({ name: 'x', value: 'proxy.example:3128' })).toMatchObject({ place: 'http://proxy.example:3128', login: null });
  for (const value of ['socks5://u:s3cret@h:1', 'http://u:s3cret%@h:1', 'http://'])
    expect(() => readProxy({ name: 'https_proxy', value })).toThrow(/^https_proxy cannot be used: write http:\/\/((?!s3cret).)*$/);
});

test('a proxy that asks for a password gets it, opens one tunnel for each POST, and the key goes through the tunnel alone', async () => {
  const service = await startHttpService((response) =>
    answerJson(response, 200, { batch_id: 'b', calls_initiated: 1, conversations: [] }, { date }),
  );
  const proxy = await startConnectProxy(() => ({ port: Number(new URL(service.baseUrl).port) }), 'user:pass@word');
  const { client, placing } = placeThrough(proxy);
  expect(await placing).toMatchObject({ batchId: 'b', serviceDate: null });
  await client.placeBatchCalls(dial, { requestId: 'b/2', mayBegin: () => true });
  expect((await client.listConversationsPage()).serviceDate).toBeNull();
  expect(client.clockReadings().last).toBeNull();
  expect(proxy.asked.map(({ authority }) => authority)).toEqual(Array(3).fill('203.0.113.7:8080'));
  expect(JSON.stringify(proxy.asked)).not.toContain('sk_unit');
  expect(proxy.plain).toEqual([]);
  expect(service.connections()).toBe(3);
  expect(service.seen[0]).toMatchObject({ method: 'POST', headers: { host: '203.0.113.7:8080' } });
  expect(service.seen[0]?.headers).not.toHaveProperty('proxy-authorization');
});

test.each<[string, Way]>([
  ['403', { status: 403 }],
  ['407', { status: 407 }],
  ['429', { status: 429 }],
  ['502', { status: 502 }],
  ['nothing', () => {}],
  ['a broken connection', (socket) => socket.destroy()],
])('a request to dial whose CONNECT is answered with %s was not sent, whatever it says of batches', async (_name, way) => {
  const proxy = await startConnectProxy(() => way);
  const { placing, sending } = placeThrough(proxy, { connectMs: 1_000 });
  expect(await rejectionOf(placing, NotSentError)).toMatchObject({ reason: 'no_connection' });
  expect(sending).not.toHaveBeenCalled();
  expect(proxy.asked).toHaveLength(1);
});

test('a proxy that is not there, or wants a password that is not set, is named with its variable', async () => {
  const url = await deadBaseUrl();
  const variable = { name: 'http_proxy', value: url.replace('//', '//me:s3cret@') };
  const dead = placeThrough({ proxies: { http: variable, https: null, except: '' } });
  const error = await rejectionOf(dead.placing, NotSentError);
  expect(error.message).toContain(`the proxy ${url} (http_proxy) opens no tunnel (ECONNREFUSED)`);
  expect(error.message).not.toContain('s3cret');
  const closed = await startConnectProxy(() => ({ status: 200 }), 'user:pw');
  const withoutLogin = { name: 'HTTPS_PROXY', value: closed.url };
  const refused = placeThrough({ proxies: { http: withoutLogin, https: null, except: '' } });
  expect((await rejectionOf(refused.placing, NotSentError)).message).toMatch(/wants a user and a password \(status 407\).*HTTPS_PROXY/);
});

const planted = (status: number, body = '{}') =>
  `HTTP/1.1 ${status} Planted\r\ncontent-type: application/json\r\ndate: ${date}\r\nretry-after: 1\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

test.each<[string, string | null]>([
  ['403', planted(403)],
  ['407', planted(407)],
  ['429', planted(429)],
  ['422 and the words of the service', planted(422, '{"detail":{"code":"invalid"}}')],
  ['302', planted(302)],
  ['502', planted(502)],
  ['a page', planted(200, '<html>Sign in</html>')],
  ['half a refusal', planted(403, '{"detail":').replace('content-length: 10', 'content-length: 99')],
  ['nothing', null],
  ['an end', ''],
])('a request to dial that a proxy answers inside its tunnel with %s may have been carried out', async (_name, answer) => {
  const proxy = await startConnectProxy(() => tunnelTo(answer));
  const { placing, sending, client } = placeThrough(proxy, { headersMs: 1_000 });
  expect(await rejectionOf(placing, ServiceError)).toMatchObject({ knowledge: 'unknown', serviceMs: null });
  expect(sending).toHaveBeenCalledOnce();
  expect(proxy.asked).toHaveLength(1);
  expect(client.clockReadings().last).toBeNull();
});

test('a read that a proxy answers inside its tunnel says nothing of what the service has', async () => {
  const proxy = await startConnectProxy(() => tunnelTo(planted(404)));
  const { client, placing } = placeThrough(proxy);
  await rejectionOf(placing, OutcomeUnknownError);
  const error = await rejectionOf(client.getConversation('c'), OutcomeUnknownError);
  expect(error.message).toContain(`through the proxy ${proxy.url}, which may have answered itself`);
});

test('a certificate that the public trusts shows that the service itself answers; one of the office does not', async () => {
  const { key, cert } = makeCertificate('service.example');
  const service = createServer({ key, cert }, (_request, response) => void response.end('here'));
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  onTestFinished(() => void service.close());
  const proxy = await startConnectProxy(() => ({ port: (service.address() as AddressInfo).port }));
  const find = async () => [{ address: '198.51.100.2' }];
  for (const [publicRoots, answeredBy] of [
    [[cert], null],
    [[], proxy.url],
  ] as const) {
    const seen: Connected[] = [];
    const connect = connectorThrough(proxy.proxies, {
      timeoutMs: 10_000,
      find,
      publicRoots,
      ca: cert,
      onConnected: (one) => seen.push(one),
    });
    const dispatcher = new Agent({ connect });
    expect(await (await request('https://service.example/', { dispatcher })).body.text()).toBe('here');
    await dispatcher.destroy();
    expect(seen).toEqual([{ answeredBy }]);
  }
  expect(proxy.asked[0]?.authority).toBe('service.example:443');
});

test('without a proxy a refusal is one', async () => {
  const service = await startHttpService((response) => answerJson(response, 403, {}));
  const proxy = await startConnectProxy(() => ({ status: 500 }));
  const client = clientOf(service.baseUrl, { proxies: proxy.proxies });
  await rejectionOf(placeOne(client), RefusedError);
  expect([...proxy.asked, ...proxy.plain]).toEqual([]);
});

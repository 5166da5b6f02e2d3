import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../src/shared/config.ts';
import { connectTemporal, connectTemporalNative, type TemporalTarget } from '../../src/temporal/connection.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { sharedTemporal } from '../support/temporal-for-tests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const nothingSet = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };
const connectors = [
  ['a client', connectTemporal],
  ['a worker', connectTemporalNative],
] as const;

let server: TemporalTarget;

beforeAll(async () => {
  server = await sharedTemporal();
});

async function profileOf(lines: string[]): Promise<Record<string, string>> {
  const path = join(temporaryFolder(), 'temporal.toml');
  await writeFile(path, ['[profile.default]', ...lines].join('\n'));
  return { TEMPORAL_CONFIG_FILE: path };
}

/** A port that takes connections and never says a word. */
async function makeSilentAddress(): Promise<string> {
  const sockets = new Set<{ destroy(): void }>();
  const silent = createServer((socket) => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  return `127.0.0.1:${(silent.address() as AddressInfo).port}`;
}

test.each(connectors)('%s connects to the address and the namespace of the profile', async (_, connect) => {
  const env = await profileOf([`address = "${server.address}"`, `namespace = "${server.namespace}"`]);
  const { connection, address, namespace } = await connect(nothingSet, { env });
  await connection.close();
  expect({ address, namespace }).toEqual(server);
});

test.each(connectors)('%s reaches Temporal on this machine by no proxy, whatever the variables say', async (_, connect) => {
  const proxy = await startConnectProxy(() => ({ status: 403 }));
  for (const name of ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'grpc_proxy']) vi.stubEnv(name, proxy.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { connection } = await connect({ ...readConfig(), TEMPORAL_ADDRESS: server.address }, { env: {} });
  await connection.close();
  expect(proxy.asked).toEqual([]);
});

test.each(connectors)('%s reaches a Temporal elsewhere through the proxy, with its password', async (_, connect) => {
  const proxy = await startConnectProxy(() => ({ port: Number(server.address.split(':')[1]) }), 'user:pass@word');
  const config = { TEMPORAL_ADDRESS: '203.0.113.7:7233', TEMPORAL_NAMESPACE: server.namespace, HTTP_PROXY: proxy.proxies.http?.value };
  const { connection } = await connect(config, { env: {} });
  await connection.close();
  expect(proxy.asked.length).toBeGreaterThan(0);
  expect(proxy.asked[0]?.authority).toBe('203.0.113.7:7233');
  const refusing = await startConnectProxy(() => ({ status: 403 }));
  const failing = connect({ ...config, HTTP_PROXY: refusing.url.replace('//', '//me:s3cret@') }, { env: {}, timeoutMs: 2_000 });
  await expect(failing).rejects.toMatchObject({
    message: expect.stringContaining(`203.0.113.7:7233 through the proxy ${refusing.url} (HTTP_PROXY) cannot be used`),
  });
  await expect(failing).rejects.not.toMatchObject({ message: expect.stringContaining('s3cret') });
});

test('the client is bound to the namespace', async () => {
  const { connection, client } = await connectTemporal(nothingSet, { target: server });
  await connection.close();
  expect(client.options.namespace).toBe(server.namespace);
});

test('variables come before the profile', async () => {
  const env = await profileOf(['address = "127.0.0.1:1"', 'namespace = "other"']);
  const config = { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'default' };
  const { connection, address, namespace } = await connectTemporal(config, { env });
  await connection.close();
  expect({ address, namespace }).toEqual({ address: server.address, namespace: 'default' });
});

test.each(connectors)('%s that is given a target does not take the key or the TLS of a profile there', async (_, connect) => {
  const env = await profileOf(['address = "127.0.0.1:1"', 'namespace = "other"', 'api_key = "k"']);
  const { connection, address, namespace } = await connect(nothingSet, { env, target: server });
  await connection.close();
  expect({ address, namespace }).toEqual(server);
});

test.each(connectors)('%s is told which namespace is missing and how to make it', async (_, connect) => {
  const target = { address: server.address, namespace: 'absent' };
  await expect(connect(nothingSet, { target })).rejects.toMatchObject({
    name: 'TemporalUnreachableError',
    isBadInput: false,
    address: server.address,
    message: expect.stringMatching(/no namespace "absent"; create it .*--namespace absent.*TEMPORAL_NAMESPACE/),
  });
});

test.each(connectors)('%s that finds nothing listening is told where, and what to do', async (_, connect) => {
  const target = { address: '127.0.0.1:1', namespace: 'default' };
  await expect(connect(nothingSet, { target, timeoutMs: 500 })).rejects.toMatchObject({
    name: 'TemporalUnreachableError',
    message: expect.stringMatching(/Temporal at 127\.0\.0\.1:1 cannot be used.*Start it, or set TEMPORAL_ADDRESS/),
  });
});

test.each(connectors)('%s gives up a server that never answers when the limit is over', async (_, connect) => {
  const target = { address: await makeSilentAddress(), namespace: 'default' };
  const startedAt = performance.now();
  await expect(connect(nothingSet, { target, timeoutMs: 500 })).rejects.toThrow(/waited at most 0\.5 s/);
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});

test('an address with a scheme is a wrong setting', async () => {
  const connecting = connectTemporal({ ...nothingSet, TEMPORAL_ADDRESS: 'http://localhost:7233' }, { env: {} });
  await expect(connecting).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringContaining('http://localhost:7233: give host:port'),
  });
});

test('a profile file that cannot be read as such is a wrong setting', async () => {
  const env = await profileOf(['address = unquoted']);
  await expect(connectTemporal(nothingSet, { env })).rejects.toMatchObject({ name: 'ConfigError' });
});

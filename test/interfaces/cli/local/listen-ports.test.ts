import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Around } from '../../../../src/interfaces/cli/local/doctor-check.ts';
import { findingsOf } from '../../../../src/interfaces/cli/local/doctor.ts';
import { listenText, readConfig, type Config } from '../../../../src/shared/config.ts';
import { startHealthServer } from '../../../../src/temporal/health-server.ts';
import { freePort } from '../../../support/free-port.ts';
import { createWorld } from '../campaign-world.ts';

const portsOf = (config: Config) => findingsOf(new Around(config, 0), ['Metrics', 'Probes', 'Ports']);

async function takePort(): Promise<number> {
  const server = createServer((_, response) => void response.end('something else')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test.each([
  ['9464', '127.0.0.1:9464'],
  ['0.0.0.0:9464', '0.0.0.0:9464'],
  ['[::1]:65535', '[::1]:65535'],
])('%s opens %s', (value, address) => {
  const { CARILLON_METRICS_LISTEN: listen } = readConfig({ CARILLON_METRICS_LISTEN: value });
  expect(listen === undefined ? null : listenText(listen)).toBe(address);
});

test.each(['0', '65536', 'metrics', 'localhost:9464', '::1:9464', '127.0.0.1', '127.0.0.1:', '-1', '9464 '])(
  'a value that names no port is refused with what to write: %s',
  (value) => {
    for (const name of ['CARILLON_METRICS_LISTEN', 'CARILLON_HEALTH_LISTEN'])
      expect(() => readConfig({ [name]: value })).toThrow(
        new RegExp(`write a port from 1 to 65535, such as 9464, .* or \\[::\\]:9464\\s+→ at ${name}`),
      );
  },
);

test('a worker whose port is taken says who has it and what to do, and does not begin', async () => {
  const taken = await takePort();
  for (const name of ['CARILLON_METRICS_LISTEN', 'CARILLON_HEALTH_LISTEN']) {
    const world = await createWorld({}, { [name]: String(taken) });
    const { code, stderr } = await world.run('worker');
    expect(stderr).toMatch(
      new RegExp(`^${name} is 127\\.0\\.0\\.1:${taken}, and .+ listens there already\\. Stop it, or give this worker another port`),
    );
    expect(code).toBe(2);
  }
  const nowhere = await createWorld({}, { CARILLON_HEALTH_LISTEN: '192.0.2.1:9464' });
  expect(await nowhere.run('worker')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^CARILLON_HEALTH_LISTEN is 192\.0\.2\.1:9464, which is no address of this machine\./),
  });
  const port = String(await freePort());
  const same = await createWorld({}, { CARILLON_METRICS_LISTEN: port, CARILLON_HEALTH_LISTEN: `127.0.0.1:${port}` });
  expect(await same.run('worker')).toMatchObject({ code: 2, stderr: expect.stringContaining('name the same port') });
});

test('doctor tells a free port, one that a worker has, and one that somebody else has', async () => {
  const [metrics, health] = [await freePort(), await freePort()];
  const config = readConfig({ CARILLON_METRICS_LISTEN: String(metrics), CARILLON_HEALTH_LISTEN: String(health) });
  expect(await portsOf(readConfig({}))).toMatchObject([
    { name: 'Metrics', status: 'ok', detail: expect.stringContaining('not set') },
    { name: 'Probes', status: 'ok' },
  ]);
  expect(await portsOf(config)).toMatchObject([{ status: 'ok', detail: `127.0.0.1:${metrics} is free for a worker` }, { status: 'ok' }]);
  const server = await startHealthServer({ host: '127.0.0.1', port: health });
  onTestFinished(() => server.close());
  const taken = await takePort();
  expect(await portsOf({ ...config, CARILLON_METRICS_LISTEN: { host: '127.0.0.1', port: taken } })).toMatchObject([
    { name: 'Metrics', status: 'fault', advice: expect.stringContaining('another port') },
    { name: 'Probes', status: 'ok', detail: `a worker listens at 127.0.0.1:${health}` },
  ]);
  expect(await portsOf({ ...config, CARILLON_HEALTH_LISTEN: config.CARILLON_METRICS_LISTEN })).toContainEqual(
    expect.objectContaining({ name: 'Ports', status: 'fault' }),
  );
});

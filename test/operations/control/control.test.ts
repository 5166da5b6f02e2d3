import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/shared/config.ts';
import { createControl, openTemporal } from '../../../src/operations/control/control.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { sharedTemporal } from '../../support/temporal-for-tests.ts';
import { openTestStore } from '../../ledger/test-stores.ts';

test('Temporal is connected at first use and once for all, and anew when the connection was lost', async () => {
  const { address, namespace } = await sharedTemporal();
  const proxy = await startTcpProxy(Number(address.split(':')[1]));
  onTestFinished(() => proxy.close());
  const env = { TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}`, TEMPORAL_NAMESPACE: namespace };
  const config = readConfig(env);
  let connections = 0;
  const connect = (limitMs?: number) => {
    connections += 1;
    return openTemporal(env, config, limitMs);
  };
  const control = createControl({ config, store: await openTestStore('sqlite'), now: Date.now, connect });
  onTestFinished(() => control.close());
  expect(connections).toBe(0);

  const [first, second] = await Promise.all([control.temporal(), control.temporal()]);
  expect(second).toBe(first);
  connections = 0;
  expect(await control.temporal()).toBe(first);
  expect(connections).toBe(0);

  await proxy.refuse();
  proxy.drop();
  await expect(control.temporal(500)).rejects.toMatchObject({ name: 'TemporalUnreachableError' });
  await proxy.accept();
  const anew = await control.temporal();
  expect(anew).not.toBe(first);
  expect(await control.temporal()).toBe(anew);
});

import { expect, test } from 'vitest';
import { readConfig } from '../../../src/shared/config.ts';
import { HookError } from '../../../src/shared/hooks/errors.ts';
import { mayReach, readNetworks, refuseClosed, refuseWritten, type Resolve } from '../../../src/shared/hooks/networks.ts';
import { postSigned, type SignedPost } from '../../../src/shared/hooks/signed-post.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven } from '../../ledger/scenario.ts';
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

function post(url: string, changes: Partial<SignedPost>): Promise<string> {
  return postSigned({
    url,
    readVariable: () => undefined,
    secret,
    networks: undefined,
    eventId: 'one',
    body: { recipients: [] },
    timeoutMs: 10_000,
    longestAnswerBytes: 1_000,
    nowReal: Date.now,
    stopping: new AbortController().signal,
    ...changes,
  });
}

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
  expect(await post(url, { networks, resolve: allowed.resolve })).toBe('{"recipients":[]}');
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

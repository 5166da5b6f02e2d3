import { expect, test } from 'vitest';
import { CarillonProblem, CarillonUnreachable, createCarillonClient } from '../../../src/interfaces/client/index.ts';
import { appendEvents } from '../../../src/ledger/events.ts';
import { ApiWorld } from '../api/api-world.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginCampaign, noon } from '../../ledger/scenario.ts';
import { until } from '../../support/until.ts';
import { FaultyApi } from './faulty-api.ts';
import { operations } from '../../../src/operations/list.ts';

async function openWay() {
  const store = await openCleanStore('sqlite');
  await beginCampaign(store);
  const world = await ApiWorld.over(store);
  const way = await FaultyApi.before(await world.app.listen({ port: 0, host: '127.0.0.1' }));
  return { store, way, client: createCarillonClient({ baseUrl: way.url, token: world.tokenText('admin') }) };
}

const numbers = ['+12025550143'];

test('a change whose answer is lost is sent again with its key, and carried out once', async () => {
  const { way, client } = await openWay();
  way.faults.push('lost', 'away');
  expect(await client.addSuppressions({ body: { numbers } })).toEqual({ added: 1, known: 0 });
  expect(way.keys).toHaveLength(3);
  expect(new Set(way.keys).size).toBe(1);
  expect(await client.addSuppressions({ body: { numbers } })).toEqual({ added: 0, known: 1 });
  expect(new Set(way.keys).size).toBe(2);
  way.faults.push('busy', 'busy');
  expect(await client.addSuppressions({ body: { numbers: ['+12025550144'] } })).toEqual({ added: 1, known: 0 });
  expect(new Set(way.keys).size).toBe(3);
});

test('after three tries the error has the key with which the same call tells what came of it', async () => {
  const { way, client } = await openWay();
  way.faults.push('lost', 'lost', 'lost');
  const error = await client.addSuppressions({ body: { numbers } }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CarillonUnreachable);
  const { key, message } = error as CarillonUnreachable;
  expect(message).toMatch(/^POST \/api\/v1\/suppressions got no answer \(3 tries\)\. It may have been carried out/);
  expect(await client.addSuppressions({ body: { numbers }, key: key ?? '' })).toEqual({ added: 1, known: 0 });
});

test('what takes no key is sent once, and a refusal is not sent again', async () => {
  const { way, client } = await openWay();
  way.faults.push('lost');
  await expect(client.checkSuppressions({ body: { numbers } })).rejects.toMatchObject({ key: null });
  expect(way.keys).toHaveLength(1);
  const refusal = await client.showCampaign({ campaign: 'a/b c' }).catch((thrown: unknown) => thrown);
  expect(refusal).toBeInstanceOf(CarillonProblem);
  expect(refusal).toMatchObject({ status: 404, code: 'unknown_campaign', errors: [] });
  await expect(client.listRows({ campaign: 'spring', query: { limit: 0 } })).rejects.toMatchObject({
    status: 400,
    errors: [{ path: 'limit' }],
  });
  expect(way.keys).toHaveLength(3);
  way.faults.push('away', 'away', 'away');
  await expect(client.listCampaigns()).rejects.toMatchObject({ status: 503, code: 'not_carillon' });
});

test('a key that was used for another request is refused at once, with what differs', async () => {
  const { way, client } = await openWay();
  await client.addSuppressions({ body: { numbers }, key: 'case-1' });
  const other = client.addSuppressions({ body: { numbers, reason: 'asked' }, key: 'case-1' });
  await expect(other).rejects.toMatchObject({ status: 409, code: 'key_reused', differs: ['body.reason'] });
  expect(way.keys).toHaveLength(2);
});

test('parameters that may be given several times, files and downloads reach the API', async () => {
  const { client } = await openWay();
  const { rows } = await client.listRows({ campaign: 'spring', query: { state: ['waiting', 'open'], limit: 2 } });
  expect(rows.map(({ row }) => row)).toEqual([1, 2]);
  const found = await client.searchPeople({ body: { text: '#2' } });
  expect(found).toMatchObject({ people: [{ campaignId: 'spring', row: 2, match: null }], complete: true });
  const file = new Blob([`phone\n${numbers[0]}\n`]);
  expect(await client.importSuppressions({ numbers: file, query: { region: 'us' } })).toMatchObject({ added: 1 });
  const results = await client.downloadResults({ campaign: 'spring', format: 'csv', query: { outcome: 'completed' } });
  expect(results.headers.get('content-type')).toMatch(/^text\/csv/);
  await results.body?.cancel();
});

test('a stream of events that breaks, be it before the first one, is taken up where it broke', async () => {
  const { store, way, client } = await openWay();
  const add = (round: number) =>
    store.transaction((tx) => appendEvents(tx, [{ at: noon, campaignId: 'spring', type: 'round.ended', data: { round } }]));
  const ending = new AbortController();
  const events = client.followEvents({ campaign: 'spring', signal: ending.signal });
  const first = events.next();
  await until('the stream has begun', () => way.begun > 0);
  // Another answer has already cached the beginning.
  await client.listCampaigns();
  way.faults.push('away');
  way.breakConnections();
  await add(1);
  const one = (await first).value;
  expect(one).toMatchObject({ type: 'round.ended', campaignId: 'spring' });
  const second = events.next();
  way.breakConnections();
  await add(2);
  const { seq } = (await second).value ?? { seq: 0 };
  expect(seq).toBe((one?.seq ?? 0) + 1);
  const third = events.next();
  ending.abort();
  expect(await third).toEqual({ done: true, value: undefined });
});

test('a stream that is refused says so', async () => {
  const { client } = await openWay();
  await expect(client.followEvents({ campaign: 'no-such-campaign' }).next()).rejects.toMatchObject({ status: 404 });
});

interface Described {
  operationId: string;
  parameters?: { name: string; in: string }[];
}

test('every operation of the description has a method that sends its method and path, and a key where it takes one', async () => {
  const world = await ApiWorld.empty();
  const { body } = await world.ask('GET /openapi.json', { token: null });
  const described = Object.entries(body.paths as Record<string, Record<string, Described>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [] }]) => ({
      id: operationId,
      route: `${method.toUpperCase()} ${path}`,
      takesKey: parameters.some(({ name }) => name === 'idempotency-key'),
    })),
  );
  const sent = Object.entries(operations).map(([id, { route, kind }]) => ({
    id,
    route: route.replace(/:(\w+)/g, '{$1}'),
    takesKey: kind === 'change',
  }));
  const byId = (one: { id: string }, other: { id: string }) => one.id.localeCompare(other.id);
  expect(sent.toSorted(byId)).toEqual(described.toSorted(byId));
});

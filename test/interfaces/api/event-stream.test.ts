import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { EventStreams } from '../../../src/interfaces/api/core/event-stream.ts';
import { LogTail } from '../../../src/interfaces/api/core/log-tail.ts';
import { createToken, revokeToken } from '../../../src/ledger/console/tokens.ts';
import { appendEvents } from '../../../src/ledger/events.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { noon } from '../../ledger/scenario.ts';
import { dialects } from '../../ledger/test-stores.ts';
import { until } from '../../support/until.ts';
import { ApiWorld } from './api-world.ts';
import { readEventStream } from './event-reader.ts';
import type { Store } from '../../../src/ledger/tx.ts';

const logger = pino({ level: 'silent' });

async function append(store: Store, count: number, campaignId = 'spring'): Promise<void> {
  await store.transaction((tx) =>
    appendEvents(
      tx,
      Array.from({ length: count }, (_, round) => ({ at: noon, campaignId, type: 'round.ended', data: { round } })),
    ),
  );
}

async function allIds({ db }: Store): Promise<number[]> {
  const rows = await db.selectFrom('events').select('seq').orderBy('seq').execute();
  return rows.map(({ seq }) => seq);
}

/** Every request streams from the beginning of the log; counts reads of the log. */
async function serveStreams(store: Store, limits: { streams?: number; beatMs?: number; longestStallMs?: number }) {
  let reads = 0;
  const counted = {
    get db() {
      reads += 1;
      return store.db;
    },
  } as Store;
  const tail = new LogTail(counted, logger, 20);
  const streams = new EventStreams({ store: counted, logger, now: () => noon }, tail, { streams: 1_000, ...limits });
  const { token } = await createToken(store, { name: 'console', role: 'read', lastsMs: null, nowReal: noon });
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    responses.push(response);
    streams.begin(response, token, { campaignId: null, cursor: 0 });
  }).listen(0, '127.0.0.1');
  await until('it listens', () => server.listening);
  onTestFinished(() => {
    streams.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, streams, tail, token, responses, reads: () => reads };
}

test('a client that takes nothing is held in bounded memory, and gets every line in order once it reads on', async () => {
  const store = await openCleanStore('sqlite');
  const { url, responses } = await serveStreams(store, {});
  const reader = await readEventStream(url, {});
  reader.pause();
  const response = responses[0];
  let most = 0;
  await until('the connection takes no more', async () => {
    await append(store, 2_000);
    most = Math.max(most, response?.writableLength ?? 0);
    return response?.writableNeedDrain === true && (await allIds(store)).length >= 60_000;
  });
  expect(most).toBeLessThan(140_000);
  reader.resume();
  const ids = await allIds(store);
  await until('everything has come', () => reader.ids.length >= ids.length);
  expect(reader.ids).toEqual(ids);
  await append(store, 1);
  await until('it is served by the tail again', () => reader.ids.length === ids.length + 1);
});

test('a client that takes nothing for too long is let go', async () => {
  const store = await openCleanStore('sqlite');
  const { url, responses, streams } = await serveStreams(store, { longestStallMs: 100 });
  const reader = await readEventStream(url, {});
  reader.pause();
  await until('it is let go', async () => {
    if (responses[0]?.destroyed !== true) await append(store, 2_000);
    return responses[0]?.destroyed === true && streams.size === 0;
  });
});

const many = 100;

test('of a hundred streams that keep up none reads the log for itself, and each gets all of it', async () => {
  const store = await openCleanStore('sqlite');
  const { url, streams, reads } = await serveStreams(store, {});
  const readers = await Promise.all(Array.from({ length: many }, () => readEventStream(url, {})));
  await until('all are open', () => streams.size === many);
  await append(store, 10);
  await until('all have the first lines', () => readers.every(({ ids }) => ids.length === 10));
  const before = reads();
  const parts = 20;
  for (let part = 0; part < parts; part += 1) await append(store, 10);
  const ids = await allIds(store);
  await until('all have everything', () => readers.every((reader) => reader.ids.length === ids.length));
  for (const reader of readers) expect(reader.ids).toEqual(ids);
  // Only the tail is read, for any number of streams.
  expect(reads() - before).toBeLessThan(many);
  for (const reader of readers) reader.end();
  await until('all have left', () => streams.size === 0);
});

test('nobody listens, nobody looks', async () => {
  const store = await openCleanStore('sqlite');
  let reads = 0;
  const counted = {
    get db() {
      reads += 1;
      return store.db;
    },
  };
  const tail = new LogTail(counted, logger, 5);
  const heard: string[] = [];
  const stop = tail.listen(({ events }) => heard.push(...events.map(({ campaignId }) => campaignId)));
  const other = tail.listen(() => {});
  await append(store, 2);
  await until('it is heard of', () => heard.length === 2);
  expect(heard).toEqual(['spring', 'spring']);
  stop();
  other();
  await until('the last look has ended', async () => {
    const before = reads;
    await new Promise((resolve) => setImmediate(resolve));
    return reads === before;
  });
  const before = reads;
  await append(store, 1);
  expect([reads, heard.length]).toEqual([before, 2]);
});

test.for(dialects)('a client that connects again and again misses nothing while many write: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const world = await ApiWorld.over(store);
  const address = await world.app.listen({ port: 0, host: '127.0.0.1' });
  const headers = { authorization: `Bearer ${world.tokenText('read')}` };
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let count = 0; count < 50; count += 1) await append(store, 1 + ((count + writer) % 4), `c${writer}`);
  });
  const writing = { isDone: false };
  void Promise.all(writers).then(() => (writing.isDone = true));
  const received: number[] = [];
  for (let part = 0; ; part += 1) {
    const last = received.at(-1) ?? 0;
    const reader = await readEventStream(`${address}/api/v1/events/stream?after=0`, { ...headers, 'last-event-id': String(last) });
    const enough = 3 + (part % 5) * 40;
    const complete = async () => writing.isDone && (await allIds(store)).length === received.length + reader.ids.length;
    await until('some have come', async () => reader.ids.length >= enough || (await complete()));
    reader.end();
    received.push(...reader.ids);
    if (writing.isDone && received.length >= (await allIds(store)).length) break;
  }
  expect(received).toEqual(await allIds(store));
});

test('a stream ends when its token is revoked', async () => {
  const store = await openCleanStore('sqlite');
  const { url, streams, token } = await serveStreams(store, { beatMs: 10 });
  const reader = await readEventStream(url, {});
  await until('it is told that it is alive', () => /^id: (\d+)\n\nid: \1\n\n/.test(reader.text()));
  expect(streams.size).toBe(1);
  await revokeToken(store, token.tokenId, noon);
  await until('it has ended', () => reader.response.complete && streams.size === 0);
});

test('beyond the most streams of a server one more is asked to come again later', async () => {
  const world = await ApiWorld.empty({ limits: { streams: 2 } });
  const address = await world.app.listen({ port: 0, host: '127.0.0.1' });
  const headers = { authorization: `Bearer ${world.tokenText('read')}` };
  const open = () => readEventStream(`${address}/api/v1/events/stream`, headers);
  const [first] = [await open(), await open()];
  const refused = await open();
  await until('it is told why', () => refused.text().endsWith('}'));
  expect(refused.response).toMatchObject({ statusCode: 503, headers: { 'retry-after': '10' } });
  expect(JSON.parse(refused.text())).toMatchObject({ code: 'too_many_streams' });
  first.end();
  await until('there is room again', async () => {
    const again = await open();
    return again.response.statusCode === 200;
  });
});

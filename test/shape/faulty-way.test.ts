import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { startFaultyWay, type FaultyWay } from '../support/faulty-way.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A server that sends everything back, and a way to it. */
async function buildWay(): Promise<{ way: FaultyWay; accepted: Set<Socket> }> {
  const accepted = new Set<Socket>();
  const server = createServer((socket) => {
    accepted.add(socket.on('error', () => {}));
    socket.once('close', () => accepted.delete(socket));
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const way = await startFaultyWay(address !== null && typeof address === 'object' ? address.port : 0);
  closers.push(
    () => server.close(),
    () => way.close(),
  );
  return { way, accepted };
}

async function reach(way: FaultyWay) {
  const socket = connect(way.port, '127.0.0.1');
  closers.push(() => socket.destroy());
  const seen = { text: '', end: '' };
  socket.on('data', (chunk) => (seen.text += chunk.toString()));
  socket.on('error', (error: NodeJS.ErrnoException) => (seen.end = error.code ?? ''));
  socket.on('close', () => (seen.end ||= 'closed'));
  const says = (text: string) => expect.poll(() => seen.text).toBe(text);
  socket.write('a');
  return { socket, seen, says };
}

test('a partition keeps bytes and the end of a connection back until it is healed', async () => {
  const { way, accepted } = await buildWay();
  const [old, ended] = [await reach(way), await reach(way)];
  await Promise.all([old.says('a'), ended.says('a')]);
  way.partition();
  old.socket.write('b');
  ended.socket.destroy();
  const late = await reach(way);
  await expect.poll(() => accepted.size).toBe(3);
  expect([old.seen.text, late.seen.text]).toEqual(['a', '']);
  await way.heal();
  await Promise.all([old.says('ab'), late.says('a'), expect.poll(() => accepted.size).toBe(2)]);
});

test('forgotten connections stay silent, and new ones go through', async () => {
  const { way } = await buildWay();
  const old = await reach(way);
  await old.says('a');
  way.forget();
  old.socket.write('b');
  await (await reach(way)).says('a');
  await way.heal();
  expect(old.seen).toEqual({ text: 'a', end: '' });
});

test('connections are cut after so many bytes, reset, or refused, and come through when the way is healed', async () => {
  const { way } = await buildWay();
  way.cutAfter(3);
  const short = await reach(way);
  await short.says('a');
  short.socket.write('bcd');
  await expect.poll(() => short.seen).toEqual({ text: 'a', end: 'closed' });
  await way.heal();
  const second = await reach(way);
  await second.says('a');
  way.reset();
  await expect.poll(() => second.seen.end).toBe('ECONNRESET');
  await way.refuse();
  const third = await reach(way);
  await expect.poll(() => third.seen.end).toBe('ECONNREFUSED');
  await way.heal();
  await (await reach(way)).says('a');
});

import { afterEach, expect, test } from 'vitest';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { drawDisturbances, kinds } from './disturbances.ts';
import { runShape } from './run-shape.ts';
import { judgePlaces, secretsOf } from './scan.ts';
import { mustHaveServer, resolveServerPrograms } from './server-programs.ts';
import { startWay, type Way } from '../world/way.ts';
import { hasDatabases, isSoak, seedsFrom } from '../support/depth.ts';

const onProgress = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Only a hang takes this long beside other tests; alone it ends in two minutes. */
const limitMs = 600_000;

// From empty caches the build takes minutes.
test.runIf(hasDatabases || isSoak)(
  'two Temporal servers, three workers, database and service are killed in turn, and dialling goes on by itself',
  { timeout: 1_500_000 },
  async ({ skip }) => {
    const programs = await resolveServerPrograms(onProgress).catch((error: Error) => {
      if (mustHaveServer) throw error;
      return skip(`Temporal's server is not here and cannot be built: ${error.message}`);
    });
    for (const seed of seedsFrom(6, 1)) {
      const { broken, story } = await runShape({
        seed,
        programs,
        limitMs,
        ...(isSoak ? { rows: 500 } : { rows: 300, disturbances: drawDisturbances(seed, 1) }),
      });
      onProgress([`seed ${seed}`, ...story].join('\n'));
      expect(broken, story.join('\n')).toEqual([]);
    }
  },
);

test('every seed kills each process, and a hundred seeds have every kind of disturbance', () => {
  const drawn = Array.from({ length: 100 }, (_, seed) => drawDisturbances(seed, 3).map(({ kind }) => kind));
  expect(drawDisturbances(7, 3)).toEqual(drawDisturbances(7, 3));
  expect(new Set(drawn.flat())).toEqual(new Set(kinds));
  for (const each of drawn)
    for (const kind of ['sending worker killed', 'Temporal server killed', 'ledger killed', 'service killed'] as const)
      expect(each).toContain(kind);
});

const secrets = secretsOf(
  [
    { id: 'p-1', phone: '+12125550130', name: 'Name83ab', kind: 'callable' },
    { id: 'p-2', phone: '555', name: 'Name84cd', kind: 'bad' },
  ],
  ['sk_planted'],
);

test('every key, number and name of the list is searched for, and no fragment of a number', () => {
  expect(secrets).toEqual(['sk_planted', '12125550130', 'Name83ab', 'Name84cd']);
});

test.each([
  ['a key', 'authorization: sk_planted', 'sk_planted stands in a log'],
  ['a number', '{"to":"+12125550130"}', '12125550130 stands in a log'],
  ['a name in base64', Buffer.from('Name83ab').toString('base64'), 'Name83ab stands in a log'],
])('the scan finds %s', (_, line, said) => {
  expect(judgePlaces([{ name: 'a log', text: `is ready ${line}`, control: 'is ready' }], secrets)).toEqual([said]);
});

test('the scan of a place that lacks its control is no acquittal', () => {
  expect(judgePlaces([{ name: 'a log', text: '', control: 'is ready' }], secrets)).toEqual([
    'The scan of a log does not find its control is ready',
  ]);
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** An echo server, and a path to it. */
async function buildWay(): Promise<{ way: Way; accepted: Set<Socket> }> {
  const accepted = new Set<Socket>();
  const server = createServer((socket) => {
    accepted.add(socket.on('error', () => {}));
    socket.once('close', () => accepted.delete(socket));
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const way = await startWay(address !== null && typeof address === 'object' ? address.port : 0);
  closers.push(
    () => server.close(),
    () => way.close(),
  );
  return { way, accepted };
}

async function reach(way: Way) {
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

test('of a muted way nothing that clients send goes on, and what comes back to them does', async () => {
  const { way, accepted } = await buildWay();
  const { socket, says } = await reach(way);
  await says('a');
  way.mute();
  socket.write('b');
  const [upstream] = accepted;
  for (const text of ['c', 'cd', 'cde', 'cdef']) {
    upstream?.write(text.slice(-1));
    await says(`a${text}`);
  }
  expect(upstream?.bytesRead).toBe(1);
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

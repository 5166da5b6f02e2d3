import { expect, test, afterEach } from 'vitest';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { drawDisturbances, kinds } from './disturbances.ts';
import { judgeShape, type Trial } from './judge-shape.ts';
import { cellsOf, type Listed } from '../world/population.ts';
import { judgeDeeds, type DeedTrial } from './judge-deeds.ts';
import { judgePlaces, secretsOf } from './scan.ts';
import { startFaultyWay, type FaultyWay } from '../support/faulty-way.ts';

const [ann, bob, cy, dee]: Listed[] = [
  { id: 'p-1', phone: '+12125550130', name: 'Person 1', kind: 'callable' },
  { id: 'p-2', phone: '+12125550131', name: 'Person 2', kind: 'callable' },
  { id: 'p-3', phone: '555', name: 'Person 3', kind: 'bad' },
  { id: 'p-4', phone: '+12125550132', name: 'Person 4', kind: 'barred' },
];
const people = [ann, bob, cy, dee].filter((person) => person !== undefined);
const [first, second] = ['+12125550130', '+12125550131'];

type Call = Trial['calls'][number];
const call = (changes: Partial<Call>): Call => ({
  to: first,
  requestId: 'shape/1/1/1',
  batchId: 'b1',
  acceptedAt: 1_000,
  endedAt: 60_000,
  result: 'answered',
  optedOut: false,
  ...changes,
});
const good: Trial = {
  calls: [
    call({}),
    call({ to: second, result: 'busy' }),
    call({
      to: second,
      result: 'no_answer',
      requestId: 'shape/1/2/1',
      batchId: 'b2',
      acceptedAt: 90_000,
      endedAt: null,
    }),
  ],
  people,
  results: ['completed', 'exhausted', 'rejected', 'suppressed'].map((outcome, index) => ({
    row: index + 1,
    cells: cellsOf(people[index] as Listed),
    outcome,
  })),
  maxAttempts: 2,
  maxUncounted: 1,
  mostUnresolved: 0,
};
const calls = (...more: Call[]): Trial => ({ ...good, calls: [...good.calls, ...more] });
const outcome = (row: number, word: string): Trial => ({
  ...good,
  results: good.results.map((line) => (line.row === row ? { ...line, outcome: word } : line)),
});
const late = { acceptedAt: 200_000, requestId: 'shape/1/3/1', batchId: 'b3' };

test('a campaign in which every promise was kept is acquitted', () => {
  expect(judgeShape(good)).toEqual([]);
});

test('a call that the carrier could not place does not count, once between two that do', () => {
  const failed = call({ to: second, result: 'failed', requestId: 'shape/1/3/1', batchId: 'b3' });
  const before = { ...failed, acceptedAt: 500, endedAt: 600 };
  expect(judgeShape(calls(before))).toEqual([]);
  const again = { ...before, acceptedAt: 700, endedAt: 800, requestId: 'shape/1/4/1', batchId: 'b4' };
  expect(judgeShape(calls(before, again))).toEqual([`${second} was called 4 times`]);
});

test.each<[string, Trial, string]>(
  // prettier-ignore
  [
    ['a call after an answer', calls(call(late)), `${first}: called after an answer (shape/1/3/1)`],
    ['a call after an opt-out', { ...good, calls: [call({ optedOut: true }), ...good.calls.slice(1), call(late)],
      results: outcome(1, 'opted_out').results }, `${first}: called after an opt-out (shape/1/3/1)`],
    ['a call during a call', { ...good, calls: [call({}), call({ to: second, result: 'busy', endedAt: 99_000 }), ...good.calls.slice(2)] },
      `${second}: two calls at once (shape/1/2/1)`],
    ['one attempt too many', calls(call({ ...late, to: second })), `${second} was called 3 times`],
    ['a call that was forbidden', calls(call({ ...late, to: '+12125550132' })), '+12125550132 was called and must not be'],
    ['a second request of a batch', calls(call({ ...late, to: '+12125550199', requestId: 'shape/1/1/2' })),
      'Batch shape/1/1 was accepted 2 times: there was a second request'],
    ['a row that is gone', { ...good, results: good.results.slice(0, 3) }, 'The list has 4 rows, the results have 3'],
    ['a row of somebody else', { ...good, results: good.results.toReversed() }, 'Row 1 is not the row of the list'],
    ['a row without an outcome', outcome(1, 'in_progress'), 'Row 1 has no outcome but in_progress'],
    ['an answer that is denied', outcome(1, 'exhausted'), 'Row 1 is exhausted, and its calls say completed'],
    ['an answer that is made up', outcome(2, 'completed'), 'Row 2 is completed, and its calls say exhausted'],
    ['rows that need a hand without cause', outcome(2, 'unresolved'),
      '1 rows are left to an operator, more than the 0 that were under way'],
  ],
)('the judge finds %s', (_, trial, wanted) => {
  expect(judgeShape(trial)).toContain(wanted);
});

test('every seed kills each process, and a hundred seeds have every kind of disturbance', () => {
  const drawn = Array.from({ length: 100 }, (_, seed) => drawDisturbances(seed, 3).map(({ kind }) => kind));
  expect(drawDisturbances(7, 3)).toEqual(drawDisturbances(7, 3));
  expect(new Set(drawn.flat())).toEqual(new Set(kinds));
  for (const each of drawn)
    for (const kind of ['sending worker killed', 'Temporal server killed', 'ledger killed', 'service killed'] as const)
      expect(each).toContain(kind);
});

const barred = '+12125550130';
const withdrawn = '+12125550131';
const spared = '+12125550132';
const called = '+12125550133';
const at = 100_000;
const deed = (to: string, realAcceptedAt: number, requestId = 'shape/1/1/1'): DeedTrial['calls'][number] => ({
  to,
  realAcceptedAt,
  requestId,
});
const goodDeeds: DeedTrial = {
  calls: [deed(called, 1_000), deed(called, at + 500), deed(spared, at + 600)],
  outcomes: new Map([
    [barred, 'suppressed'],
    [withdrawn, 'cancelled'],
    [spared, 'completed'],
    [called, 'exhausted'],
  ]),
  deeds: [
    { act: 'suppress', phone: barred, end: 'done', at },
    { act: 'withdraw', phone: withdrawn, end: 'done', at },
    { act: 'suppress', phone: spared, end: 'refused', at },
    { act: 'withdraw', phone: called, end: 'unheard', at },
  ],
  pauses: [{ from: at, to: at + 4_000 }],
  smaller: { at, size: 1 },
  logged: 4,
  counts: { carriedOut: 3, unheard: 1 },
};
const outcomeOfDeeds = (phone: string, word: string): DeedTrial => ({
  ...goodDeeds,
  outcomes: new Map([...goodDeeds.outcomes, [phone, word]]),
});

test('people who were obeyed find nothing wrong, and one request may have been on its way at a pause', () => {
  expect([...judgeDeeds(goodDeeds)]).toEqual([]);
  const planned = [deed(called, at + 9_000, 'shape/1/3/1'), deed(spared, at + 9_000, 'shape/1/3/1')];
  expect([...judgeDeeds({ ...goodDeeds, calls: [...goodDeeds.calls, ...planned] })]).toEqual([]);
  expect([...judgeDeeds({ ...goodDeeds, logged: 3 })]).toEqual([]);
  // It was called before it could be withdrawn, and stays as it is.
  const early = { ...outcomeOfDeeds(withdrawn, 'completed'), calls: [...goodDeeds.calls, deed(withdrawn, at - 9_000)] };
  expect([...judgeDeeds(early)]).toEqual([]);
});

test.each<[string, DeedTrial, string]>(
  // prettier-ignore
  [
    ['a call to a number that was barred', { ...goodDeeds, calls: [...goodDeeds.calls, deed(barred, at + 31_000)] },
      `${barred} was called after its suppress was answered`],
    ['a number that was barred in vain', outcomeOfDeeds(barred, 'exhausted'), `${barred}: its suppress was answered, and its row is exhausted`],
    ['a row that was withdrawn in vain', outcomeOfDeeds(withdrawn, 'exhausted'),
      `${withdrawn}: its withdraw was answered, and its row is exhausted`],
    ['what was refused, and done', outcomeOfDeeds(spared, 'suppressed'), `${spared}: its suppress was refused, and its row is suppressed`],
    ['dialling in a pause', { ...goodDeeds, calls: [...goodDeeds.calls, deed(called, at + 3_000, 'shape/1/2/1')] },
      '2 requests came while it was paused, and one may have been on its way'],
    ['a batch that is too large, and was not planned before', { ...goodDeeds, pauses: [],
      calls: [...goodDeeds.calls, deed(called, at + 9_000, 'shape/1/4/1'), deed(spared, at + 9_000, 'shape/1/4/1')] },
      'shape/1/4/1 has 2 calls, after batches of 1 were asked for'],
    ['a change that was made twice', { ...goodDeeds, logged: 5 }, 'The log has 5 changes of people, who were told of 3 and know nothing of 1'],
    ['a change that was answered and not made', { ...goodDeeds, logged: 2 },
      'The log has 2 changes of people, who were told of 3 and know nothing of 1'],
  ],
)('the judge of acts finds %s', (_, trial, wanted) => {
  expect([...judgeDeeds(trial)]).toContain(wanted);
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

import { createConnection } from 'node:net';
import { fetch } from 'undici';
import { expect, onTestFinished } from 'vitest';
import { ServiceEvents } from '../../../src/sandbox/core/clock/service-events.ts';
import { noon, plainNumbers, testWith, type Json, type TestSandbox } from '../harness.ts';

const onHold = { clock: 'manual', epochMs: noon } as const;
const test = testWith(onHold);

interface Told {
  id: number;
  type: string;
  data: Json;
}

async function follow(sandbox: TestSandbox, init: { query?: string; headers?: Record<string, string> } = {}): Promise<Told[]> {
  const told: Told[] = [];
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const response = await fetch(`${sandbox.url}/_sandbox/events${init.query ?? ''}`, {
    headers: init.headers ?? {},
    signal: stopping.signal,
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const read = async (): Promise<void> => {
    let text = '';
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece as Uint8Array).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
        if ('event' in fields) told.push({ id: Number(fields.id), type: fields.event, data: JSON.parse(fields.data) });
      }
    }
  };
  read().catch(() => {});
  return told;
}

function calls(told: Told[]): string[] {
  return told.filter(({ type }) => type === 'call').map(({ data }) => `${data.change} ${data.result} ${data.at}`);
}

test('the life of a call is told as it happens, each step at its instant', async ({ sandbox }) => {
  const told = await follow(sandbox);
  await sandbox.batch(['+12125550101']);
  await sandbox.advance(60_000);
  await expect.poll(() => calls(told).length).toBe(4);
  const ended = new Date(sandbox.calls()[0]?.endedAt ?? 0).toISOString();
  expect(calls(told)).toEqual([
    'queued null 2030-01-15T12:00:00.000Z',
    'dialed null 2030-01-15T12:00:00.000Z',
    `ended busy ${ended}`,
    `analysed busy ${ended}`,
  ]);
  expect(told.find(({ type }) => type === 'batch')?.data).toMatchObject({ change: 'accepted', agent_id: 'agent_reminders' });
});

test('requests, changes of agents, numbers and trunks, faults, clock and state are told', async ({ sandbox }) => {
  const told = await follow(sandbox);
  await sandbox.post('/_sandbox/faults', { id: 'lost', operation: 14, effect: { type: 'delete_agent', when: 'after' } });
  const { body: agent } = await sandbox.post('/v1/convai/agents', { name: 'New' });
  await sandbox.patch(`/v1/convai/agents/${agent.agent_id}`, { conversation_config: { agent: { first_message: 'Hi.' } } });
  await sandbox.post('/_sandbox/numbers/pn_main/unverify');
  await sandbox.batch(['+12125550101'], { agent_id: 'agent_survey' });
  await sandbox.put('/_sandbox/clock', { mode: 'manual' });
  await sandbox.post('/_sandbox/reset');
  await expect.poll(() => told.some(({ type }) => type === 'state')).toBe(true);
  const of = (wanted: string): Json[] => told.filter(({ type }) => type === wanted).map(({ data }) => data);
  expect(of('agent').map(({ change, agent_id: id }) => [change, id])).toEqual([
    ['created', agent.agent_id],
    ['changed', agent.agent_id],
    ['deleted', 'agent_survey'],
  ]);
  expect(of('number')).toMatchObject([
    { change: 'changed', phone_number_id: 'pn_main', verified: false },
    { change: 'changed', phone_number_id: 'pn_second', agent_id: null },
  ]);
  expect(of('fault')).toMatchObject([{ rule_id: 'lost', operation: 'batch_calls' }]);
  expect(of('request').map(({ operation, status }) => [operation, status])).toEqual([
    ['create_agent', 200],
    ['update_agent', 200],
    ['batch_calls', 200],
  ]);
  expect(of('clock')).toMatchObject([{ speed: 0, now: noon }]);
  expect(of('state')).toMatchObject([{ change: 'reset' }]);
  expect(told.map(({ id }) => id)).toEqual(told.map((_, index) => (told[0]?.id ?? 0) + index));
});

test('a request that a fault cut off, or that was refused, is told too', async ({ sandbox }) => {
  const told = await follow(sandbox);
  await sandbox.post('/_sandbox/faults', { operation: 2, nth: 1, effect: { type: 'reset', when: 'before' } });
  await sandbox.get('/v1/convai/agents').catch(() => {});
  await sandbox.request('GET', '/v1/convai/agents', undefined, { headers: { 'x-api-key': 'wrong' } });
  const requests = (): Json[] => told.filter(({ type }) => type === 'request').map(({ data }) => data);
  await expect.poll(() => requests().length).toBe(2);
  expect(requests()).toMatchObject([
    { ending: 'aborted', faults: ['fault_1'] },
    { ending: 'sent', status: 401 },
  ]);
});

test('a reader that comes back goes on where it was', async ({ sandbox }) => {
  const first = await follow(sandbox);
  await sandbox.batch(['+12125550101']);
  await expect.poll(() => first.filter(({ type }) => type === 'request').length).toBe(1);
  await sandbox.advance(60_000);
  await expect.poll(() => calls(first).length).toBe(4);
  await expect.poll(() => first.some(({ type }) => type === 'clock')).toBe(true);
  const seen = first[2];
  const rest = first.filter(({ id }) => id > (seen?.id ?? 0));
  const byHeader = await follow(sandbox, { headers: { 'last-event-id': String(seen?.id) } });
  const byQuery = await follow(sandbox, { query: `?since=${seen?.id}` });
  for (const again of [byHeader, byQuery]) {
    await expect.poll(() => again.length).toBe(rest.length);
    expect(again).toEqual(rest);
  }
  const fresh = await follow(sandbox);
  await sandbox.batch(['+12125550102']);
  await expect.poll(() => calls(fresh).length).toBe(2);
});

test('what is kept no more is said to be missed', async () => {
  const events = new ServiceEvents();
  for (let nth = 0; nth < 12_000; nth += 1) events.emit('call', nth, { nth });
  const { events: kept, missed } = events.since(100);
  expect([kept.length, missed, kept[0]?.data['nth'], kept.at(-1)?.id]).toEqual([5_000, 6_900, 7_000, 12_000]);
  expect(events.since(12_000)).toEqual({ events: [], missed: 0 });
});

test('a reader that does not read is dropped, and costs the others nothing', async ({ sandbox }) => {
  const reading = await follow(sandbox);
  const socket = createConnection({ host: '127.0.0.1', port: sandbox.port });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.write('GET /_sandbox/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
  const listeners = async (): Promise<number> => (await sandbox.read('/_sandbox/info')).counts.listeners;
  await expect.poll(listeners).toBe(2);
  // Never read from: what the kernel does not take piles up in the sandbox.
  socket.pause();
  const numbers = plainNumbers(1_000);
  let batches = 0;
  while ((await listeners()) === 2 && batches < 40) {
    batches += 1;
    await sandbox.batch(numbers);
  }
  expect(await listeners()).toBe(1);
  await expect.poll(() => calls(reading).length).toBeGreaterThan(1_000);
});

test('a reader that leaves is forgotten', async ({ sandbox }) => {
  const stopping = new AbortController();
  const response = await fetch(`${sandbox.url}/_sandbox/events`, { signal: stopping.signal });
  const listeners = async (): Promise<number> => (await sandbox.read('/_sandbox/info')).counts.listeners;
  expect(await listeners()).toBe(1);
  stopping.abort();
  await response.text().catch(() => {});
  await expect.poll(listeners).toBe(0);
});

import { once } from 'node:events';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { noon, plainNumbers, startTestSandbox, testWith, type Json, type TestSandbox } from '../harness.ts';
import { startReceiver } from '../webhooks/receiver.ts';

const onHold = { clock: 'manual', epochMs: noon } as const;
const test = testWith(onHold);
const quiet = {
  calls_queued: 0,
  calls_dialing: 0,
  calls_in_progress: 0,
  calls_processing: 0,
  sockets: 0,
  webhook_deliveries: 0,
  batch_requests: 0,
  awaited_answers: 0,
};

async function untilIdle(sandbox: TestSandbox): Promise<Json> {
  return (await sandbox.post('/_sandbox/clock/advance', { until: 'idle' })).body;
}

test('until idle goes to the last thing of the last call, and no further', async () => {
  const sandbox = await startTestSandbox({ ...onHold, concurrency: 3 });
  expect(await untilIdle(sandbox)).toMatchObject({ idle: true, advanced_ms: 0, now_ms: noon, under_way: quiet });
  await sandbox.batch(plainNumbers(10));
  expect(await sandbox.read('/_sandbox/idle')).toMatchObject({
    idle: false,
    under_way: { ...quiet, calls_queued: 7, calls_dialing: 3 },
    next_due_at: expect.stringContaining('2030-01-15T12:0'),
    now: '2030-01-15T12:00:00.000Z',
  });
  const body = await untilIdle(sandbox);
  expect(body).toMatchObject({ idle: true, under_way: quiet, next_due_at: null, bound_reached: false });
  expect(sandbox.calls().map(({ state }) => state)).not.toContain('processing');
  const twin = await startTestSandbox({ ...onHold, concurrency: 3 });
  await twin.batch(plainNumbers(10));
  await twin.post('/_sandbox/clock/advance', { ms: body.advanced_ms - 1 });
  expect((await twin.get('/_sandbox/idle')).body).toMatchObject({ idle: false, next_due_at: body.now });
});

test('what would have been due of a call that took another course is not waited for', async ({ sandbox }) => {
  await sandbox.batch(['+12125550109']);
  const [call] = sandbox.calls();
  const before = (await sandbox.read('/_sandbox/idle')).next_due_at as string;
  await sandbox.post(`/_sandbox/calls/${call?.callId}/course`, { result: 'failed' });
  const body = await untilIdle(sandbox);
  expect(body).toMatchObject({ idle: true, under_way: quiet });
  expect(body.now < before).toBe(true);
});

test('an analysis that is scripted is waited for, but not one that never comes', async ({ sandbox }) => {
  const analyses = ['never', 90].map((after) => ({ after_minutes: after, collected: { appointment: 'confirmed' } }));
  const numbers = plainNumbers(2);
  const people = numbers.map((number, index) => ({ number, analysis: analyses[index] }));
  expect((await sandbox.put('/_sandbox/world', { people })).status).toBe(200);
  await sandbox.batch(numbers);
  const over = { idle: true, under_way: quiet, next_due_at: null, bound_reached: false };
  expect(await untilIdle(sandbox)).toMatchObject({ ...over, now_ms: (sandbox.calls()[1]?.endedAt ?? 0) + 5_400_000 });
  const again = await startTestSandbox(onHold);
  await again.post('/_sandbox/import', await sandbox.read('/_sandbox/export'));
  expect(await untilIdle(again)).toMatchObject({ ...over, advanced_ms: 0 });
  await again.advance(7 * 86_400_000);
  const record = await again.read(`/v1/convai/conversations/${again.calls()[0]?.conversationId}`);
  expect(record).toMatchObject({ status: 'processing', analysis: null, collected_data: {} });
  expect(again.calls().map(({ state }) => state)).toEqual(['processing', 'done']);
});

test('a batch for later is waited for', async ({ sandbox }) => {
  await sandbox.submit(['+12125550150'], { scheduled_time_unix: noon / 1000 + 86_400 });
  const body = await untilIdle(sandbox);
  expect(body).toMatchObject({ idle: true, bound: '2030-02-14T12:00:00.000Z' });
  expect(body.advanced_ms).toBeGreaterThan(86_400_000);
  expect(sandbox.calls()[0]?.dialedAt).toBe(noon + 86_400_000);
});

test('what is due after thirty days is not gone for, and the bound is told', async ({ sandbox }) => {
  await sandbox.submit(['+12125550150'], { scheduled_time_unix: noon / 1000 + 31 * 86_400 });
  expect(await untilIdle(sandbox)).toMatchObject({
    idle: false,
    bound: '2030-02-14T12:00:00.000Z',
    bound_reached: true,
    next_due_at: '2030-02-15T12:00:00.000Z',
    under_way: { ...quiet, calls_queued: 1 },
    now_ms: noon,
  });
});

test('a delivery that is to be tried again is waited for', async () => {
  const { url, received } = await startReceiver(500, 503);
  const webhooks = [{ url, secret: 'a-secret-of-the-test', retries: true }];
  const sandbox = await startTestSandbox({ ...onHold, webhooks });
  await sandbox.batch(['+12125550101']);
  expect(await untilIdle(sandbox)).toMatchObject({ idle: true, under_way: quiet });
  expect(received).toHaveLength(3);
});

test('a conversation over a socket waits for its client, not for time', async ({ sandbox }) => {
  const path = '/v1/convai/conversation/get-signed-url?agent_id=agent_reminders';
  const socket = new WebSocket((await sandbox.read(path)).signed_url as string);
  await once(socket, 'open');
  const body = await sandbox.read('/_sandbox/idle');
  expect(body).toMatchObject({ idle: false, under_way: { ...quiet, sockets: 1 } });
  socket.close();
  await once(socket, 'close');
  expect(await sandbox.read('/_sandbox/idle?wait=30')).toMatchObject({ idle: true, under_way: quiet });
  expect(await untilIdle(sandbox)).toMatchObject({ idle: true });
});

test('a batch that is held at a gate is under way, and no moving of the clock ends it', async ({ sandbox }) => {
  await sandbox.post('/_sandbox/gates', { point: 'batch_received' });
  const held = sandbox.batch(['+12125550150']);
  await sandbox.get('/_sandbox/gates/wait?point=batch_received');
  expect(await untilIdle(sandbox)).toMatchObject({
    idle: false,
    bound_reached: false,
    next_due_at: null,
    under_way: { ...quiet, batch_requests: 1 },
  });
  sandbox.gates.release();
  await held;
  expect(await untilIdle(sandbox)).toMatchObject({ idle: true });
});

test('idle?wait= answers as soon as the last call is over on a running clock', async ({ sandbox }) => {
  await sandbox.batch(plainNumbers(3));
  expect((await sandbox.read('/_sandbox/idle')).idle).toBe(false);
  const waited = sandbox.read('/_sandbox/idle?wait=60');
  await sandbox.put('/_sandbox/clock', { mode: 'scaled', speed: 1_000 });
  expect(await waited).toMatchObject({ idle: true, under_way: quiet });
});

test('idle?wait= gives up after its real seconds and tells what is under way', async ({ sandbox }) => {
  await sandbox.batch(['+12125550150']);
  expect(await sandbox.read('/_sandbox/idle?wait=0.05')).toMatchObject({ idle: false, under_way: { ...quiet, calls_dialing: 1 } });
  for (const wait of ['301', '-1', 'long']) expect([wait, (await sandbox.get(`/_sandbox/idle?wait=${wait}`)).status]).toEqual([wait, 422]);
});

test('until takes a time or the word idle, and says so', async ({ sandbox }) => {
  const { status, body } = await sandbox.post('/_sandbox/clock/advance', { until: 'quiet' });
  expect([status, body.detail[0].msg]).toEqual([422, 'Must be a time such as "2030-01-15T12:00:00Z", or "idle".']);
  const both = await sandbox.post('/_sandbox/clock/advance', { until: 'idle', seconds: 1 });
  expect(both.status).toBe(422);
});

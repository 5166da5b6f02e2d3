import { createHmac } from 'node:crypto';
import { expect, vi } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { noon, startTestSandbox, test as sandboxTest, type Json, type TestSandbox } from '../harness.ts';
import { patienceMs } from '../../support/until.ts';
import { startReceiver, type Received } from './receiver.ts';

const test = sandboxTest.extend('receiver', () => startReceiver());

const hour = 3_600_000;
const day = 24 * hour;
const secret = 'whsec_of_the_test';
const list = '/v1/convai/conversations';

async function subscribe(sandbox: TestSandbox, url: string, more: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await sandbox.post('/_sandbox/webhooks', { url, secret, ...more });
  expect([status, body]).toEqual([200, expect.objectContaining({ url })]);
  return body.webhook_id;
}

async function deliveries(sandbox: TestSandbox, id: string): Promise<Json[]> {
  return (await sandbox.read(`/_sandbox/webhooks/${id}/deliveries`)).deliveries;
}

/** Until nothing is on its way before a later hour. */
async function settled(sandbox: TestSandbox, id: string): Promise<Json[]> {
  return vi.waitFor(async () => {
    const all = await deliveries(sandbox, id);
    const now = sandbox.clock.now();
    for (const { state, next_attempt_at: next } of all) if (state === 'pending') expect(Date.parse(next ?? 0)).toBeGreaterThan(now);
    return all;
  }, patienceMs);
}

async function call(sandbox: TestSandbox, ...numbers: string[]): Promise<void> {
  await sandbox.batch(numbers);
  sandbox.clock.advance(hour);
  sandbox.calls();
}

/** Over a few seconds later, so that a retry is still to come. */
async function busyCall(sandbox: TestSandbox): Promise<void> {
  await sandbox.batch(['+12125550101']);
  sandbox.clock.advance(10_000);
  sandbox.calls();
}

function verify({ headers, raw }: Received, key = secret): boolean {
  const [, time = '', digest] = /^t=(\d+),v0=([0-9a-f]{64})$/.exec(String(headers['svc-signature'])) ?? [];
  return digest === createHmac('sha256', key).update(`${time}.${raw}`).digest('hex');
}

test('a finished call is told with its record and its recording, signed over the bytes that are sent', async ({ sandbox, receiver }) => {
  const id = await subscribe(sandbox, receiver.url);
  await call(sandbox, '+12125550100');
  expect((await settled(sandbox, id)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  const [conversation] = (await sandbox.read(list)).conversations;
  const record = await sandbox.read(`${list}/${conversation.conversation_id}`);
  const byType = Object.fromEntries(receiver.received.map(({ body }) => [body.type, body]));
  const { post_call_transcription: transcription, post_call_audio: audio } = byType;
  expect({ ...transcription.data, audio: null }).toEqual({ ...record, audio: null });
  expect(new URL(transcription.data.audio).origin).toBe(sandbox.url);
  expect(transcription.event_timestamp).toBeGreaterThan(noon / 1000);
  const recording = await fetch(record.audio);
  expect(Buffer.from(audio.data.full_audio, 'base64').equals(Buffer.from(await recording.arrayBuffer()))).toBe(true);
  expect(audio.data).toMatchObject({ conversation_id: record.conversation_id, audio_format: 'wav' });
  for (const received of receiver.received) {
    expect(verify(received)).toBe(true);
    expect(verify(received, 'another secret')).toBe(false);
    expect(received.headers['content-type']).toBe('application/json');
  }
});

test('whoever does not answer is told as a failure with its reason', async ({ sandbox, receiver }) => {
  const id = await subscribe(sandbox, receiver.url);
  await call(sandbox, '+12125550101', '+12125550102', '+12125550104');
  await settled(sandbox, id);
  const told = receiver.received.map(({ body }): string[] => [body.type, body.data.metadata.body.to, body.data.failure_reason]);
  expect(told.toSorted(([, left = ''], [, right = '']) => left.localeCompare(right))).toEqual([
    ['call_initiation_failure', '+12125550101', 'busy'],
    ['call_initiation_failure', '+12125550102', 'no-answer'],
    ['call_initiation_failure', '+12125550104', 'unknown'],
  ]);
  expect(receiver.received[0]?.body.data).toMatchObject({
    agent_id: 'agent_reminders',
    conversation_id: expect.stringMatching(/^conv_/),
    metadata: { type: 'telephony', body: { from: '+12125550199', direction: 'outbound' } },
  });
});

test('an event about a submitted batch names the recipient as it was submitted', async ({ sandbox, receiver }) => {
  const id = await subscribe(sandbox, receiver.url);
  const recipients = ['+12125550100', '+12125550101'].map((phone_number, nth) => ({ id: `row ${nth}`, phone_number }));
  await sandbox.submit(recipients);
  sandbox.clock.advance(3_600_000);
  await settled(sandbox, id);
  const told = receiver.received.map(({ body: { type, data } }): string[] => [
    type,
    (data.metadata?.body ?? data.metadata?.batch_call)?.batch_call_recipient_id,
  ]);
  expect(Object.fromEntries(told)).toEqual({
    call_initiation_failure: 'row 1',
    post_call_transcription: 'row 0',
    post_call_audio: undefined,
  });
});

test('only the events that are wanted come, and nothing at all without a webhook', async ({ sandbox, receiver }) => {
  await call(sandbox, '+12125550100', '+12125550101');
  const id = await subscribe(sandbox, receiver.url, { events: ['post_call_transcription'] });
  await call(sandbox, '+12125550100', '+12125550101');
  await settled(sandbox, id);
  expect(receiver.received.map(({ body }) => body.type)).toEqual(['post_call_transcription']);
});

test('webhooks given at start are there again after a reset, others are gone', async ({ receiver }) => {
  const sandbox = await startTestSandbox({ webhooks: [{ url: receiver.url, secret }] });
  await subscribe(sandbox, receiver.url);
  sandbox.reset();
  const { webhooks } = await sandbox.read('/_sandbox/webhooks');
  expect(webhooks).toHaveLength(1);
  await call(sandbox, '+12125550101');
  await settled(sandbox, webhooks[0].webhook_id);
  expect(receiver.received).toHaveLength(1);
});

test('the secret goes in and never comes out', async ({ sandbox, receiver }) => {
  const made = await sandbox.post('/_sandbox/webhooks', { url: receiver.url, secret });
  const id = made.body.webhook_id;
  const short = await sandbox.post('/_sandbox/webhooks', { url: receiver.url, secret: 'shorty' });
  await call(sandbox, '+12125550101');
  const seen = [
    made,
    short,
    await settled(sandbox, id),
    await sandbox.get('/_sandbox/webhooks'),
    await sandbox.get(`/_sandbox/webhooks/${id}`),
    sandbox.journal(),
  ];
  expect(short.status).toBe(422);
  for (const text of [secret, 'shorty']) expect(JSON.stringify(seen)).not.toContain(text);
  expect(receiver.received.map((received) => verify(received))).toEqual([true]);
});

test('only this machine is delivered to, unless a host was allowed in as many words', async () => {
  const sandbox = await startTestSandbox({ allowOutbound: ['hooks.test', 'other.test:8080'] });
  const refused = [
    'http://192.0.2.1/hook',
    'http://127.0.0.1.hooks.test/',
    'http://localhost.hooks.test/',
    'http://[::2]/',
    'http://x.hooks.test/',
    'http://other.test/',
    'file:///etc/hosts',
    'http://user:word@127.0.0.1/',
    'not an address',
  ];
  for (const url of refused) {
    const { status, body } = await sandbox.post('/_sandbox/webhooks', { url, secret });
    expect([url, status, body.detail[0]?.loc]).toEqual([url, 422, ['body', 'url']]);
  }
  const spec = await startTestSandbox({ dialect: 'spec' });
  const made = await spec.post('/_sandbox/webhooks', { url: 'http://127.0.0.1:1/', secret });
  expect([made.status, made.body.detail.code]).toEqual([409, 'not_in_dialect']);
  for (const url of ['http://127.0.0.1:1/', 'http://[::1]:1/', 'http://localhost:1/', 'http://hooks.test/', 'http://other.test:8080/'])
    await subscribe(sandbox, url);
});

test.each([
  [{ webhooks: [{ url: 'http://192.0.2.1/', secret }] }, /webhooks\[0\]\.url.*allowOutbound/],
  [{ webhooks: [{ url: 'http://127.0.0.1/', secret: 'short' }] }, /webhooks\[0\].*secret.*8 characters/],
  [{ webhooks: [{ url: 'http://127.0.0.1/', secret }], dialect: 'spec' }, /extended dialect/],
] as const)('a webhook that cannot be used keeps the sandbox from starting (%#)', async (options, message) => {
  const starting = startTestSandbox(options as unknown as SandboxOptions);
  await expect(starting).rejects.toThrow(message);
  await expect(starting).rejects.not.toThrow('short');
});

test('without retries a refusal is the end', async ({ sandbox, receiver }) => {
  receiver.answer = () => 503;
  const id = await subscribe(sandbox, receiver.url);
  await call(sandbox, '+12125550101');
  expect(await settled(sandbox, id)).toMatchObject([{ state: 'failed', reason: 'The answer was 503; it must be 200.' }]);
  sandbox.clock.advance(day);
  expect((await settled(sandbox, id))[0].attempts).toHaveLength(1);
});

test('with retries there are five attempts, at their times of the service, signed anew', async ({ sandbox, receiver }) => {
  receiver.answer = () => 503;
  const id = await subscribe(sandbox, receiver.url, { retries: true });
  await busyCall(sandbox);
  for (const attempts of [1, 2, 3, 4, 5]) {
    const [delivery] = await settled(sandbox, id);
    expect(delivery.attempts).toHaveLength(attempts);
    const waitMs = Date.parse(delivery.next_attempt_at) - sandbox.clock.now();
    sandbox.clock.advance(attempts === 5 ? hour : waitMs);
  }
  const [delivery] = await settled(sandbox, id);
  expect(delivery).toMatchObject({ state: 'failed', next_attempt_at: null });
  const offsets = delivery.attempts.map(({ at }: Json) => Date.parse(at) - Date.parse(delivery.event_time));
  expect(offsets).toEqual([0, 30_000, 120_000, 480_000, 1_800_000]);
  expect(new Set(receiver.received.map(({ raw }) => raw)).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers['svc-signature'])).size).toBe(5);
  expect(receiver.received.every((received) => verify(received))).toBe(true);
});

test.for<[number, boolean]>([
  [500, true],
  [429, true],
  [408, true],
  [400, false],
  [404, false],
  [204, false],
  [302, false],
])('an answer %i is tried again: %s', async ([status, again], { sandbox, receiver }) => {
  receiver.answer = () => status;
  const id = await subscribe(sandbox, receiver.url, { retries: true });
  await busyCall(sandbox);
  await settled(sandbox, id);
  receiver.answer = () => 200;
  sandbox.clock.advance(hour);
  const [delivery] = await settled(sandbox, id);
  expect([delivery.state, receiver.received.length]).toEqual(again ? ['delivered', 2] : ['failed', 1]);
});

test('a receiver that is not there is named, and not tried again', async ({ sandbox }) => {
  const id = await subscribe(sandbox, 'http://127.0.0.1:1/', { retries: true });
  await call(sandbox, '+12125550101');
  expect(await settled(sandbox, id)).toMatchObject([{ state: 'failed', reason: 'ECONNREFUSED' }]);
});

test('everything comes twice when that is asked for', async ({ sandbox, receiver }) => {
  const id = await subscribe(sandbox, receiver.url, { duplicates: true });
  await call(sandbox, '+12125550101');
  expect((await settled(sandbox, id)).map(({ duplicate }) => duplicate)).toEqual([false, true]);
  expect(receiver.received).toHaveLength(2);
  expect(receiver.received[0]?.raw).toBe(receiver.received[1]?.raw);
});

test('a conversation deleted before a retry is not delivered any more', async ({ sandbox, receiver }) => {
  receiver.answer = () => 500;
  const id = await subscribe(sandbox, receiver.url, { retries: true, events: ['post_call_transcription'] });
  await sandbox.batch(['+12125550100']);
  while (sandbox.calls()[0]?.state !== 'done') sandbox.clock.advance(1_000);
  const [{ conversation_id: conversation }] = await settled(sandbox, id);
  await sandbox.delete(`${list}/${conversation}`);
  sandbox.clock.advance(hour);
  expect(await settled(sandbox, id)).toMatchObject([{ state: 'dropped', reason: 'The conversation was deleted.' }]);
  expect(receiver.received).toHaveLength(1);
});

test('a webhook that is removed hears nothing more', async ({ sandbox, receiver }) => {
  receiver.answer = () => 500;
  const id = await subscribe(sandbox, receiver.url, { retries: true });
  await busyCall(sandbox);
  await settled(sandbox, id);
  expect((await sandbox.delete(`/_sandbox/webhooks/${id}`)).status).toBe(200);
  await busyCall(sandbox);
  const kept = await subscribe(sandbox, receiver.url, { events: ['call_initiation_failure'] });
  await busyCall(sandbox);
  await settled(sandbox, kept);
  expect(receiver.received).toHaveLength(2);
  expect((await sandbox.get(`/_sandbox/webhooks/${id}`)).status).toBe(404);
});

test('what is on its way when the state is replaced is dropped, and the webhook goes on', async ({ receiver }) => {
  receiver.answer = () => 500;
  const webhooks = [{ url: receiver.url, secret, retries: true }];
  const sandbox = await startTestSandbox({ clock: 'manual', epochMs: noon, webhooks });
  const { body: snapshot } = await sandbox.post('/_sandbox/snapshots');
  const [{ webhook_id: id }] = (await sandbox.read('/_sandbox/webhooks')).webhooks;
  const callAgain = async (): Promise<void> => {
    await sandbox.batch(['+12125550101']);
    await sandbox.advance(10_000);
  };
  await callAgain();
  expect(await sandbox.read(`/_sandbox/webhooks/${id}`)).toMatchObject({ pending_retries: 1 });
  await sandbox.post(`/_sandbox/snapshots/${snapshot.snapshot_id}/restore`);
  expect(await sandbox.read(`/_sandbox/webhooks/${id}`)).toMatchObject({ pending_retries: 0 });
  expect(await deliveries(sandbox, id)).toMatchObject([{ state: 'dropped', reason: 'The state was replaced.' }]);
  receiver.answer = () => 200;
  await callAgain();
  await expect.poll(async () => (await deliveries(sandbox, id)).map(({ state }) => state)).toEqual(['dropped', 'delivered']);
});

test('closing the sandbox cuts off a delivery that is never answered', async ({ sandbox, receiver }) => {
  receiver.answer = () => new Promise(() => undefined);
  await subscribe(sandbox, receiver.url);
  await call(sandbox, '+12125550101');
  await expect.poll(() => receiver.received.length).toBe(1);
  await sandbox.close();
  // Well before the delivery would give up by itself.
  await expect.poll(() => receiver.cutOff).toBe(1);
});

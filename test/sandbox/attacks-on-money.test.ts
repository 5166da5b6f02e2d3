import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { noon, plainNumbers, startTestSandbox, type TestSandbox } from './harness.ts';

// Whatever makes a caller dial a person twice, produced exactly, and told by truth, journal and conduct report. That a campaign survives
// it: test/e2e/kills.test.ts (a, d), test/e2e/bad-world.test.ts (e, as a service that is away) and the mixes of
// test/activities/mixes/draw-mix.ts (a, b, c, h).

const numbers = plainNumbers(3);

/** A caller who repeats what got no good answer, as a client that retries any POST does. */
async function naiveBatch(sandbox: TestSandbox, requestId?: string): Promise<number> {
  for (let sent = 1; ; sent += 1) {
    const status = await sandbox.batch(numbers, {}, requestId).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return sent;
  }
}

function doubleDials(sandbox: TestSandbox): number {
  const check = sandbox.conduct().checks.find(({ name }) => name === 'double_dial');
  return check?.violationCount ?? -1;
}

function dialled(sandbox: TestSandbox): Record<string, number> {
  const counts = numbers.map((number) => [number, sandbox.calls().filter(({ to }) => to === number).length]);
  return Object.fromEntries(counts);
}

const once = Object.fromEntries(numbers.map((number) => [number, 1]));
const twice = Object.fromEntries(numbers.map((number) => [number, 2]));

test.each([
  ['reset', { type: 'reset', when: 'after' }],
  ['never sent', { type: 'drop', when: 'after' }],
  ['cut off', { type: 'truncate' }],
] as const)('(a) a response that is lost (%s): the calls are placed, and who repeats dials twice', async (how, effect) => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 1, effect }] });
  const path = '/v1/convai/phone-numbers/batch-calls';
  const calls = numbers.map((number) => ({ to_phone_number: number }));
  const body = { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls };
  const patience = new AbortController();
  const first = sandbox.request('POST', path, body, { signal: patience.signal }).then(
    (answer) => answer.body?.batch_id as string | undefined,
    () => undefined,
  );
  await expect.poll(() => sandbox.calls().length).toBe(numbers.length);
  if (how === 'never sent') patience.abort();
  expect(await first).toBeUndefined();
  expect(dialled(sandbox)).toEqual(once);
  expect(sandbox.journal()[0]).toMatchObject({ callsRequested: 3, callsAccepted: 3 });
  expect(doubleDials(sandbox)).toBe(0);
  await naiveBatch(sandbox);
  expect(dialled(sandbox)).toEqual(twice);
  expect(doubleDials(sandbox)).toBeGreaterThan(0);
});

test('(b) 500 after the batch was accepted: the calls are placed, and who repeats dials twice', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 1, effect: { type: 'error', when: 'after' } }] });
  expect(await naiveBatch(sandbox)).toBe(2);
  expect(dialled(sandbox)).toEqual(twice);
  expect(sandbox.journal().map(({ status, callsAccepted }) => [status, callsAccepted])).toEqual([
    [500, 3],
    [200, 3],
  ]);
  expect(doubleDials(sandbox)).toBeGreaterThan(0);
});

test('(c) 429 in the middle of a campaign: nothing of that batch is placed, and who waits and repeats dials once', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 2, effect: { type: 'rate_limited', seconds: 3 } }] });
  const statuses: number[] = [];
  for (const number of numbers) {
    const answer = await sandbox.batch([number]);
    statuses.push(answer.status);
    if (answer.status !== 429) continue;
    expect(sandbox.calls().map(({ to }) => to)).not.toContain(number);
    sandbox.clock.advance(Number(answer.headers.get('retry-after')) * 1000);
    statuses.push((await sandbox.batch([number])).status);
  }
  expect(statuses).toEqual([200, 429, 200, 200]);
  expect(dialled(sandbox)).toEqual(once);
  expect(doubleDials(sandbox)).toBe(0);
});

test('(d) a caller that is killed between acceptance and its own record: the calls are placed and can be found by its request id', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.request('POST', '/_sandbox/gates', { point: 'batch_work_done' });
  const killed = new AbortController();
  const path = '/v1/convai/phone-numbers/batch-calls';
  const calls = numbers.map((number) => ({ to_phone_number: number }));
  const pending = sandbox
    .request(
      'POST',
      path,
      { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls },
      { headers: { 'x-request-id': 'batch-7/1' }, signal: killed.signal },
    )
    .catch(() => 'nobody is there to be told');
  await sandbox.get('/_sandbox/gates/wait?point=batch_work_done');
  killed.abort();
  expect(await pending).toBe('nobody is there to be told');
  await sandbox.request('POST', '/_sandbox/gates/release', {});
  await expect.poll(() => sandbox.journal()[0]?.ending).toBe('aborted');
  expect(sandbox.calls().map(({ to, requestId }) => [to, requestId])).toEqual(numbers.map((number) => [number, 'batch-7/1']));
  sandbox.clock.advance(3_600_000);
  const { conversations } = (await sandbox.get('/v1/convai/conversations')).body;
  expect(conversations).toHaveLength(numbers.length);
});

test('(e) a sandbox that is restarted dials nobody again, and goes on with those who wait', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-restart-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const options = { data: join(folder, 'sandbox.db'), clock: 'manual', epochMs: noon, concurrency: 1 } as const;
  const before = await startTestSandbox(options);
  await before.batch(numbers);
  const placed = before.calls().map(({ callId, state }) => [callId, state]);
  expect(placed.map(([, state]) => state).filter((state) => state === 'queued')).toHaveLength(2);
  await before.close();
  const after = await startTestSandbox(options);
  expect(after.calls().map(({ callId, state }) => [callId, state])).toEqual(placed);
  await after.advance(24 * 3_600_000);
  expect(after.calls().map(({ callId }) => callId)).toEqual(placed.map(([callId]) => callId));
  expect(dialled(after)).toEqual(once);
  expect(after.calls().every(({ endedAt }) => endedAt !== null)).toBe(true);
  const { conversations } = (await after.get('/v1/convai/conversations')).body;
  expect(conversations).toHaveLength(numbers.length);
});

test('(f) a webhook that comes twice is the same event twice, of a call that was made once', async () => {
  const received: { data: { conversation_id: string } }[] = [];
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      received.push(JSON.parse(text));
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const sandbox = await startTestSandbox();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  await sandbox.request('POST', '/_sandbox/webhooks', { url, secret: 'whsec_of_the_test', duplicates: true });
  await sandbox.batch(['+12125550101']);
  sandbox.clock.advance(3_600_000);
  const [call] = sandbox.calls();
  await expect.poll(() => received.length).toBe(2);
  expect(received[0]).toEqual(received[1]);
  expect(received[0]?.data.conversation_id).toBe(call?.conversationId);
  expect(sandbox.calls()).toHaveLength(1);
});

test('(g) a clock that jumps a year ahead brings every call to its end once, and no clock goes back', async () => {
  const sandbox = await startTestSandbox({ clock: 'manual', epochMs: noon, concurrency: 1 });
  await sandbox.batch(numbers);
  await sandbox.advance(365 * 24 * 3_600_000);
  expect(dialled(sandbox)).toEqual(once);
  // Those who waited were dialled when a line was free, not all of them at the end of the jump.
  const times = sandbox.calls().map(({ dialedAt, endedAt }) => [dialedAt ?? 0, endedAt ?? 0]);
  for (const [dialedAt, endedAt] of times) expect(dialedAt).toBeLessThanOrEqual(endedAt ?? 0);
  expect(Math.max(...times.flat())).toBeLessThan(noon + 24 * 3_600_000);
  const back = await sandbox.request('POST', '/_sandbox/clock/advance', { until: new Date(noon).toISOString() });
  expect([back.status, back.body.detail[0].type]).toEqual([422, 'clock_goes_forward']);
  expect((await sandbox.request('POST', '/_sandbox/clock/advance', { seconds: -1 })).status).toBe(422);
});

test('(h) a batch that is accepted in part: calls_initiated says how many, and only they are dialled', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 1, effect: { type: 'partial', accept: 2 } }] });
  const { status, body } = await sandbox.batch(numbers);
  expect([status, body.calls_initiated]).toEqual([200, 2]);
  sandbox.clock.advance(3_600_000);
  expect(sandbox.calls().map(({ to }) => to)).toEqual(numbers.slice(0, 2));
  expect(sandbox.journal()[0]).toMatchObject({ callsRequested: 3, callsAccepted: 2 });
  const { conversations } = (await sandbox.get('/v1/convai/conversations')).body;
  expect(conversations).toHaveLength(2);
});

import { expect, test } from 'vitest';
import type { BatchPointInfo } from '../../../src/sandbox/core/gates.ts';
import { startTestSandbox } from '../harness.ts';

const number = '+12125550150';

test('hooks are awaited as received, work done and replied, with what is known at each', async () => {
  const seen: BatchPointInfo[] = [];
  let replied = (): void => {};
  const over = new Promise<void>((resolve) => {
    replied = resolve;
  });
  const sandbox = await startTestSandbox({
    hooks: {
      onBatchReceived: (info) => void seen.push(info),
      onBatchWorkDone: (info) => void seen.push(info),
      onBatchReplied: (info) => {
        seen.push(info);
        replied();
      },
    },
  });
  const { body } = await sandbox.batch([number], {}, 'b7/2');
  await over;
  const known = { requestId: 'b7/2', calls: 1, nth: 1 };
  expect(seen).toEqual([
    { ...known, point: 'batch_received', batchId: null },
    { ...known, point: 'batch_work_done', batchId: body.batch_id },
    { ...known, point: 'batch_replied', batchId: body.batch_id },
  ]);
});

test.each([
  ['batch_received', 0],
  ['batch_work_done', 1],
] as const)('a gate at %s holds the request there until released', async (point, accepted) => {
  const sandbox = await startTestSandbox();
  const gate = await sandbox.request('POST', '/_sandbox/gates', { point });
  let answered = false;
  const pending = sandbox.batch([number], {}, 'b1/1').then((answer) => {
    answered = true;
    return answer;
  });
  const reached = await sandbox.get(`/_sandbox/gates/wait?point=${point}&nth=1`);
  expect(reached.body).toMatchObject({ id: gate.body.id, reached: true, request: { requestId: 'b1/1' } });
  expect([answered, sandbox.calls().length]).toEqual([false, accepted]);
  expect((await sandbox.request('POST', '/_sandbox/gates/release', {})).body.released).toBe(1);
  expect((await pending).status).toBe(200);
  expect(sandbox.calls()).toHaveLength(1);
});

test('a gate lets pass until its nth request', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.batch([number]);
  await sandbox.request('POST', '/_sandbox/gates', { point: 'batch_received', nth: 2 });
  await sandbox.batch(['+12125550151']);
  expect((await sandbox.get('/_sandbox/gates/wait?point=batch_received&timeout_ms=0')).body.reached).toBe(false);
  const held = sandbox.batch(['+12125550152']);
  expect((await sandbox.get('/_sandbox/gates/wait?point=batch_received&nth=2')).body.reached).toBe(true);
  sandbox.gates.release();
  await held;
});

test('a request whose caller is gone is still worked on when released', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.request('POST', '/_sandbox/gates', { point: 'batch_received' });
  const caller = new AbortController();
  const body = { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls: [{ to_phone_number: number }] };
  const path = '/v1/convai/phone-numbers/batch-calls';
  const lost = expect(sandbox.request('POST', path, body, { signal: caller.signal })).rejects.toThrow();
  await sandbox.get('/_sandbox/gates/wait?point=batch_received');
  caller.abort();
  await lost;
  await expect.poll(() => sandbox.journal()[0]?.ending).toBe('aborted');
  sandbox.gates.release();
  await expect.poll(() => sandbox.calls().length).toBe(1);
});

test('a gate at batch_replied tells that the reply went out', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.request('POST', '/_sandbox/gates', { point: 'batch_replied' });
  const waiting = sandbox.get('/_sandbox/gates/wait?point=batch_replied');
  await sandbox.batch([number]);
  expect((await waiting).body.reached).toBe(true);
});

test('closing lets go what waits at a gate', async () => {
  const sandbox = await startTestSandbox();
  const id = sandbox.gates.set('batch_received');
  const lost = sandbox.batch([number]).then(
    () => 'answered',
    () => 'cut',
  );
  await sandbox.gates.waitUntilReached(id, 5_000);
  await sandbox.close();
  expect(['cut', 'answered']).toContain(await lost);
});

test('a gate that is not there is 404, one at an unknown point 422', async () => {
  const sandbox = await startTestSandbox();
  expect((await sandbox.get('/_sandbox/gates/wait?point=batch_received')).status).toBe(404);
  expect((await sandbox.request('POST', '/_sandbox/gates/release', { id: 'gate_9' })).status).toBe(404);
  expect((await sandbox.request('POST', '/_sandbox/gates', { point: 'nowhere' })).status).toBe(422);
});

import { fetch } from 'undici';
import { expect } from 'vitest';
import type { FaultRuleInput } from '../../../src/sandbox/faults/rule.ts';
import { batches, people, startPublished, test } from './caller.ts';
import { batchOf } from '../harness.ts';

async function trySubmit(effect: FaultRuleInput['effect']) {
  const sandbox = await startPublished();
  sandbox.addFaults([{ operation: 'batch_calls', times: 1, effect }]);
  const status = await sandbox
    .request('POST', `${batches}/submit`, batchOf(people('0130')), { signal: AbortSignal.timeout(1_500) })
    .then((answer) => answer.status)
    .catch(() => null);
  const listed = (await sandbox.read(`${batches}/workspace?agent_id=agent_reminders`)).batch_calls.length;
  const again = await sandbox.submit(people('0130'));
  expect(again.status).toBe('in_progress');
  return { status, listed, called: sandbox.calls().length - 1 };
}

test.each<[string, FaultRuleInput['effect'], number | null, number]>([
  ['lost after it was carried out', { type: 'reset', when: 'after' }, null, 1],
  ['too many requests, but carried out', { type: 'rate_limited', when: 'after' }, 429, 1],
  ['a failure before', { type: 'error', status: 503 }, 503, 0],
  ['no answer at all', { type: 'drop', when: 'after' }, null, 1],
])('a submit with %s: the list of batches shows what became of it', async (_what, effect, status, carriedOut) => {
  expect(await trySubmit(effect)).toEqual({ status, listed: carriedOut, called: carriedOut });
});

test('lists, reports and cancellations fail and lag on request', async ({ sandbox }) => {
  const { id } = await sandbox.submit(people('0130', '0131'), { target_concurrency_limit: 1 });
  sandbox.addFaults([
    { operation: 'list_batches', nth: 1, effect: { type: 'error', status: 503 } },
    { operation: 'list_batches', nth: 2, effect: { type: 'hide', ms: 60_000 } },
    { operation: 'get_batch', nth: 1, effect: { type: 'rate_limited' } },
    { operation: 'get_batch', nth: 2, effect: { type: 'missing' } },
    { operation: 'cancel_batch', nth: 1, effect: { type: 'reset', when: 'after' } },
  ]);
  const list = async () => sandbox.get(`${batches}/workspace`);
  expect((await list()).status).toBe(503);
  expect((await list()).body.batch_calls).toEqual([]);
  expect((await list()).body.batch_calls).toHaveLength(1);
  const report = async () => sandbox.get(`${batches}/${id}`);
  expect([(await report()).status, (await report()).status, (await report()).status]).toEqual([429, 404, 200]);
  const { url } = sandbox;
  await expect(fetch(`${url}${batches}/${id}/cancel`, { method: 'POST', headers: { 'xi-api-key': 'sk_sandbox_ok' } })).rejects.toThrow();
  expect((await report()).body.status).toBe('cancelled');
});

test('a report may lack a recipient, have one twice, or say another number', async ({ sandbox }) => {
  const { id } = await sandbox.submit(people('0130', '0131'));
  sandbox.addFaults([
    { operation: 'get_batch', nth: 1, effect: { type: 'leave_out' } },
    { operation: 'get_batch', nth: 2, effect: { type: 'duplicate' } },
    { operation: 'get_batch', nth: 3, effect: { type: 'unknown_value', field: 'phone_number', value: '+12125550139' } },
  ]);
  const numbers = async (): Promise<string[]> =>
    (await sandbox.read(`${batches}/${id}`)).recipients.map(({ phone_number: number }: { phone_number: string }) => number.slice(-4));
  expect(await numbers()).toHaveLength(1);
  const twice = await numbers();
  expect([twice.length, new Set(twice).size]).toEqual([3, 2]);
  expect(await numbers()).toEqual(['0139', '0139']);
  expect(await numbers()).toEqual(['0130', '0131']);
});

test('a batch accepted in part says how many calls it has', async ({ sandbox }) => {
  sandbox.addFaults([
    { operation: 'batch_calls', effect: { type: 'partial', accept: 1 } },
    { operation: 'batch_calls', effect: { type: 'wrong_count' } },
  ]);
  const batch = await sandbox.submit(people('0130', '0131'));
  expect(batch.total_calls_scheduled).toBe(1);
  expect(batch).not.toHaveProperty('calls_initiated');
});

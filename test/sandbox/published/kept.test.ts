import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { batchOf, noon, plainNumbers, type Json } from '../harness.ts';
import { batches, conversations, people, startPublished, type PublishedSandbox } from './caller.ts';

const clientData = { user_id: 'user 1', environment: 'staging', custom_llm_extra_body: { tier: 1 }, dynamic_variables: { ref: 'a:1' } };
const many = [{ id: 'a', phone_number: '+12125550101', conversation_initiation_client_data: clientData }];
for (const phone_number of plainNumbers(9)) many.push({ ...many[0]!, id: phone_number, phone_number });
const shared = batchOf(many, { branch_id: 'branch_0', telephony_call_config: { ringing_timeout_secs: 4 } });

async function readBatches(sandbox: PublishedSandbox): Promise<Json> {
  const { batch_calls: listed } = await sandbox.read(`${batches}/workspace`);
  const reports = [];
  for (const { id } of listed) reports.push(await sandbox.read(`${batches}/${id}`));
  return { listed, reports, calls: sandbox.calls().map(({ realAcceptedAt: _left, ...call }) => call) };
}

test('batches, their limits and a cancellation are kept, however sudden the end of the process is', async () => {
  const folder = temporaryFolder();
  const options = { seed: 'test', clock: 'manual', epochMs: noon, concurrency: 4, strictStart: false } as const;
  const [ended, untouched] = [await startPublished({ ...options, data: join(folder, 'a') }), await startPublished(options)];
  for (const sandbox of [ended, untouched]) {
    await sandbox.post(`${batches}/submit`, shared);
    await sandbox.submit(people('0130'), { scheduled_time_unix: noon / 1000 + 3_600 });
    const { id } = await sandbox.submit(people('0131', '0132'), { target_concurrency_limit: 1 });
    await sandbox.post(`${batches}/${id}/cancel`);
  }
  // As the file is the moment after the last answer.
  await copyFile(join(folder, 'a'), join(folder, 'b'));
  const again = await startPublished({ ...options, data: join(folder, 'b') });
  expect(await readBatches(again)).toEqual(await readBatches(untouched));
  for (const sandbox of [again, untouched]) await sandbox.advance(2 * 3_600_000);
  const after = await readBatches(again);
  expect(after).toEqual(await readBatches(untouched));
  expect(after.reports.map(({ status }: Json) => status)).toEqual(['cancelled', 'completed', 'completed']);
});

test('a single call is placed outside any batch, and a repeated request places a second one', async () => {
  const sandbox = await startPublished({ concurrency: 1 });
  const order = { agent_id: 'agent_reminders', agent_phone_number_id: 'pn_main', to_number: '+12125550100' };
  const ask = async (more: Json = {}) => sandbox.post('/v1/convai/twilio/outbound-call', { ...order, ...more });
  const { body: placed } = await ask({ conversation_initiation_client_data: { dynamic_variables: { ref: 'one' } } });
  expect(placed).toEqual({ success: true, message: expect.any(String), conversation_id: expect.any(String), callSid: expect.any(String) });
  // No line is free: the call waits, and has no conversation yet.
  expect((await ask()).body).toMatchObject({ success: true, conversation_id: null });
  sandbox.clock.advance(3_600_000);
  const body = await sandbox.read(`${conversations}/${placed.conversation_id}`);
  expect(body.metadata).not.toHaveProperty('batch_call');
  expect(body.metadata.phone_call).toMatchObject({ external_number: '+12125550100', call_result: 'answered' });
  expect(sandbox.calls()).toHaveLength(2);
  expect((await sandbox.read(`${batches}/workspace`)).batch_calls).toEqual([]);
  const found = await sandbox.get(`${conversations}?dynamic_variable_params=ref:eq:one`);
  expect(found.body.conversations.map(({ conversation_id: id }: Json) => id)).toEqual([placed.conversation_id]);
  for (const [more, status] of [
    [{ agent_id: 'agent_none' }, 404],
    [{ agent_phone_number_id: 'pn_none' }, 404],
    [{ to_number: '12125550100' }, 422],
  ] as const)
    expect((await ask(more)).status).toBe(status);
});

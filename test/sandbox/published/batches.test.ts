import { expect } from 'vitest';
import { batchOf, type Json } from '../harness.ts';
import { batches, people, startPublished, test } from './caller.ts';

const hour = 3_600_000;

test('a batch is told with the fields of its type, and its recipients with what was sent for them', async ({ sandbox }) => {
  const data = {
    dynamic_variables: { name: 'Robin', due: 3, vip: true },
    conversation_config_override: { agent: { first_message: 'Hello {{name}}.' } },
    user_id: 'ref:1/2',
    custom_llm_extra_body: { tier: 'gold' },
    source_info: { source: 'python_sdk', version: '1' },
    branch_id: 'branch_1',
    environment: 'staging',
    starting_workflow_node_id: 'node_1',
    procedure_ids: ['procedure_1'],
  };
  const batch = await sandbox.submit(
    [{ id: 'a', phone_number: '+12125550100', conversation_initiation_client_data: data }, { phone_number: '+12125550101' }],
    {
      timezone: 'Europe/London',
      scheduled_time_unix: null,
      branch_id: 'branch_0',
      environment: 'production',
      telephony_call_config: { ringing_timeout_secs: 20, twilio_machine_detection: { mode: 'enable' } },
      target_concurrency_limit: 1,
    },
  );
  const now = Math.floor(sandbox.clock.now() / 1000);
  const told = {
    id: expect.stringMatching(/^batch_/),
    name: 'Spring round',
    agent_id: 'agent_reminders',
    agent_name: 'Appointment reminders',
    branch_id: 'branch_0',
    branch_name: null,
    environment: 'production',
    phone_number_id: 'pn_main',
    phone_provider: 'twilio',
    whatsapp_params: null,
    created_at_unix: now,
    scheduled_time_unix: now,
    timezone: 'Europe/London',
    total_calls_dispatched: 1,
    total_calls_scheduled: 2,
    total_calls_finished: 0,
    last_updated_at_unix: now,
    status: 'in_progress',
    retry_count: 0,
    telephony_call_config: { ringing_timeout_secs: 20, twilio_machine_detection: { mode: 'enable' } },
    target_concurrency_limit: 1,
  };
  expect(batch).toEqual(told);
  const { recipients, ...report } = await sandbox.read(`${batches}/${batch.id}`);
  expect(report).toEqual(told);
  const times = { created_at_unix: now, updated_at_unix: now };
  const { conversationId } = sandbox.calls()[0]!;
  expect(recipients).toEqual([
    {
      id: 'a',
      phone_number: '+12125550100',
      whatsapp_user_id: null,
      status: 'initiated',
      ...times,
      conversation_id: conversationId,
      conversation_initiation_client_data: data,
    },
    {
      id: sandbox.calls()[1]!.callId,
      phone_number: '+12125550101',
      whatsapp_user_id: null,
      status: 'pending',
      ...times,
      conversation_id: null,
      conversation_initiation_client_data: { dynamic_variables: {}, conversation_config_override: {} },
    },
  ]);
});

test('a recipient is pending, dispatched, initiated, in progress, then as the call went', async () => {
  const sandbox = await startPublished({ batchCalling: { dispatchedMs: 500 }, concurrency: 8 });
  const at = Math.floor(sandbox.clock.now() / 1000) + 60;
  const { id } = await sandbox.submit(people('0100', '0101', '0102', '0103', '0104', '0114'), {
    scheduled_time_unix: at,
    target_concurrency_limit: 8,
  });
  const seen: Record<string, string[]> = {};
  for (let quarter = 0; quarter < 4 * 900; quarter += 1) {
    for (const [who, status] of Object.entries(await sandbox.statuses(id))) {
      const known = (seen[who] ??= []);
      if (known.at(-1) !== status) known.push(status);
    }
    sandbox.clock.advance(quarter < 280 ? 250 : 5_000);
    if (Object.values(seen).every((known) => ['completed', 'failed', 'voicemail'].includes(known.at(-1) ?? ''))) break;
  }
  const dialled = ['pending', 'dispatched', 'initiated'];
  expect(seen).toEqual({
    '0100': [...dialled, 'in_progress', 'completed'],
    '0101': [...dialled, 'failed'],
    '0102': [...dialled, 'failed'],
    '0103': [...dialled, 'in_progress', 'voicemail'],
    '0104': expect.arrayContaining(['pending', 'failed']),
    '0114': [...dialled, 'in_progress', 'failed'],
  });
});

test('who did not pick up or was busy may also be called completed', async () => {
  const sandbox = await startPublished({ batchCalling: { unanswered: 'completed' } });
  const { id } = await sandbox.submit(people('0101', '0102', '0104'));
  sandbox.clock.advance(hour);
  expect(await sandbox.statuses(id)).toEqual({ '0101': 'completed', '0102': 'completed', '0104': 'failed' });
});

async function cancelMidway(batchCalling: Json) {
  const sandbox = await startPublished({ batchCalling, concurrency: 10 });
  const { id } = await sandbox.submit(people('0100', '0102', '0130'), { target_concurrency_limit: 2 });
  sandbox.clock.advance(13_000);
  expect(await sandbox.statuses(id)).toEqual({ '0100': 'in_progress', '0102': 'initiated', '0130': 'pending' });
  expect((await sandbox.post(`${batches}/${id}/cancel`)).body.status).toBe('cancelled');
  const open = sandbox.calls().map(({ dialedAt, endedAt }) => dialedAt !== null && endedAt === null);
  sandbox.clock.advance(hour);
  expect(sandbox.calls()[2]!.dialedAt).toBeNull();
  return { open, statuses: Object.values(await sandbox.statuses(id)), calls: sandbox.calls() };
}

test('cancelling ends what waits; or what rings too; or talks under way as well', async () => {
  const waiting = await cancelMidway({});
  expect([waiting.open, waiting.statuses]).toEqual([
    [true, true, false],
    ['completed', 'failed', 'cancelled'],
  ]);
  const ringing = await cancelMidway({ cancelEnds: 'ringing' });
  expect([ringing.open, ringing.statuses]).toEqual([
    [true, false, false],
    ['completed', 'cancelled', 'cancelled'],
  ]);
  const talking = await cancelMidway({ cancelEnds: 'talking' });
  expect([talking.open, talking.statuses]).toEqual([
    [false, false, false],
    ['cancelled', 'cancelled', 'cancelled'],
  ]);
  expect(talking.calls[0]).toMatchObject({ result: 'answered' });
});

test('cancelling may call every recipient cancelled, whatever became of the call', async () => {
  const { open, statuses } = await cancelMidway({ cancelMarks: 'all' });
  expect([open, statuses]).toEqual([
    [true, true, false],
    ['cancelled', 'cancelled', 'cancelled'],
  ]);
});

test.each(['newest_first', 'oldest_first'] as const)(
  'batches are listed %s, page by page, and later if the list lags',
  async (listOrder) => {
    const sandbox = await startPublished({ batchCalling: { listOrder, mostListed: 2, listLagMs: 30_000 } });
    const ids: string[] = [];
    for (const ending of ['0130', '0131', '0132']) {
      ids.push((await sandbox.submit(people(ending))).id);
      sandbox.clock.advance(20_000);
    }
    const list = async (query = '') => await sandbox.read(`${batches}/workspace?limit=2${query}`);
    const inOrder = (some: string[]): string[] => (listOrder === 'newest_first' ? some.toReversed() : some);
    expect((await list()).batch_calls.map(({ id }: Json) => id)).toEqual(inOrder(ids.slice(0, 2)));
    sandbox.clock.advance(10_000);
    const first = await list();
    const second = await list(`&last_doc=${first.next_doc}`);
    expect([...first.batch_calls, ...second.batch_calls].map(({ id }: Json) => id)).toEqual(inOrder(ids));
    expect([first.has_more, second.has_more, second.next_doc]).toEqual([true, false, null]);
    expect((await sandbox.read(`${batches}/workspace?limit=3`)).detail[0].loc).toEqual(['query', 'limit']);
  },
);

test('a report that lags shows calls and a cancellation as they were', async () => {
  const sandbox = await startPublished({ batchCalling: { reportLagMs: 60_000 } });
  const { id } = await sandbox.submit(people('0101', '0130'), { target_concurrency_limit: 1 });
  sandbox.clock.advance(20_000);
  await sandbox.post(`${batches}/${id}/cancel`);
  const [before] = [await sandbox.read(`${batches}/${id}`)];
  expect([before.status, before.total_calls_finished]).toEqual(['in_progress', 0]);
  sandbox.clock.advance(60_000);
  const body = await sandbox.read(`${batches}/${id}`);
  expect(body.status).toBe('cancelled');
});

test('ids of recipients may be replaced, or have to differ', async () => {
  const twice = [...people('0130'), { id: '0130', phone_number: '+12125550131' }];
  const plain = await startPublished();
  expect((await plain.submit(twice)).total_calls_scheduled).toBe(2);
  const strict = await startPublished({ batchCalling: { uniqueRecipientIds: true } });
  const refused = await strict.post(`${batches}/submit`, batchOf(twice));
  expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'recipients', 1, 'id'] }] } });
  const replaced = await startPublished({ batchCalling: { recipientIds: 'replaced' } });
  const { id } = await replaced.submit(people('0100'));
  expect(Object.keys(await replaced.statuses(id))).toEqual([replaced.calls()[0]!.callId]);
});

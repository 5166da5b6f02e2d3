import { expect } from 'vitest';
import type { Json } from '../harness.ts';
import { conversations, people, startPublished, test, type PublishedSandbox } from './caller.ts';

async function startWithCalls(): Promise<PublishedSandbox> {
  const sandbox = await startPublished();
  for (const [index, ending] of ['0100', '0101', '0103'].entries()) {
    const variables = { carillon_ref: `ledger:summer/${index}/1`, tries: index, ...(index === 0 ? { note: 'a|b' } : {}) };
    await sandbox.submit([
      { ...people(ending)[0]!, conversation_initiation_client_data: { user_id: `user ${index}`, dynamic_variables: variables } },
    ]);
    sandbox.clock.advance(100_000);
  }
  sandbox.clock.advance(3_600_000);
  return sandbox;
}

/** Last four digits of who was called, in listed conversations. */
async function listed(sandbox: PublishedSandbox, query: string): Promise<string[]> {
  const body = await sandbox.read(`${conversations}?${query}`);
  expect(body).toHaveProperty('conversations');
  const numbers = new Map(sandbox.calls().map(({ conversationId, to }) => [conversationId, to.slice(-4)]));
  return body.conversations.map(({ conversation_id: id }: Json) => numbers.get(id));
}

test('conversations are filtered by what was sent with their calls, and by how those went', async () => {
  const sandbox = await startWithCalls();
  const start = Math.floor(sandbox.calls()[1]!.dialedAt! / 1000);
  const cases: [string, string[]][] = [
    ['', ['0103', '0101', '0100']],
    ['sort_direction=asc', ['0100', '0101', '0103']],
    ['dynamic_variable_params=carillon_ref:eq:ledger:summer/1/1', ['0101']],
    ['dynamic_variable_filter=carillon_ref:in:ledger:summer/0/1|ledger:summer/2/1', ['0103', '0100']],
    ['dynamic_variable_params=tries:gt:0&dynamic_variable_params=tries:lte:1', ['0101']],
    ['dynamic_variable_params=tries:gte:1', ['0103', '0101']],
    ['dynamic_variable_params=tries:lt:1', ['0100']],
    ['dynamic_variable_params=tries:neq:1', ['0103', '0100']],
    ['dynamic_variable_params=note:eq:', ['0103', '0101']],
    ['dynamic_variable_params=note:neq:', ['0100']],
    ['dynamic_variable_params=note:eq:a', []],
    ['user_id=user 1', ['0101']],
    [`call_start_after_unix=${start}`, ['0103', '0101']],
    [`call_start_before_unix=${start}`, ['0101', '0100']],
    ['call_duration_min_secs=1', ['0103', '0100']],
    ['call_duration_max_secs=0', ['0101']],
    ['call_successful=failure', ['0101']],
    ['exclude_statuses=failed', ['0103', '0100']],
    ['exclude_statuses=failed&exclude_statuses=done', []],
    ['agent_id=agent_survey', []],
    ['phone_number_ids=pn_main', ['0103', '0101', '0100']],
  ];
  for (const [query, wanted] of cases) expect([query, await listed(sandbox, encodeURI(query))]).toEqual([query, wanted]);
});

test('a text is searched for in what was said', async () => {
  const sandbox = await startWithCalls();
  const body = await sandbox.read(`${conversations}/${sandbox.calls()[0]!.conversationId}`);
  const said = body.transcript.find(({ role }: Json) => role === 'user').message;
  expect(await listed(sandbox, `search=${encodeURIComponent(String(said).toUpperCase())}`)).toContain('0100');
  expect(await listed(sandbox, 'search=nobody+says+this')).toEqual([]);
});

test('a filter that cannot be read, or is not built, is refused', async ({ sandbox }) => {
  for (const query of [
    'dynamic_variable_params=a:like:b',
    'dynamic_variable_params=a',
    'dynamic_variable_filter=a:gt:x',
    'rating_min=1',
    'page_size=101',
  ]) {
    const { status, body } = await sandbox.get(`${conversations}?${query}`);
    expect([status, body.detail[0].loc]).toEqual([422, ['query', query.split('=')[0]]]);
  }
});

test('a filtered list is read page by page, and its cursor belongs to its filter', async () => {
  const sandbox = await startWithCalls();
  const query = 'dynamic_variable_params=tries:gte:0&page_size=2';
  const first = await sandbox.read(`${conversations}?${query}`);
  expect([first.conversations.length, first.has_more]).toEqual([2, true]);
  expect(await listed(sandbox, `${query}&cursor=${first.next_cursor}`)).toEqual(['0100']);
  const other = await sandbox.get(`${conversations}?page_size=2&cursor=${first.next_cursor}`);
  expect(other).toMatchObject({ status: 422, body: { detail: [{ type: 'invalid_cursor' }] } });
});

test('an entry of the list carries no number, batch, recipient, user id or variables', async () => {
  const sandbox = await startWithCalls();
  const body = await sandbox.read(conversations);
  for (const text of ['+1212', 'batch', 'recipient', 'user 1', 'ledger:summer']) expect(JSON.stringify(body)).not.toContain(text);
  expect(body.conversations[0]).not.toHaveProperty('transcript_summary');
  const summed = await sandbox.get(`${conversations}?summary_mode=include`);
  expect(summed.body.conversations[2]).toHaveProperty('transcript_summary');
});

test('a talk under way shows duration 0 and no words until it is over, and a failed dial its error', async ({ sandbox }) => {
  const { id } = await sandbox.submit(people('0100', '0104'));
  sandbox.clock.advance(20_000);
  const [talk, failed] = sandbox.calls().map(({ conversationId }) => `${conversations}/${conversationId}`);
  const during = await sandbox.read(talk!);
  expect(during).toMatchObject({ status: 'in-progress', transcript: [], analysis: null, metadata: { call_duration_secs: 0, error: null } });
  expect((await sandbox.read(conversations)).conversations[0]).toMatchObject({ call_duration_secs: 0, message_count: 0 });
  const missed = await sandbox.read(failed!);
  expect(missed).toMatchObject({ status: 'failed', transcript: [], analysis: null, metadata: { call_duration_secs: 0 } });
  expect(missed.metadata).toMatchObject({
    error: { code: expect.any(Number), reason: expect.any(String) },
    phone_call: { call_result: 'failed' },
  });
  expect(missed.metadata.batch_call).toEqual({ batch_call_id: id, batch_call_recipient_id: '0104' });
  while ((await sandbox.read(talk!)).status === 'in-progress') sandbox.clock.advance(1_000);
  const over = await sandbox.read(talk!);
  expect(over.status).toBe('processing');
  expect(over.metadata.call_duration_secs).toBeGreaterThan(0);
  expect(over.transcript[0]).toMatchObject({ role: 'agent', message: expect.any(String) });
  for (const field of ['audio', 'collected_data', 'evaluation_results', 'metadata.start_time', 'transcript.0.speaker'])
    expect(over).not.toHaveProperty(field);
});

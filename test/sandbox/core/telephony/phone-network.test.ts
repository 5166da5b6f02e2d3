import { expect } from 'vitest';
import type { CallTruth } from '../../../../src/sandbox/core/telephony/call-truth.ts';
import { noon, plainNumbers, startTestSandbox, test, type TestSandbox } from '../../harness.ts';

const hour = 3_600_000;

async function readRecord(sandbox: TestSandbox, call: CallTruth | undefined) {
  return await sandbox.read(`/v1/convai/conversations/${call?.conversationId}`);
}

/** What depends on the number and seed alone. */
function course({ to, nth, conversationId, result, silent, optedOut, transcriptTurns, dialedAt, endedAt }: CallTruth) {
  return { to, nth, conversationId, result, silent, optedOut, transcriptTurns, lastedMs: (endedAt ?? 0) - (dialedAt ?? 0) };
}

test.for([
  ['0100', 'answered', 'done', true],
  ['0101', 'busy', 'failed', false],
  ['0102', 'no_answer', 'failed', false],
  ['0103', 'voicemail', 'done', true],
  ['0104', 'failed', 'failed', false],
  ['0106', 'answered', 'done', true],
  ['0108', 'answered', 'done', true],
])('a number ending in %s is %s', async ([ending, result, status, spoken], { sandbox }) => {
  await sandbox.batch([`+1212555${ending}`, `+44207946${ending}`]);
  sandbox.clock.advance(hour);
  for (const call of sandbox.calls()) {
    const record = await readRecord(sandbox, call);
    expect(call).toMatchObject({ result, state: status, silent: ending === '0106', optedOut: ending === '0108' });
    expect(record.status).toBe(status);
    expect(record.metadata.phone_call).toMatchObject({ call_result: result, external_number: call.to, direction: 'outbound' });
    expect(record.transcript.length > 0).toBe(spoken);
    expect(record.transcript).toHaveLength(call.transcriptTurns);
  }
});

test('a silent answer has agent turns only, a voicemail the greeting and the message', async ({ sandbox }) => {
  await sandbox.batch(['+12125550106', '+12125550103']);
  sandbox.clock.advance(hour);
  const [silent, voicemail] = sandbox.calls();
  const speakers = (record: { transcript: { speaker: string }[] }) => record.transcript.map((turn) => turn.speaker);
  expect(new Set(speakers(await readRecord(sandbox, silent)))).toEqual(new Set(['agent']));
  expect(speakers(await readRecord(sandbox, voicemail))).toEqual(['user', 'user', 'agent', 'agent']);
});

test('who asks not to be called again is recorded as opted out', async ({ sandbox }) => {
  await sandbox.batch(['+12125550108', '+12125550100']);
  sandbox.clock.advance(hour);
  const [optedOut, cooperative] = await Promise.all(sandbox.calls().map((call) => readRecord(sandbox, call)));
  expect(optedOut.collected_data.opt_out.value).toBe(true);
  expect(JSON.stringify(optedOut.transcript)).toContain('do not call me again');
  expect(optedOut.evaluation_results.goal_reached.result).toBe('failure');
  expect(cooperative.collected_data).toMatchObject({ opt_out: { value: false }, appointment: { value: 'confirmed' } });
  expect(cooperative.evaluation_results.goal_reached.result).toBe('success');
});

test('0110 is busy on the first dial and answers on the second', async ({ sandbox }) => {
  for (let dial = 0; dial < 2; dial += 1) {
    await sandbox.batch(['+12125550110']);
    sandbox.clock.advance(hour);
  }
  expect(sandbox.calls().map(({ nth, result }) => [nth, result])).toEqual([
    [1, 'busy'],
    [2, 'answered'],
  ]);
});

test('0113 stays in processing for half an hour after its end', async ({ sandbox }) => {
  await sandbox.batch(['+12125550113']);
  sandbox.clock.advance(20 * 60_000);
  const stuck = await readRecord(sandbox, sandbox.calls()[0]);
  expect(stuck).toMatchObject({ status: 'processing', collected_data: {}, evaluation_results: {}, analysis: null });
  expect(stuck.metadata.end_time).toEqual(expect.any(String));
  sandbox.clock.advance(25 * 60_000);
  expect(await readRecord(sandbox, sandbox.calls()[0])).toMatchObject({ status: 'done', collected_data: { opt_out: { value: false } } });
});

test('0114 fails in the conversation: no transcript, no word of the carrier', async ({ sandbox }) => {
  const record = await sandbox.call('+12125550114');
  expect(record).toMatchObject({ status: 'failed', transcript: [] });
  expect(record.metadata.phone_call).not.toHaveProperty('call_result');
  expect(sandbox.calls()[0]).toMatchObject({ result: 'failed', state: 'failed' });
});

test('a record goes from initiated over in-progress and processing to done, and its transcript grows', async ({ sandbox }) => {
  await sandbox.batch(['+12125550100']);
  const seen: string[] = [];
  const turns: number[] = [];
  for (let step = 0; step < 2_000 && seen.at(-1) !== 'done'; step += 1) {
    const record = await readRecord(sandbox, sandbox.calls()[0]);
    if (seen.at(-1) !== record.status) seen.push(record.status);
    turns.push(record.transcript.length);
    sandbox.clock.advance(250);
  }
  expect(seen).toEqual(['initiated', 'in-progress', 'processing', 'done']);
  expect(turns).toEqual([...turns].sort((a, b) => a - b));
  expect([...new Set(turns)]).toEqual(Array.from({ length: (turns.at(-1) ?? 0) + 1 }, (_, count) => count));
});

test('the first agent turn is the line of the call, else of the agent, with variables filled in', async ({ sandbox }) => {
  const override = { agent: { first_message: 'Hi {{name}}, {{ count }} {{missing}}.' } };
  await sandbox.batch([], {
    calls: [
      { to_phone_number: '+12125550100', conversation_config_override: override, variables: { name: 'Ada', count: 2 } },
      { to_phone_number: '+13125550100' },
    ],
  });
  await sandbox.patch('/v1/convai/agents/agent_reminders', { conversation_config: { agent: { first_message: 'Later.' } } });
  sandbox.clock.advance(hour);
  const openings = sandbox.calls().map((call) => call.openingLine);
  expect(openings).toEqual(['Hi Ada, 2 {{missing}}.', 'Hello, I am calling about your appointment.']);
  const records = await Promise.all(sandbox.calls().map((call) => readRecord(sandbox, call)));
  expect(records.map((record) => record.transcript[0].text)).toEqual(openings);
  expect(records[0].conversation_initiation_client_data.dynamic_variables).toEqual({ name: 'Ada', count: 2 });
});

test('no more calls are on the line than there are lines, and the queue moves in order', async () => {
  const sandbox = await startTestSandbox({ concurrency: 3 });
  await sandbox.batch(plainNumbers(20));
  expect(sandbox.calls().filter((call) => call.dialedAt !== null)).toHaveLength(3);
  sandbox.clock.advance(24 * hour);
  const calls = sandbox.calls();
  expect(calls.every((call) => call.endedAt !== null)).toBe(true);
  const dialed = calls.map((call) => call.dialedAt ?? 0);
  expect(dialed).toEqual([...dialed].sort((a, b) => a - b));
  // Each line takes the next call the instant it is free.
  const freed = calls.map((call) => call.endedAt).sort((a, b) => (a ?? 0) - (b ?? 0));
  expect(dialed.slice(3)).toEqual(freed.slice(0, -3));
  for (const call of calls) {
    const at = call.dialedAt ?? 0;
    expect(calls.filter((other) => (other.dialedAt ?? 0) <= at && at < (other.endedAt ?? 0)).length).toBeLessThanOrEqual(3);
  }
});

test('a reset brings the same calls again', async ({ sandbox }) => {
  const numbers = plainNumbers(20);
  const runs = [];
  for (let run = 0; run < 2; run += 1) {
    await sandbox.batch(numbers);
    sandbox.clock.advance(24 * hour);
    runs.push(sandbox.calls().map(course));
    expect((await sandbox.post('/_sandbox/reset')).status).toBe(200);
    expect(sandbox.calls()).toEqual([]);
    expect((await sandbox.read('/v1/convai/conversations')).conversations).toEqual([]);
  }
  expect(runs[1]).toEqual(runs[0]);
});

test('drawn calls follow the mix, and talk about as long as asked', async () => {
  const sandbox = await startTestSandbox({
    concurrency: 2000,
    meanTalkSeconds: 60,
    outcomeMix: { answered: 3, busy: 1, no_answer: 0, voicemail: 0, failed: 0 },
  });
  await sandbox.batch(plainNumbers(900));
  sandbox.clock.advance(hour);
  const calls = sandbox.calls();
  const answered = calls.filter((call) => call.result === 'answered' && !call.silent);
  expect(answered.length / calls.length).toBeGreaterThan(0.68);
  expect(answered.length / calls.length).toBeLessThan(0.8);
  expect(calls.every((call) => call.result === 'answered' || call.result === 'busy')).toBe(true);
  const meanMs = answered.reduce((sum, call) => sum + (call.endedAt ?? 0) - (call.dialedAt ?? 0), 0) / answered.length;
  expect(meanMs).toBeGreaterThan(60_000);
  expect(meanMs).toBeLessThan(75_000);
});

test('without records of unanswered calls only those who picked up have one', async () => {
  const sandbox = await startTestSandbox({ unansweredCreateRecord: false });
  await sandbox.batch(['+12125550101', '+12125550102', '+12125550103', '+12125550100']);
  expect((await sandbox.read('/v1/convai/conversations')).conversations).toEqual([]);
  sandbox.clock.advance(hour);
  const ids = (await sandbox.read('/v1/convai/conversations')).conversations.map((c: { conversation_id: string }) => c.conversation_id);
  const byResult = Object.fromEntries(sandbox.calls().map((call) => [call.result, call.conversationId]));
  expect(new Set(ids)).toEqual(new Set([byResult['answered'], byResult['voicemail']]));
  expect(byResult).toMatchObject({ busy: null, no_answer: null });
});

test('an inbound call makes a conversation of the number’s agent that no batch accounts for', async ({ sandbox }) => {
  const taken = await sandbox.post('/_sandbox/inbound', { number: '+12125550199', from: '+12125550100' });
  expect(taken.body).toEqual({ answered: true, conversation_id: expect.any(String), agent_id: 'agent_reminders', reason: null });
  sandbox.clock.advance(hour);
  const record = await sandbox.read(`/v1/convai/conversations/${taken.body.conversation_id}`);
  expect(record).toMatchObject({ status: 'done', metadata: { phone_call: { direction: 'inbound', external_number: '+12125550100' } } });
  expect(record.metadata).not.toHaveProperty('batch_call');
  expect(record.transcript[0].speaker).toBe('agent');
  expect(sandbox.calls()).toEqual([]);
});

test('times of the truth and of records are service time', async ({ sandbox }) => {
  sandbox.clock.advance(5_000);
  const answer = await sandbox.batch(['+12125550100'], {}, 'b1/1');
  expect(Date.parse(answer.headers.get('date') ?? '')).toBe(noon + 5_000);
  expect(sandbox.calls()[0]).toMatchObject({
    acceptedAt: noon + 5_000,
    dialedAt: noon + 5_000,
    endedAt: null,
    result: null,
    requestId: 'b1/1',
  });
});

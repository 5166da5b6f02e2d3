import { expect } from 'vitest';
import type { CallTruth } from '../../../../src/sandbox/core/telephony/call-truth.ts';
import { noon, startTestSandbox, testWith, type Json, type TestSandbox } from '../../harness.ts';

const hour = 3_600_000;
const onHold = { clock: 'manual', epochMs: noon } as const;
const test = testWith(onHold);

async function hold(sandbox: TestSandbox, number: string, more: Record<string, unknown> = {}): Promise<{ truth: CallTruth; record: Json }> {
  const record = await sandbox.call(number, more);
  return { truth: sandbox.calls().at(-1)!, record };
}

function said(record: Json, speaker: string): string[] {
  return record.transcript.filter((turn: Json) => turn.speaker === speaker).map((turn: Json) => turn.text);
}

test('0105 says hello and is gone after two seconds, in the middle of the opening line', async () => {
  const { truth, record } = await hold(await startTestSandbox(), '+12125550105');
  expect(truth).toMatchObject({ result: 'answered', state: 'done', silent: false, optedOut: false });
  expect(record.metadata).toMatchObject({ duration: 2, termination_reason: 'Call ended by remote party' });
  expect(record.transcript.map((turn: Json) => [turn.speaker, turn.interrupted])).toEqual([
    ['user', false],
    ['agent', true],
  ]);
  expect(record.evaluation_results.goal_reached).toMatchObject({ result: 'unknown', score: null });
});

test('0107 cuts in on every line but the farewell, and still answers', async () => {
  const { record } = await hold(await startTestSandbox(), '+12125550107', { agent_id: 'agent_survey' });
  const agentTurns = record.transcript.filter((turn: Json) => turn.speaker === 'agent');
  expect(agentTurns.length).toBeGreaterThanOrEqual(4);
  expect(agentTurns.slice(0, -1).every((turn: Json) => turn.interrupted)).toBe(true);
  expect(record.collected_data.satisfaction.value).toBeGreaterThanOrEqual(4);
  for (const [index, turn] of record.transcript.entries()) {
    const next = record.transcript[index + 1];
    if (next !== undefined) expect(Date.parse(next.timestamp)).toBeGreaterThanOrEqual(Date.parse(turn.timestamp));
  }
});

test('the transcript of an interrupted turn holds what was heard of it, and no word more', async () => {
  const { record } = await hold(await startTestSandbox(), '+12125550107', { agent_id: 'agent_survey' });
  const cut = record.transcript.filter((turn: Json) => turn.interrupted);
  expect(cut.length).toBeGreaterThanOrEqual(3);
  for (const { text, message, original_message: original } of cut) {
    expect(message).toBe(text);
    expect(original.startsWith(`${text} `)).toBe(true);
    expect(text.length).toBeLessThanOrEqual(original.length * 0.8);
  }
  const whole = record.transcript.filter((turn: Json) => !turn.interrupted);
  expect(whole.every((turn: Json) => !Object.hasOwn(turn, 'original_message'))).toBe(true);
  const { record: left } = await hold(await startTestSandbox(), '+12125550105');
  const { text, original_message: original } = left.transcript.at(-1);
  expect(original).toBe('Hello, I am calling about your appointment.');
  expect(original.startsWith(text)).toBe(true);
  expect(text.length).toBeLessThan(original.length / 2);
});

test('0109 talks until the agent’s longest call is over, to the millisecond', async () => {
  const sandbox = await startTestSandbox();
  const usual = await hold(sandbox, '+12125550109');
  expect(usual.record.metadata).toMatchObject({ duration: 600, termination_reason: 'Maximum duration reached.' });
  const override = { conversation: { max_duration_seconds: 120 } };
  const short = await hold(sandbox, '', { calls: [{ to_phone_number: '+13125550109', conversation_config_override: override }] });
  expect(short.record.metadata.duration).toBe(120);
  expect(short.record.transcript.length).toBeLessThan(usual.record.transcript.length);
  expect(short.record.transcript.at(-1)).toMatchObject({ interrupted: true });
  expect(usual.record.collected_data.appointment.value).toBeNull();
});

test('0111 speaks only Spanish, which the agent says it does not', async () => {
  const sandbox = await startTestSandbox();
  const { record, truth } = await hold(sandbox, '+12125550111');
  expect(truth).toMatchObject({ result: 'answered', optedOut: false });
  expect(said(record, 'user')[0]).toBe('Hello? I only speak Spanish.');
  expect(said(record, 'agent').at(-1)).toContain('I do not speak Spanish');
  expect(record.evaluation_results.goal_reached.result).toBe('failure');
  expect(record.metadata.main_language).toBe('en');
});

test('0112 is somebody else: the agent apologises and asks nothing', async () => {
  const { record, truth } = await hold(await startTestSandbox(), '+12125550112');
  expect(truth).toMatchObject({ result: 'answered', silent: false, optedOut: false });
  expect(said(record, 'user')[0]).toContain('wrong number');
  expect(said(record, 'agent')).toHaveLength(2);
  expect(said(record, 'agent')[1]).toContain('sorry to have disturbed you');
  expect(record.collected_data).toMatchObject({ appointment: { value: null }, opt_out: { value: false } });
  expect(record.evaluation_results.goal_reached).toMatchObject({ result: 'failure', score: 0 });
});

test('0120 is refused with the whole request, and 0115 answers', async () => {
  const sandbox = await startTestSandbox();
  const refused = await sandbox.batch(['+12125550100', '+12125550120']);
  expect(refused.status).toBe(422);
  expect(sandbox.calls()).toEqual([]);
  expect((await hold(sandbox, '+12125550115')).record).toMatchObject({ status: 'done', has_audio: true });
});

test('who calls in from a magic number is who would answer there', async () => {
  const sandbox = await startTestSandbox();
  for (const [from, words] of [
    ['+12125550108', 'do not call me again'],
    ['+12125550111', 'I only speak Spanish'],
    ['+12125550101', ''],
  ]) {
    const taken = await sandbox.post('/_sandbox/inbound', { number: '+12125550199', from });
    sandbox.clock.advance(hour);
    const record = await sandbox.read(`/v1/convai/conversations/${taken.body.conversation_id}`);
    expect(record.status).toBe('done');
    expect(said(record, 'user').join(' ')).toContain(words);
  }
});

const caller = '+12125550150';

function callIn(sandbox: TestSandbox, number: Json): Promise<{ status: number; body: Json }> {
  return sandbox.post('/_sandbox/inbound', { ...number, from: caller });
}

test('nobody answers where no agent is assigned, or where it was deleted', async ({ sandbox }) => {
  const unanswered = { answered: false, conversation_id: null, agent_id: null, reason: 'no_agent' };
  expect((await callIn(sandbox, { phone_number_id: 'pn_unverified' })).body).toEqual(unanswered);
  await sandbox.delete('/v1/convai/agents/agent_reminders');
  expect((await callIn(sandbox, { phone_number_id: 'pn_main' })).body).toEqual(unanswered);
  expect((await sandbox.read('/v1/convai/conversations')).conversations).toEqual([]);
});

test('calls in and out share the lines', async () => {
  const sandbox = await startTestSandbox({ ...onHold, concurrency: 2 });
  expect((await callIn(sandbox, { phone_number_id: 'pn_main' })).body.answered).toBe(true);
  await sandbox.batch(['+12125550100', '+12125550102']);
  expect(sandbox.calls().map(({ state }) => state)).toEqual(['dialing', 'queued']);
  expect((await callIn(sandbox, { phone_number_id: 'pn_main' })).body).toMatchObject({ answered: false, reason: 'no_free_line' });
  await sandbox.advance(3_600_000);
  expect((await callIn(sandbox, { phone_number_id: 'pn_main' })).body.answered).toBe(true);
});

test('an unknown number is said to be unknown', async ({ sandbox }) => {
  expect((await callIn(sandbox, { number: '+12125550111' })).status).toBe(404);
  expect((await callIn(sandbox, {})).status).toBe(422);
});

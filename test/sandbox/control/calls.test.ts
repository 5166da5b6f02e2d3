import { expect } from 'vitest';
import { noon, plainNumbers, startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';
import type { BatchPointInfo } from '../../../src/sandbox/core/gates.ts';

const onHold = { clock: 'manual', epochMs: noon } as const;
const number = '+12125550150';

function course(sandbox: TestSandbox, callId: string | undefined, body: Json): Promise<{ status: number; body: Json }> {
  return sandbox.post(`/_sandbox/calls/${callId}/course`, body);
}

test('calls are listed by state, number and batch, the newest so many', async () => {
  const sandbox = await startTestSandbox({ ...onHold, concurrency: 2 });
  await sandbox.batch(['+12125550101', '+12125550100', '+12125550102']);
  const { body: second } = await sandbox.batch(['+12125550100']);
  const list = async (query: string): Promise<string[]> =>
    (await sandbox.read(`/_sandbox/calls${query}`)).calls.map((call: Json) => `${call.to.slice(-4)} ${call.nth} ${call.state}`);
  const everything = ['0101 1 dialing', '0100 1 dialing', '0102 1 queued', '0100 2 queued'];
  expect(await list('')).toEqual(everything);
  expect(await list('?state=queued')).toEqual(everything.slice(2));
  expect(await list('?to=%2B12125550100')).toEqual([everything[1], everything[3]]);
  expect(await list(`?batch=${second.batch_id}`)).toEqual(everything.slice(3));
  expect(await list('?limit=1')).toEqual(everything.slice(3));
  expect((await sandbox.get('/_sandbox/calls?state=lost')).status).toBe(422);
  await sandbox.post('/_sandbox/inbound', { number: '+12125550199', from: '+12125550150' });
  expect(await list('?direction=inbound')).toEqual([]);
  await sandbox.advance(3_600_000);
  await sandbox.post('/_sandbox/inbound', { number: '+12125550199', from: '+12125550150' });
  expect(await list('?direction=inbound')).toEqual(['0150 1 in_progress']);
  expect(await list('?direction=any')).toHaveLength(5);
});

test.each<[Json, Json]>([
  [{ result: 'busy' }, { result: 'busy', state: 'failed', transcriptTurns: 0 }],
  [{ result: 'no_answer' }, { result: 'no_answer', state: 'failed' }],
  [{ result: 'failed' }, { result: 'failed', state: 'failed' }],
  [{ result: 'voicemail' }, { result: 'voicemail', state: 'done' }],
  [
    { result: 'answered', silent: true },
    { result: 'answered', state: 'done', silent: true },
  ],
  [
    { result: 'answered', opts_out: true },
    { result: 'answered', state: 'done', optedOut: true },
  ],
])('a queued call that is told %j does so when it is dialled', async (told, expected) => {
  const sandbox = await startTestSandbox({ ...onHold, concurrency: 1 });
  await sandbox.batch(['+12125550102', '+12125550100', '+12125550101']);
  // The neighbours have other results than any of these are told.
  const queued = sandbox.calls()[1];
  expect((await course(sandbox, queued?.callId, told)).body).toMatchObject({ state: 'queued', result: null });
  await sandbox.advance(3_600_000);
  const calls = sandbox.calls();
  expect(calls[1]).toMatchObject(expected);
  expect([calls[0]?.result, calls[2]?.result]).toEqual(['no_answer', 'busy']);
});

test('a call that rings takes its new course at once', async () => {
  const sandbox = await startTestSandbox(onHold);
  await sandbox.batch(['+12125550102', '+12125550101']);
  const [ringing, other] = sandbox.calls();
  await sandbox.advance(1_000);
  expect((await course(sandbox, ringing?.callId, { result: 'answered', talk_seconds: 120 })).body).toMatchObject({
    state: 'in_progress',
    result: 'answered',
  });
  expect((await course(sandbox, other?.callId, { result: 'failed' })).body).toMatchObject({
    state: 'failed',
    result: 'failed',
    endedAt: noon + 1_000,
  });
  await sandbox.advance(119_000);
  expect(sandbox.calls()[0]?.state).toBe('in_progress');
  await sandbox.advance(600_000);
  expect(sandbox.calls()[0]).toMatchObject({ state: 'done', result: 'answered' });
  const record = await sandbox.read(`/v1/convai/conversations/${ringing?.conversationId}`);
  expect(record.metadata.duration).toBeGreaterThanOrEqual(120);
  expect((await sandbox.read('/_sandbox/info')).counts.lines_in_use).toBe(0);
});

test('a call in progress can be hung up; what was said until then stays', async () => {
  const sandbox = await startTestSandbox({ ...onHold, concurrency: 1, meanTalkSeconds: 200 });
  await sandbox.batch(['+12125550100', '+12125550101']);
  await sandbox.advance(60_000);
  const { body } = await course(sandbox, sandbox.calls()[0]?.callId, { hang_up: 'now' });
  expect(body).toMatchObject({ state: 'processing', endedAt: noon + 60_000 });
  // Its line is free for the next.
  expect(sandbox.calls()[1]?.dialedAt).toBe(noon + 60_000);
  await sandbox.advance(60_000);
  const record = await sandbox.read(`/v1/convai/conversations/${body.conversationId}`);
  expect(record).toMatchObject({ status: 'done', termination_reason: 'The call was hung up.' });
  expect(record.transcript.length).toBeGreaterThan(0);
  expect(record.transcript.every((turn: Json) => Date.parse(turn.timestamp) < noon + 60_000)).toBe(true);
});

test('a course that comes too late is refused with the present state', async () => {
  const sandbox = await startTestSandbox({ ...onHold, concurrency: 1 });
  await sandbox.batch(['+12125550100', '+12125550101']);
  const [first, second] = sandbox.calls();
  const refused = async (callId: string | undefined, body: Json): Promise<[number, string]> => {
    const answer = await course(sandbox, callId, body);
    return [answer.status, answer.body.detail.code];
  };
  expect(await refused(first?.callId, { hang_up: 'now' })).toEqual([409, 'call_is_dialing']);
  expect(await refused(second?.callId, { hang_up: 'now' })).toEqual([409, 'call_is_queued']);
  await sandbox.advance(15_000);
  expect(await refused(first?.callId, { result: 'busy' })).toEqual([409, 'call_is_in_progress']);
  await sandbox.advance(3_600_000);
  expect(await refused(first?.callId, { hang_up: 'now' })).toEqual([409, 'call_is_done']);
  expect(await refused(second?.callId, { result: 'answered' })).toEqual([409, 'call_is_failed']);
  expect((await course(sandbox, 'call_none', { result: 'busy' })).status).toBe(404);
});

test('a course that cannot be is refused, and changes nothing', async ({ sandbox }) => {
  await sandbox.batch(['+12125550100']);
  const [call] = sandbox.calls();
  for (const body of [
    {},
    { result: 'rang' },
    { result: 'busy', silent: true },
    { result: 'voicemail', opts_out: true },
    { result: 'no_answer', talk_seconds: 5 },
    { result: 'busy', analysis: { after_minutes: 5 } },
    { result: 'answered', talk_seconds: 0 },
    { result: 'answered', hang_up: 'now' },
    { hang_up: 'later' },
  ])
    expect([body, (await course(sandbox, call?.callId, body)).status]).toEqual([body, 422]);
  expect(sandbox.calls()).toEqual([call]);
});

test('the next calls to a number take the courses that were ordered, in their order', async () => {
  const sandbox = await startTestSandbox(onHold);
  const order = (result: string) => sandbox.post('/_sandbox/numbers/next-course', { to: '+12125550100', result });
  expect((await order('busy')).body).toEqual({ to: '+12125550100', ordered: 1 });
  expect((await order('no_answer')).body.ordered).toBe(2);
  for (let nth = 0; nth < 3; nth += 1) {
    await sandbox.batch(['+12125550100', ...plainNumbers(1)]);
    await sandbox.advance(3_600_000);
  }
  const results = sandbox.calls().filter(({ to }) => to === '+12125550100');
  expect(results.map(({ result }) => result)).toEqual(['busy', 'no_answer', 'answered']);
});

const scripted = {
  after_minutes: 30,
  collected: { appointment: ['monday', { at: 9 }], unasked: null },
  evaluation: { goal_reached: 'failure' },
  later: { after_minutes: 60, collected: { appointment: 'declined' }, evaluation: { goal_reached: 'success' } },
};

test.each<[string, (sandbox: TestSandbox) => Promise<unknown>, (sandbox: TestSandbox) => Promise<unknown>]>([
  ['people', (sandbox) => sandbox.put('/_sandbox/world', { people: [{ number, analysis: scripted }] }), async () => {}],
  [
    'a next course',
    (sandbox) => sandbox.post('/_sandbox/numbers/next-course', { to: number, result: 'answered', analysis: scripted }),
    async () => {},
  ],
  ['a course', async () => {}, (sandbox) => course(sandbox, sandbox.calls()[0]?.callId, { result: 'voicemail', analysis: scripted })],
])('%s may script an analysis: when it comes, what it finds, and what changes later, also after an import', async (_by, before, after) => {
  const first = await startTestSandbox({ ...onHold, concurrency: 1 });
  await before(first);
  await first.batch(['+12125550102', number]);
  const sandbox = await startTestSandbox({ ...onHold, concurrency: 1 });
  const move = async (from: TestSandbox, to: TestSandbox) => {
    expect((await to.request('POST', '/_sandbox/import', (await from.get('/_sandbox/export')).body)).status).toBe(200);
  };
  await after({ ...first, calls: () => first.calls().slice(1) });
  await move(first, sandbox);
  await sandbox.advance(1_200_000);
  const call = sandbox.calls()[1];
  expect(call).toMatchObject({ agentNumber: '+12125550199', state: 'processing', to: number });
  await move(sandbox, first);
  const readAt = async (ms: number): Promise<Json> => {
    const until = new Date((call?.endedAt ?? 0) + ms).toISOString();
    expect((await first.post('/_sandbox/clock/advance', { until })).status).toBe(200);
    return await first.read(`/v1/convai/conversations/${call?.conversationId}`);
  };
  expect(await readAt(1_799_999)).toMatchObject({ status: 'processing', analysis: null, collected_data: {}, evaluation_results: {} });
  const found = await readAt(1_800_000);
  expect(found).toMatchObject({
    status: 'done',
    collected_data: { appointment: { value: ['monday', { at: 9 }] }, unasked: { value: null }, opt_out: { value: false } },
    evaluation_results: { goal_reached: { result: 'failure', score: 0 } },
    analysis: { call_successful: 'failure', transcript_summary: expect.stringContaining('appointment: ["monday",{"at":9}]') },
  });
  expect(await first.read(`/?view=call&id=${call?.callId}`)).toContain('<strong>unasked</strong>');
  expect(await readAt(3_599_999)).toEqual(expect.objectContaining({ analysis: found.analysis }));
  expect(await readAt(3_600_000)).toMatchObject({
    collected_data: { appointment: { value: 'declined' }, unasked: { value: null } },
    analysis: { call_successful: 'success' },
  });
});

test('an analysis that cannot be is refused by the name of its field', async ({ sandbox }) => {
  await sandbox.batch([number]);
  const refused: [Json, string][] = [
    [{ after_minutes: -1 }, 'after_minutes'],
    [{ after_minutes: 'soon' }, 'after_minutes'],
    [{ evaluation: { goal_reached: 'maybe' } }, 'evaluation,goal_reached'],
    [{ after_minutes: 'never', later: { after_minutes: 5 } }, 'later,after_minutes'],
    [{ after_minutes: 5, later: { after_minutes: 5 } }, 'later,after_minutes'],
    [{ collects: {} }, 'collects'],
  ];
  for (const [analysis, field] of refused) {
    const { status, body } = await course(sandbox, sandbox.calls()[0]?.callId, { result: 'answered', analysis });
    expect([status, body.detail.map(({ loc }: Json) => String(loc))]).toEqual([422, [`body,analysis,${field}`]]);
  }
});

test('a forced course is the same for the same seed', async () => {
  const run = async (): Promise<Json> => {
    const sandbox = await startTestSandbox({ ...onHold, concurrency: 1 });
    await sandbox.batch(plainNumbers(3));
    await course(sandbox, sandbox.calls()[2]?.callId, { result: 'answered' });
    await sandbox.advance(3_600_000);
    const record = await sandbox.read(`/v1/convai/conversations/${sandbox.calls()[2]?.conversationId}`);
    return { ...record, audio: null };
  };
  const first = await run();
  expect(first.transcript.length).toBeGreaterThan(2);
  expect(await run()).toEqual(first);
});

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

test.for([
  ['batch_received', 0],
  ['batch_work_done', 1],
] as const)('a gate at %s holds the request there until released', async ([point, accepted], { sandbox }) => {
  const gate = await sandbox.post('/_sandbox/gates', { point });
  let answered = false;
  const pending = sandbox.batch([number], {}, 'b1/1').then((answer) => {
    answered = true;
    return answer;
  });
  const reached = await sandbox.get(`/_sandbox/gates/wait?point=${point}&nth=1`);
  expect(reached.body).toMatchObject({ id: gate.body.id, reached: true, request: { requestId: 'b1/1' } });
  expect([answered, sandbox.calls().length]).toEqual([false, accepted]);
  expect((await sandbox.post('/_sandbox/gates/release', {})).body.released).toBe(1);
  expect((await pending).status).toBe(200);
  expect(sandbox.calls()).toHaveLength(1);
});

test('a gate lets pass until its nth request', async ({ sandbox }) => {
  await sandbox.batch([number]);
  await sandbox.post('/_sandbox/gates', { point: 'batch_received', nth: 2 });
  await sandbox.batch(['+12125550151']);
  expect((await sandbox.read('/_sandbox/gates/wait?point=batch_received&timeout_ms=0')).reached).toBe(false);
  const held = sandbox.batch(['+12125550152']);
  expect((await sandbox.read('/_sandbox/gates/wait?point=batch_received&nth=2')).reached).toBe(true);
  sandbox.gates.release();
  await held;
});

test('a gate at batch_replied tells that the reply went out', async ({ sandbox }) => {
  await sandbox.post('/_sandbox/gates', { point: 'batch_replied' });
  const waiting = sandbox.get('/_sandbox/gates/wait?point=batch_replied');
  await sandbox.batch([number]);
  expect((await waiting).body.reached).toBe(true);
});

test('closing lets go what waits at a gate', async ({ sandbox }) => {
  const id = sandbox.gates.set('batch_received');
  const lost = sandbox.batch([number]).then(
    () => 'answered',
    () => 'cut',
  );
  await sandbox.gates.waitUntilReached(id, 5_000);
  await sandbox.close();
  expect(['cut', 'answered']).toContain(await lost);
});

test('a gate that is not there is 404, one at an unknown point 422', async ({ sandbox }) => {
  expect((await sandbox.get('/_sandbox/gates/wait?point=batch_received')).status).toBe(404);
  expect((await sandbox.post('/_sandbox/gates/release', { id: 'gate_9' })).status).toBe(404);
  expect((await sandbox.post('/_sandbox/gates', { point: 'nowhere' })).status).toBe(422);
});

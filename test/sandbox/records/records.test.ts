import { expect, test } from 'vitest';
import { WorldError } from '../../../src/sandbox/core/world/read-world.ts';
import type { WorldInput } from '../../../src/sandbox/core/world/schema.ts';
import { noon, plainNumbers, startTestSandbox, type Json, type TestSandbox } from '../harness.ts';
import { recallTalk } from '../../../src/sandbox/convai/records/seen-conversation.ts';
import { failedCourse } from '../../../src/sandbox/core/telephony/callee.ts';
import type { Call } from '../../../src/sandbox/core/state/call.ts';

const onHold = { clock: 'manual', epochMs: noon } as const;
const line = 'Hello Ada, this is the clinic about your visit.';
const hourMs = 3_600_000;

function worldWith(records: WorldInput['records'], more: WorldInput = {}): WorldInput {
  return { population: [{ reach: {} }], records, ...more };
}

async function callAll(sandbox: TestSandbox, numbers: string[]): Promise<Json[]> {
  const calls = numbers.map((number) => ({
    to_phone_number: number,
    conversation_config_override: { agent: { first_message: line } },
    variables: { carillon_ref: `ref ${number}` },
  }));
  await sandbox.batch([], { calls });
  await sandbox.advance(hourMs);
  return readRecords(sandbox);
}

async function readRecords(sandbox: TestSandbox): Promise<Json[]> {
  const ids = sandbox.calls().map(({ conversationId }) => conversationId);
  return Promise.all(ids.map(async (id) => await sandbox.read(`/v1/convai/conversations/${id}`)));
}

function firstLineOf(record: Json): string {
  return record.transcript.find(({ speaker }: Json) => speaker === 'agent').text;
}

function start(world: WorldInput, more = {}): Promise<TestSandbox> {
  return startTestSandbox({ ...onHold, concurrency: 100, world, ...more });
}

test('records tell what was said, unless the world says otherwise', async () => {
  const records = await callAll(await start(worldWith({})), plainNumbers(20));
  expect(new Set(records.map(firstLineOf))).toEqual(new Set([line]));
});

test.for([
  ['altered', (text: string) => text.length === line.length && text !== line],
  ['shortened', (text: string) => line.startsWith(text) && text !== line],
  ['bare_hello', (text: string) => text === 'Hello'],
] as const)('the first line of the agent is %s in as many records as asked for', async ([habit, fits]) => {
  const records = await callAll(await start(worldWith({ [habit]: 0.5 })), plainNumbers(60));
  const changed = records.map(firstLineOf).filter((text) => text !== line);
  expect(changed.every(fits)).toBe(true);
  expect(changed.length).toBeGreaterThan(18);
  expect(changed.length).toBeLessThan(42);
});

test('what a record tells depends on the number and on which dial it was, not on the batch', async () => {
  const habits = worldWith({ altered: 0.3, shortened: 0.3, withheld: 0.2 });
  const told = async (batches: string[][]): Promise<Map<string, Json>> => {
    const sandbox = await start(habits);
    for (const numbers of batches) await callAll(sandbox, numbers);
    const calls = sandbox.calls();
    const records = await readRecords(sandbox);
    return new Map(records.map((record, index) => [calls[index]?.to ?? '', record.transcript.map((turn: Json) => turn.text)]));
  };
  const numbers = plainNumbers(12);
  const [together, apart] = [await told([numbers]), await told([numbers.slice(6).toReversed(), numbers.slice(0, 6)])];
  for (const number of numbers) expect(apart.get(number)?.[0]).toEqual(together.get(number)?.[0]);
});

test('withheld words leave an empty transcript or none, with the results or without', async () => {
  for (const dialect of ['spec', 'extended']) {
    const [record] = await callAll(await start(worldWith({ withheld: 1 }), { dialect }), ['+12125550108']);
    expect(record).toMatchObject({ transcript: [], audio: expect.any(String), collected_data: { opt_out: { value: true } } });
    const silent = worldWith({ withheld: 1, withheld_form: 'absent', withheld_results: true });
    const [less] = await callAll(await start(silent, { dialect }), ['+12125550108']);
    expect(less).toMatchObject({ audio: null, collected_data: {}, metadata: { duration: expect.any(Number) } });
    expect(less).not.toHaveProperty('transcript');
  }
});

test('number, batch, what was sent along and direction are told in some records only', async () => {
  const habits = worldWith({ number_shown: 0.5, batch_shown: 0.5, reference_shown: 0.5, direction_shown: 0 });
  const records = await callAll(await start(habits), plainNumbers(40));
  for (const shows of [
    ({ metadata }: Json) => 'external_number' in metadata.phone_call,
    ({ metadata }: Json) => 'batch_call' in metadata,
    (record: Json) => 'conversation_initiation_client_data' in record,
  ]) {
    const share = records.filter(shows).length / records.length;
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.75);
  }
  expect(JSON.stringify(records)).not.toContain('direction');
});

test('the record of a call that nobody answered is bare, or its duration counts the ring, or there is none', async () => {
  const unanswered = async (habit: 'full' | 'bare' | 'ring' | 'none'): Promise<Json> => {
    const sandbox = await start(worldWith({ unanswered: habit }));
    await sandbox.batch(['+12125550102']);
    await sandbox.advance(hourMs);
    const [call] = sandbox.calls();
    expect(call?.result).toBe('no_answer');
    return call?.conversationId == null ? null : await sandbox.read(`/v1/convai/conversations/${call.conversationId}`);
  };
  expect(await unanswered('full')).toMatchObject({
    metadata: { duration: 0, phone_call: { call_result: 'no_answer' }, termination_reason: 'Nobody answered.' },
  });
  const bare = await unanswered('bare');
  expect(bare).toMatchObject({ transcript: [], metadata: { duration: 0, termination_reason: '' } });
  expect(bare.metadata.phone_call).not.toHaveProperty('call_result');
  expect((await unanswered('ring')).metadata.duration).toBeGreaterThan(20);
  expect(await unanswered('none')).toBeNull();
});

test('a record comes into the list late, in the place where it belongs, and can be read before', async () => {
  const sandbox = await start(worldWith({ listed_late: { share: 0.5, from_seconds: 7_200, to_seconds: 7_200 } }));
  const listed = async (): Promise<string[]> =>
    (await sandbox.read('/v1/convai/conversations?page_size=100')).conversations.map((entry: Json) => entry.conversation_id);
  await callAll(sandbox, plainNumbers(20));
  const early = await listed();
  expect(early.length).toBeGreaterThan(3);
  expect(early.length).toBeLessThan(17);
  expect(sandbox.calls().filter(({ visible }) => visible)).toHaveLength(early.length);
  await sandbox.advance(2 * hourMs);
  const all = await listed();
  expect(all).toHaveLength(20);
  expect(all.filter((id) => early.includes(id))).toEqual(early);
});

test('some calls wait in front of the lines for minutes after they were accepted', async () => {
  const world = { population: [{ reach: {} }], late_rings: { share: 0.5, from_seconds: 300, to_seconds: 600 } };
  const sandbox = await start(world);
  await sandbox.batch(plainNumbers(30));
  const waiting = sandbox.calls().filter(({ state }) => state === 'queued');
  expect(waiting.length).toBeGreaterThan(6);
  expect(waiting.length).toBeLessThan(24);
  await sandbox.advance(600_000);
  const late = sandbox.calls().filter(({ callId }) => waiting.some((call) => call.callId === callId));
  for (const { acceptedAt, dialedAt } of late) expect((dialedAt ?? 0) - acceptedAt).toBeGreaterThanOrEqual(300_000);
  expect(sandbox.calls().every(({ state }) => state !== 'queued')).toBe(true);
});

test('habits of records are checked, shown and replaced with the world', async () => {
  await expect(startTestSandbox({ world: { records: { altered: 2 } } })).rejects.toThrow(WorldError);
  await expect(startTestSandbox({ world: { records: { alterd: 1 } as never } })).rejects.toThrow('alterd');
  await expect(startTestSandbox({ world: { late_rings: { from_seconds: 5, to_seconds: 1 } } })).rejects.toThrow(
    'from_seconds must not be above to_seconds',
  );
  const sandbox = await start(worldWith({ altered: 0.25 }));
  expect((await sandbox.read('/_sandbox/info')).settings.records).toMatchObject({ altered: 0.25, number_shown: 1 });
  await sandbox.put('/_sandbox/world', { records: { number_shown: 0 } });
  expect((await sandbox.read('/_sandbox/info')).settings.records).toMatchObject({ altered: 0, number_shown: 0 });
});

test('a step of the clock shows in Date and in what is recorded from then on; calls go on as they would have', async () => {
  const sandbox = await start(worldWith({}));
  const [before] = await callAll(sandbox, ['+12125550100']);
  const { body } = await sandbox.post('/_sandbox/clock/step', { ms: -28 * 60_000 });
  expect(body).toMatchObject({ shown_offset_ms: -28 * 60_000, now_ms: noon + hourMs });
  const answer = await sandbox.batch(['+13125550100']);
  expect(Date.parse(answer.headers.get('date') ?? '')).toBe(noon + hourMs - 28 * 60_000);
  await sandbox.advance(60_000);
  const [same, after] = await readRecords(sandbox);
  expect(same).toEqual(before);
  expect(after.metadata.start_time).toBe(new Date(noon + hourMs - 28 * 60_000).toISOString());
  expect(sandbox.calls()[1]).toMatchObject({ acceptedAt: noon + hourMs, dialedAt: noon + hourMs });
  await sandbox.post('/_sandbox/clock/step', { ms: 30 * 60_000 });
  const { headers } = await sandbox.get('/v1/convai/agents');
  expect(Date.parse(headers.get('date') ?? '')).toBe(noon + hourMs + 3 * 60_000);
  expect((await sandbox.post('/_sandbox/clock/step', { ms: 1.5 })).status).toBe(422);
});

test('the Date header can be left out', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: '*', effect: { type: 'no_date' } }] });
  expect((await sandbox.get('/v1/convai/agents')).headers.get('date')).toBeNull();
  expect((await sandbox.batch(['+12125550120'])).headers.get('date')).toBeNull();
});

test("a call of somebody else's leaves a record like any other, and is none of the caller's", async () => {
  const sandbox = await start({});
  await sandbox.batch(['+12125550101']);
  const placed = await sandbox.post('/_sandbox/outbound', {
    phone_number_id: 'pn_main',
    to: '+12125550101',
    first_message: line,
    result: 'answered',
  });
  expect(placed.body).toMatchObject({ batchId: null, requestId: null, agentId: 'agent_reminders' });
  await sandbox.advance(hourMs);
  const [ours, foreign] = await readRecords(sandbox);
  expect(foreign.metadata).not.toHaveProperty('batch_call');
  expect(foreign).toMatchObject({ metadata: { phone_call: { external_number: '+12125550101', direction: 'outbound' } } });
  expect(firstLineOf(foreign)).toBe(line);
  expect(ours.metadata.phone_call.call_result).toBe('busy');
  expect(sandbox.conduct().checks.flatMap(({ violations }) => violations)).toEqual([]);
  await sandbox.batch(['+12125550101']);
  expect(sandbox.calls().map(({ nth, batchId }) => [nth, batchId === null])).toEqual([
    [1, false],
    [1, true],
    [2, false],
  ]);
});

function callThatEnds(at: number): Call {
  const call: Partial<Call> = { live: null, agent: null, course: failedCourse(at, 'Over.') };
  return call as Call;
}

test('what was said is made out once while it is looked at, and anew for a call that takes another course', () => {
  const call = callThatEnds(1_000);
  const talk = recallTalk('seed', call);
  expect(recallTalk('seed', call)).toBe(talk);
  call.course = failedCourse(2_000, 'Over later.');
  expect(recallTalk('seed', call).endedAt).toBe(2_000);
});

test('a talk that has not ended is never remembered', () => {
  const call = callThatEnds(Infinity);
  expect(recallTalk('seed', call)).not.toBe(recallTalk('seed', call));
});

test('no more than a thousand talks are remembered, those looked at last', () => {
  const [kept, forgotten] = [callThatEnds(1), callThatEnds(2)];
  const [keptTalk, forgottenTalk] = [recallTalk('seed', kept), recallTalk('seed', forgotten)];
  for (let nth = 0; nth < 999; nth += 1) {
    recallTalk('seed', callThatEnds(nth));
    recallTalk('seed', kept);
  }
  expect(recallTalk('seed', kept)).toBe(keptTalk);
  const again = recallTalk('seed', forgotten);
  expect(again).not.toBe(forgottenTalk);
  expect(again).toEqual(forgottenTalk);
});

test('what a record tells of a choice before it is done is corrected once it is, where the world says so', async () => {
  const told = async (records: WorldInput['records'], more = {}): Promise<{ early: unknown[]; late: unknown }> => {
    const sandbox = await start(worldWith(records), more);
    const [number = ''] = plainNumbers(1);
    await sandbox.batch([], { calls: [{ to_phone_number: number }] });
    const early: unknown[] = [];
    for (let seconds = 0; seconds < 600; seconds += 1) {
      await sandbox.advance(1_000);
      const [record] = await readRecords(sandbox).catch(() => []);
      if (record?.status === 'processing') early.push(record.collected_data.appointment?.value);
      if (record?.status === 'done') return { early: [...new Set(early)], late: record.collected_data.appointment?.value };
    }
    throw new Error('the call never ends');
  };
  const plain = await told({});
  expect(plain.early).toEqual([undefined]);
  const drafted = await told({ draft_analysis: 1 });
  expect(drafted.late).toBe(plain.late);
  expect(drafted.early).toEqual([expect.stringMatching(/^(?:confirmed|reschedule|declined)$/)]);
  expect(drafted.early).not.toContain(drafted.late);
});

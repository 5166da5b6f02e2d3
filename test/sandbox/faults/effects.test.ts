import { createConnection, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect } from 'vitest';
import type { FaultRuleInput } from '../../../src/sandbox/faults/rule.ts';
import { drawLatency, faultEffect, type Latency } from '../../../src/sandbox/faults/effect.ts';
import { changeReply } from '../../../src/sandbox/faults/reply-changes.ts';
import { faultPresets } from '../../../src/sandbox/faults/presets.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { noon, plainNumbers, startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';

const number = '+12125550150';
const list = '/v1/convai/conversations';

async function withConversations(count: number, rules: FaultRuleInput[]): Promise<TestSandbox> {
  const sandbox = await startTestSandbox();
  for (const to of plainNumbers(count)) {
    await sandbox.batch([to]);
    sandbox.clock.advance(1_000);
  }
  sandbox.clock.advance(3_600_000);
  sandbox.addFaults(rules);
  return sandbox;
}

/** By hand, so that what HTTP clients hide can be seen. */
async function openRaw(sandbox: TestSandbox, path: string, connection = 'close'): Promise<Socket> {
  const socket = createConnection({ host: '127.0.0.1', port: sandbox.port });
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: sk_sandbox_ok\r\nconnection: ${connection}\r\n\r\n`);
  return socket;
}

test.each([
  ['before', 0],
  ['after', 1],
] as const)('no answer comes when it is dropped %s the work, and the connection waits for the caller', async (when, done) => {
  const sandbox = await startTestSandbox({ faults: [{ id: 'd', operation: 14, effect: { type: 'drop', when } }] });
  const giveUp = new AbortController();
  const answer = sandbox.batch([number], {}, undefined, { signal: giveUp.signal });
  await expect.poll(() => sandbox.journal()[0]?.faults).toEqual(['d']);
  await expect.poll(() => sandbox.calls().length).toBe(done);
  expect(sandbox.journal()[0]?.ending).toBe('in_progress');
  giveUp.abort();
  await expect(answer).rejects.toThrow(/abort/i);
  await expect.poll(() => sandbox.journal()[0]?.ending).toBe('aborted');
});

test('the sandbox closes at once, whoever still waits for a dropped answer', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 2, effect: { type: 'drop', when: 'after' } }] });
  const socket = await openRaw(sandbox, '/v1/convai/agents');
  const closed = once(socket, 'close');
  socket.on('error', () => {});
  await expect.poll(() => sandbox.journal()[0]?.faults.length).toBe(1);
  await sandbox.close();
  await closed;
});

test('a reply can come in drops, whole in the end', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 2, nth: 1, effect: { type: 'dribble', bytes: 20, pauseMs: 5 } }] });
  const socket = await openRaw(sandbox, '/v1/convai/agents');
  const pieces: string[] = [];
  for await (const piece of socket) pieces.push(String(piece));
  const [head = '', body = ''] = pieces.join('').split('\r\n\r\n');
  expect(pieces.length).toBeGreaterThan(5);
  expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
  expect(JSON.parse(body)).toEqual(await sandbox.read('/v1/convai/agents'));
});

test('a reply can break off in the middle of what it announced', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 2, nth: 1, effect: { type: 'truncate', ending: 'broken' } }] });
  const socket = await openRaw(sandbox, '/v1/convai/agents', 'keep-alive');
  let text = '';
  for await (const piece of socket) text += String(piece);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const announced = Number(/content-length: (\d+)/.exec(head)?.[1]);
  expect(announced).toBe(JSON.stringify(await sandbox.read('/v1/convai/agents')).length);
  expect(body).toHaveLength(Math.floor(announced / 2));
  await expect.poll(() => sandbox.journal()[0]?.ending).toBe('aborted');
});

test.each<[Latency, number, number, number]>([
  [{ distribution: 'uniform', from: 100, to: 300 }, 200, 100, 300],
  [{ distribution: 'normal', mean: 200, deviation: 30 }, 200, 50, 350],
  [{ distribution: 'log_normal', mean: 200, sigma: 0.5 }, 200, 20, 1_500],
  [{ distribution: 'normal', mean: 0, deviation: 0 }, 0, 0, 0],
  [120, 120, 120, 120],
])('latency %j has the mean %i and stays from %i to %i', (latency, mean, least, most) => {
  const drawn = Array.from({ length: 2_000 }, (_, index) => drawLatency(latency, new Random('s', index)));
  const average = drawn.reduce((sum, ms) => sum + ms, 0) / drawn.length;
  expect(Math.abs(average - mean)).toBeLessThanOrEqual(mean * 0.05);
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(least);
  expect(Math.max(...drawn)).toBeLessThanOrEqual(most);
});

test('a drawn latency is waited for', async () => {
  const ms = { distribution: 'uniform', from: 50, to: 60 } as const;
  const sandbox = await startTestSandbox({ faults: [{ operation: 2, effect: { type: 'delay', ms } }] });
  await sandbox.get('/v1/convai/agents');
  await expect.poll(() => sandbox.journal()[0]?.durationMs ?? 0).toBeGreaterThanOrEqual(45);
});

const entries = [1, 2, 3].map((nth) => ({ conversation_id: `c${nth}`, at: { start: nth, end: nth }, status: 'done' }));
const pageOf = (conversations: Json[]) => ({ conversations, next_cursor: 'next', has_more: true });
const page = pageOf(entries);
const [one] = entries;
const shuffles = ['132', '213', '231', '312', '321'].map((order) => order.split('').map((nth) => entries[Number(nth) - 1]));
const needed = { conversation_id: 'c1', agent_id: 'a', calls_initiated: 1 };

/** Each with all that it may make of a body. */
type Change = [
  effect: FaultRuleInput['effect'],
  of: 'get_conversation' | 'list_conversations' | 'batch_calls',
  body: Json,
  changed: Json[],
];
test.each<Change>([
  [{ type: 'duplicate' }, 'list_conversations', page, entries.map((each, nth) => pageOf(entries.toSpliced(nth, 0, each)))],
  [{ type: 'leave_out' }, 'list_conversations', page, entries.map((_, nth) => pageOf(entries.toSpliced(nth, 1)))],
  [{ type: 'reorder' }, 'list_conversations', page, shuffles.map(pageOf)],
  [{ type: 'missing_field', field: 'at.start' }, 'get_conversation', one, [{ ...one, at: { end: 1 } }]],
  // Drawn, it is a field that a caller can do without.
  [
    { type: 'missing_field' },
    'get_conversation',
    { ...needed, first: 1, second: 2 },
    [
      { ...needed, first: 1 },
      { ...needed, second: 2 },
    ],
  ],
  [{ type: 'unknown_field', field: 'mood', value: { score: 3 } }, 'get_conversation', one, [{ ...one, mood: { score: 3 } }]],
  [
    { type: 'unknown_field', field: 'mood' },
    'list_conversations',
    page,
    [pageOf(entries.map((each) => ({ ...each, mood: 'unheard of' })))],
  ],
  [{ type: 'unknown_value' }, 'get_conversation', one, [{ ...one, status: 'introduced_later' }]],
  [{ type: 'wrong_count', by: -2 }, 'batch_calls', { calls_initiated: 3 }, [{ calls_initiated: 1 }]],
  [{ type: 'wrong_count' }, 'batch_calls', { calls_initiated: 0 }, [{ calls_initiated: 0 }]],
])('the effect %j changes what %s answers, the same way by the same draw', (input, operation, body, changed) => {
  const effect = faultEffect.parse(input);
  const draws = Array.from({ length: 120 }, (_, index) =>
    changeReply(JSON.stringify(body), [{ ruleId: 'r', effect, draw: () => new Random('s', index % 60) }], operation),
  );
  expect(new Set(draws)).toEqual(new Set(changed.map((each) => JSON.stringify(each))));
  expect(draws.slice(60)).toEqual(draws.slice(0, 60));
});

test('replies are changed on their way, while the work is done as ever', async () => {
  const sandbox = await withConversations(1, [
    { operation: 6, effect: { type: 'unknown_value' } },
    { operation: 14, effect: { type: 'wrong_count', by: -2 } },
  ]);
  expect(await sandbox.record(0)).toMatchObject({ status: 'introduced_later' });
  expect((await sandbox.batch(plainNumbers(3))).body.calls_initiated).toBe(1);
  expect(sandbox.calls()).toHaveLength(4);
});

const idsOf = ({ body }: { body: Json }): string[] => body.conversations.map(({ conversation_id: id }: Json) => id);

test('an entry of a list can stand in it twice, and the next page still follows', async () => {
  const sandbox = await withConversations(6, [{ operation: 7, effect: { type: 'duplicate' } }]);
  const first = await sandbox.get(`${list}?page_size=4`);
  expect([idsOf(first).length, new Set(idsOf(first)).size]).toEqual([5, 4]);
  const second = await sandbox.get(`${list}?page_size=4&cursor=${first.body.next_cursor}`);
  expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(6);
});

test('a record can have a field and a value that nobody knows', async () => {
  const sandbox = await withConversations(1, [
    { operation: 6, effect: { type: 'unknown_field', field: 'mood', value: { score: 3 } } },
    { operation: 6, effect: { type: 'unknown_value' } },
    { operation: 7, effect: { type: 'unknown_field' } },
  ]);
  expect(await sandbox.record(0)).toMatchObject({ mood: { score: 3 }, status: 'introduced_later' });
  const answer = await sandbox.read(list);
  expect(answer.conversations[0].introduced_later).toBe('unheard of');
  expect(answer).not.toHaveProperty('introduced_later');
});

test('a cursor can expire; a first page is not concerned', async () => {
  const sandbox = await withConversations(3, [{ operation: 7, effect: { type: 'expire_cursor' } }]);
  const first = await sandbox.get(`${list}?page_size=2`);
  expect(first.status).toBe(200);
  const second = await sandbox.get(`${list}?page_size=2&cursor=${first.body.next_cursor}`);
  expect([second.status, second.body.detail[0].loc]).toEqual([422, ['query', 'cursor']]);
});

test('times in a reply, and its Date header, can be off', async () => {
  const sandbox = await withConversations(1, [{ operation: 6, nth: 1, effect: { type: 'clock_skew', seconds: 90 } }]);
  const path = `${list}/${sandbox.calls()[0]?.conversationId}`;
  const [skewed, right] = [await sandbox.get(path), await sandbox.get(path)];
  const by = (read: (answer: typeof right) => number): number => read(skewed) - read(right);
  expect(by(({ body }) => Date.parse(body.metadata.start_time))).toBe(90_000);
  expect(by(({ body }) => body.metadata.start_time_unix_secs)).toBe(90);
  expect(by(({ headers }) => Date.parse(headers.get('date') ?? ''))).toBe(90_000);
  expect(skewed.body.metadata.duration).toBe(right.body.metadata.duration);
});

test('a key can be revoked: refused from then on, until the rule is gone', async () => {
  const sandbox = await startTestSandbox({
    apiKeys: ['another-key'],
    faults: [{ id: 'revoke', operation: 14, nth: 1, effect: { type: 'revoke_key' } }],
  });
  const status = async (): Promise<number> => (await sandbox.get('/v1/convai/agents')).status;
  expect(await status()).toBe(200);
  const refused = await sandbox.batch([number]);
  expect([refused.status, refused.body.detail.code]).toEqual([401, 'invalid_api_key']);
  expect(sandbox.calls()).toHaveLength(0);
  expect(await status()).toBe(401);
  const other = await sandbox.request('GET', '/v1/convai/agents', undefined, { headers: { 'x-api-key': 'another-key' } });
  expect(other.status).toBe(200);
  await sandbox.patch('/_sandbox/faults?id=revoke', { enabled: false });
  expect(await status()).toBe(200);
  await sandbox.patch('/_sandbox/faults?id=revoke', { enabled: true });
  expect(await status()).toBe(401);
  await sandbox.delete('/_sandbox/faults?id=revoke');
  expect(await status()).toBe(200);
});

test('the number can lose its agent or its verification, and the agent can vanish, under a batch', async () => {
  const sandbox = await startTestSandbox({
    faults: [
      { operation: 14, nth: 1, effect: { type: 'unassign_number' } },
      { operation: 14, nth: 2, effect: { type: 'unverify_number' } },
      { operation: 14, nth: 3, effect: { type: 'delete_agent', when: 'before' } },
    ],
  });
  expect((await sandbox.batch([number])).status).toBe(200);
  const numbers = await sandbox.read('/v1/convai/phone-numbers');
  expect(numbers.find((entry: Json) => entry.phone_number_id === 'pn_main').agent_id).toBeNull();
  expect((await sandbox.batch(['+12125550151'])).status).toBe(200);
  sandbox.clock.advance(10_000);
  await sandbox.get(list);
  expect(sandbox.calls()[1]?.result).toBe('failed');
  expect((await sandbox.batch(['+12125550152'])).status).toBe(404);
});

test('calls that wait when their agent is deleted after the batch was accepted fail', async () => {
  const sandbox = await startTestSandbox({
    concurrency: 1,
    faults: [{ operation: 14, nth: 1, effect: { type: 'delete_agent', when: 'after' } }],
  });
  expect((await sandbox.batch(['+12125550101', '+12125550150'])).body.calls_initiated).toBe(2);
  sandbox.clock.advance(3_600_000);
  await sandbox.get(list);
  expect(sandbox.calls().map(({ result }) => result)).toEqual(['busy', 'failed']);
});

test('a rule hits the requests alone that are as it says', async () => {
  const requests = {
    plain: {},
    survey: { agent_id: 'agent_survey' },
    second: { from_phone_number_id: 'pn_second' },
    marked: {},
    another: {},
  };
  const matches: [Partial<FaultRuleInput>, string][] = [
    [{ header: { name: 'X-Trace' } }, 'marked'],
    [{ header: { name: 'x-trace', equals: 'release-7' } }, 'marked'],
    [{ header: { name: 'x-trace', equals: 'release' } }, ''],
    [{ header: { name: 'x-trace', pattern: '^release-\\d$' } }, 'marked'],
    [{ agent: 'agent_survey' }, 'survey'],
    [{ number: 'pn_second' }, 'second'],
    [{ number: '+12125550133' }, 'another'],
    [{ number: '0133' }, 'another'],
    [{ number: 'main' }, ''],
  ];
  const faults = matches.map(([match], index): FaultRuleInput => ({
    id: String(index),
    operation: 14,
    ...match,
    effect: { type: 'error' },
  }));
  const sandbox = await startTestSandbox({ faults });
  const hit = matches.map(() => '');
  for (const [index, [name, more]] of Object.entries(requests).entries()) {
    const init = name === 'marked' ? { headers: { 'x-trace': 'release-7' } } : {};
    await sandbox.batch([number, name === 'another' ? '+12125550133' : '+12125550151'], more, undefined, init);
    for (const rule of sandbox.journal()[index]?.faults ?? []) hit[Number(rule)] += name;
  }
  expect(hit).toEqual(matches.map(([, name]) => name));
});

test('a rule about an agent or a number also knows the conversations with them', async () => {
  const sandbox = await withConversations(1, [
    { operation: 6, agent: 'agent_reminders', number: plainNumbers(1)[0] ?? '', effect: { type: 'error' } },
  ]);
  expect((await sandbox.get(`${list}/${sandbox.calls()[0]?.conversationId}`)).status).toBe(500);
});

test('a rule can hold for a while of service time, by instants or by seconds since it was added', async () => {
  const at = (seconds: number): string => new Date(noon + seconds * 1000).toISOString();
  const sandbox = await startTestSandbox({
    faults: [
      { operation: 2, period: { from: at(10), until: at(20) }, effect: { type: 'error', status: 501 } },
      { operation: 2, period: { from: 30, until: 40 }, effect: { type: 'error', status: 502 } },
    ],
  });
  const seen: number[] = [];
  for (let second = 0; second < 50; second += 5) {
    seen.push((await sandbox.get('/v1/convai/agents')).status);
    sandbox.clock.advance(5_000);
  }
  expect(seen).toEqual([200, 200, 501, 501, 200, 200, 502, 502, 200, 200]);
});

test('a rule can be switched off and on, and keeps its counts', async () => {
  const sandbox = await startTestSandbox({ faults: [{ id: 'f', operation: 2, effect: { type: 'error' } }] });
  const turn = (enabled: unknown, id = 'f') => sandbox.patch(`/_sandbox/faults?id=${id}`, { enabled });
  const status = async (): Promise<number> => (await sandbox.get('/v1/convai/agents')).status;
  expect(await status()).toBe(500);
  expect((await turn(false)).body.faults).toMatchObject([{ id: 'f', enabled: false, seen: 1, hits: 1 }]);
  expect(await status()).toBe(200);
  expect((await turn(true)).body.faults).toMatchObject([{ id: 'f', enabled: true, seen: 1, hits: 1 }]);
  expect(await status()).toBe(500);
  expect([(await turn(true, 'none')).status, (await turn('yes')).status]).toEqual([404, 422]);
});

test('the rules can be saved and restored, counts and revoked keys included, without any key in them', async () => {
  const { FaultRegistry } = await import('../../../src/sandbox/faults/book.ts');
  const request = { header: () => null, hasCursor: false, agentIds: () => [], numbers: () => [] };
  const book = new FaultRegistry('s', () => noon);
  book.add({ operation: 2, nth: 3, effect: { type: 'reset' } });
  const [revoking] = book.add({ operation: 1, effect: { type: 'revoke_key' } });
  book.match('list_agents', request);
  book.revoke(revoking?.id ?? '', 'the-key');
  const saved = JSON.stringify(book.save());
  expect(saved).not.toContain('the-key');
  const restored = new FaultRegistry('s', () => noon);
  restored.restore(JSON.parse(saved));
  expect([restored.isRevoked('the-key'), restored.isRevoked('another')]).toEqual([true, false]);
  expect([1, 2, 3].map(() => restored.match('list_agents', request).length)).toEqual([0, 1, 0]);
  expect(restored.add({ operation: 2, effect: { type: 'reset' } })[0]?.id).toBe('fault_3');
});

test('the presets are told, each with an id of its own', async ({ sandbox }) => {
  expect((await sandbox.read('/_sandbox/faults/presets')).presets).toEqual(JSON.parse(JSON.stringify(faultPresets)));
  expect(new Set(faultPresets.map(({ rule }) => rule.id)).size).toBe(faultPresets.length);
});

test.each(faultPresets.map((preset) => [preset.id, preset] as const))(
  'the preset %s is taken as a rule and felt',
  async (_id, { rule }) => {
    const sandbox = await withConversations(4, []);
    expect((await sandbox.post('/_sandbox/faults', rule)).status).toBe(200);
    const first = await sandbox.get(`${list}?page_size=3`).catch(() => null);
    const id = sandbox.calls()[0]?.conversationId;
    const patience = { signal: AbortSignal.timeout(2_000) };
    await sandbox.request('GET', `${list}?cursor=${first?.body?.next_cursor}`, undefined, patience).catch(() => null);
    const signal = AbortSignal.timeout(rule.effect.type === 'drop' ? 3_000 : 10_000);
    await sandbox.batch([number], {}, undefined, { signal }).catch(() => null);
    for (let read = 0; read < 30; read += 1) {
      if ((await sandbox.read('/_sandbox/faults')).faults[0].hits > 0) return;
      await sandbox.get(`${list}/${id}`).catch(() => null);
    }
    expect.unreachable('no request met the fault');
  },
);

test('a failure can be asked for by header where the sandbox is loose, and only there', async () => {
  const ask = (sandbox: TestSandbox, prefer: string) =>
    sandbox.request('GET', '/v1/convai/agents', undefined, { headers: { 'x-sandbox-prefer': prefer } });
  const loose = await startTestSandbox({ loose: true });
  const refused = await ask(loose, 'code=503');
  expect([refused.status, refused.body.detail.code]).toEqual([503, 'service_unavailable']);
  expect(loose.journal()[0]?.faults).toEqual(['x-sandbox-prefer']);
  expect((await ask(loose, 'code=200')).status).toBe(422);
  expect((await loose.get('/v1/convai/agents')).status).toBe(200);
  expect((await ask(await startTestSandbox(), 'code=503')).status).toBe(200);
});

test('the slow key is held back, and answered', async ({ sandbox }) => {
  const headers = { 'x-api-key': 'sk_sandbox_slow' };
  expect((await sandbox.request('GET', '/v1/convai/agents', undefined, { headers })).status).toBe(200);
  await expect.poll(() => sandbox.journal()[0]?.durationMs ?? 0).toBeGreaterThanOrEqual(990);
});

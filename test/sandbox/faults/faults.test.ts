import { expect, test } from 'vitest';
import { FaultBook } from '../../../src/sandbox/faults/book.ts';
import type { FaultedRequest } from '../../../src/sandbox/faults/match.ts';
import { readFaultRules, type FaultRuleInput } from '../../../src/sandbox/faults/rule.ts';
import { noon, startTestSandbox, type TestSandbox } from '../harness.ts';

const number = '+12125550150';

async function outcomeOf(sandbox: TestSandbox): Promise<string> {
  return sandbox.batch([number]).then(
    ({ status }) => String(status),
    (error: Error) => (error.cause as { code?: string } | undefined)?.code ?? error.message,
  );
}

test.each<[string, FaultRuleInput['effect'], string, number]>([
  ['429', { type: 'rate_limited' }, '429', 0],
  ['500 before the work', { type: 'error', when: 'before' }, '500', 0],
  ['500 after the work', { type: 'error', when: 'after' }, '500', 1],
  ['503 before the work', { type: 'error', status: 503 }, '503', 0],
  ['a gateway page before the work', { type: 'html', when: 'before' }, '502', 0],
  ['a gateway page after the work', { type: 'html', when: 'after' }, '502', 1],
])('%s', async (_what, effect, outcome, accepted) => {
  const sandbox = await startTestSandbox({ faults: [{ id: 'f', operation: 14, nth: 1, effect }] });
  expect(await outcomeOf(sandbox)).toBe(outcome);
  expect(sandbox.calls()).toHaveLength(accepted);
  expect(sandbox.journal()[0]).toMatchObject({ faults: ['f'], status: Number(outcome), ending: 'sent' });
  expect(await outcomeOf(sandbox)).toBe('200');
});

test.each([
  ['before', 0],
  ['after', 1],
] as const)('a connection reset %s the work', async (when, accepted) => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 'batch_calls', nth: 1, effect: { type: 'reset', when } }] });
  expect(['ECONNRESET', 'UND_ERR_SOCKET']).toContain(await outcomeOf(sandbox));
  expect(sandbox.calls()).toHaveLength(accepted);
  await expect.poll(() => sandbox.journal()[0]?.ending).toBe('aborted');
});

test.each([
  ['seconds', '3'],
  ['date', new Date(noon + 3_000).toUTCString()],
  ['none', null],
] as const)('429 announces the wait as %s', async (retryAfter, header) => {
  const effect = { type: 'rate_limited', retryAfter, seconds: 3, code: 'concurrent_limit_exceeded' } as const;
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, effect }] });
  const answer = await sandbox.batch([number]);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, header]);
  expect(answer.body.detail).toMatchObject({ type: 'rate_limit_error', code: 'concurrent_limit_exceeded' });
});

test.each([
  ['object', expect.objectContaining({ code: 'internal_error' })],
  ['legacy', { status: 'internal_error', message: expect.any(String) }],
  ['string', expect.any(String)],
  ['empty', undefined],
] as const)('an error body may be of the shape %s', async (body, detail) => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, effect: { type: 'error', body } }] });
  const answer = await sandbox.batch([number]);
  expect(answer.body?.detail).toEqual(detail);
});

test('a truncated reply is a success that cannot be read, and its work is done', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 1, effect: { type: 'truncate' } }] });
  const answer = await sandbox.batch([number]);
  expect(answer.status).toBe(200);
  expect(answer.body).toMatch(/^\{"batch_id":"/);
  expect(sandbox.calls()).toHaveLength(1);
});

test.each(['first', 'last'] as const)('a reply that comes too late, with the work done %s, is work done all the same', async (work) => {
  const sandbox = await startTestSandbox({ faults: [{ id: 'late', operation: 14, nth: 1, effect: { type: 'delay', ms: 2_000, work } }] });
  const giveUp = new AbortController();
  const path = '/v1/convai/phone-numbers/batch-calls';
  const body = { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls: [{ to_phone_number: number }] };
  const askedAt = performance.now();
  const answer = sandbox.request('POST', path, body, { signal: giveUp.signal });
  await expect.poll(() => sandbox.journal()[0]?.faults).toEqual(['late']);
  giveUp.abort();
  await expect(answer).rejects.toThrow(/abort/i);
  await expect.poll(() => sandbox.calls().length).toBe(1);
  if (work === 'last') expect(performance.now() - askedAt).toBeGreaterThan(1_990);
});

test('a batch can be accepted in part: the first calls are queued, and the reply says how many', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 1, effect: { type: 'partial', accept: 2 } }] });
  const answer = await sandbox.batch(['+12125550150', '+12125550151', '+12125550152']);
  expect(answer.body.calls_initiated).toBe(2);
  expect(sandbox.calls().map((call) => call.to)).toEqual(['+12125550150', '+12125550151']);
  expect(sandbox.journal()[0]).toMatchObject({ callsRequested: 3, callsAccepted: 2 });
});

test('new records can stay out of the list for a while, then stand where they belong', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 1, effect: { type: 'hide', ms: 60_000 } }] });
  await sandbox.batch(['+12125550150']);
  sandbox.clock.advance(1_000);
  await sandbox.batch(['+12125550151']);
  const listed = async (): Promise<unknown[]> =>
    (await sandbox.get('/v1/convai/conversations')).body.conversations.map((c: { conversation_id: string }) => c.conversation_id);
  const [hidden, plain] = sandbox.calls();
  expect([hidden?.visible, plain?.visible]).toEqual([false, true]);
  expect(await listed()).toEqual([plain?.conversationId]);
  sandbox.clock.advance(60_000);
  expect(await listed()).toEqual([plain?.conversationId, hidden?.conversationId]);
});

test('a reading of the list can lag behind', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 7, nth: 1, effect: { type: 'hide', ms: 5_000 } }] });
  await sandbox.batch([number]);
  expect((await sandbox.get('/v1/convai/conversations')).body.conversations).toHaveLength(0);
  expect((await sandbox.get('/v1/convai/conversations')).body.conversations).toHaveLength(1);
});

test('a record that is listed can be missing when it is read', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 'get_conversation', nth: 1, effect: { type: 'missing' } }] });
  await sandbox.batch([number]);
  const path = `/v1/convai/conversations/${sandbox.calls()[0]?.conversationId}`;
  expect([(await sandbox.get(path)).status, (await sandbox.get(path)).status]).toEqual([404, 200]);
});

test('two rules can hit one request', async () => {
  const faults: FaultRuleInput[] = [
    { operation: 14, nth: 1, effect: { type: 'partial', accept: 1 } },
    { operation: 14, nth: 1, effect: { type: 'error', when: 'after' } },
  ];
  const sandbox = await startTestSandbox({ faults });
  expect((await sandbox.batch(['+12125550150', '+12125550151'])).status).toBe(500);
  expect(sandbox.calls()).toHaveLength(1);
});

const anyRequest: FaultedRequest = { header: () => null, hasCursor: false, agentIds: () => [], numbers: () => [] };

function hitsOf(rule: FaultRuleInput, requests: number, seed = 's'): number[] {
  const book = new FaultBook(seed, () => noon);
  book.add(rule);
  return Array.from({ length: requests }, (_, index) => index + 1).filter(() => book.match('get_agent', anyRequest).length > 0);
}

const effect = { type: 'reset' } as const;
test.each<[FaultRuleInput, number[]]>([
  [{ operation: '*', nth: 3, effect }, [3]],
  [{ operation: 3, nth: [2, 5], effect }, [2, 5]],
  [{ operation: 'get_agent', every: 4, effect }, [4, 8]],
  [{ operation: '*', times: 2, effect }, [1, 2]],
  [{ operation: '*', every: 2, times: 1, effect }, [2]],
  [{ operation: 4, effect }, []],
  [{ operation: '*', probability: 0, effect }, []],
])('rule %j hits the requests %j of ten', (rule, expected) => {
  expect(hitsOf(rule, 10)).toEqual(expected);
});

test('probability is drawn from the seed', () => {
  const rule: FaultRuleInput = { id: 'p', operation: '*', probability: 0.3, effect };
  const hits = hitsOf(rule, 1000);
  expect(hits.length).toBeGreaterThan(230);
  expect(hits.length).toBeLessThan(370);
  expect(hitsOf(rule, 1000)).toEqual(hits);
  expect(hitsOf(rule, 1000, 'other')).not.toEqual(hits);
});

test('rules are added, listed and removed while the sandbox runs', async () => {
  const sandbox = await startTestSandbox();
  const added = await sandbox.request('POST', '/_sandbox/faults', [
    { operation: 14, effect: { type: 'error' } },
    { id: 'mine', operation: 1, effect: { type: 'error' } },
  ]);
  const [first] = added.body.faults;
  expect(await outcomeOf(sandbox)).toBe('500');
  const listed = (await sandbox.get('/_sandbox/faults')).body.faults;
  expect(listed.map((rule: { id: string; seen: number; hits: number }) => [rule.id, rule.seen, rule.hits])).toEqual([
    [first.id, 1, 1],
    ['mine', 0, 0],
  ]);
  expect((await sandbox.request('DELETE', `/_sandbox/faults?id=${first.id}`)).body.faults).toHaveLength(1);
  expect(await outcomeOf(sandbox)).toBe('200');
  expect((await sandbox.request('DELETE', '/_sandbox/faults?id=none')).status).toBe(404);
  expect((await sandbox.request('POST', '/_sandbox/faults', { id: 'mine', operation: 1, effect: { type: 'reset' } })).status).toBe(422);
  expect((await sandbox.request('DELETE', '/_sandbox/faults')).body.faults).toEqual([]);
});

test.each([
  [{ operation: 15, effect }, 'faults.operation: got 15.'],
  [{ operation: 'dial', effect }, 'faults.operation: got "dial". Must be an operation'],
  [{ operation: 1, nth: 0, effect }, 'faults.nth: got 0. Requests are counted from 1.'],
  [{ operation: 1, effect: { type: 'explode' } }, 'faults.effect'],
  [{ operation: 1, effect: { type: 'delay' } }, 'faults.effect.ms: got nothing.'],
  [{ operation: 1, effect, color: 1 }, 'faults.color: not a known field; leave it out.'],
  [{ operation: 1, effect: { type: 'partial', accept: 1 } }, 'is for batch_calls only.'],
  [{ operation: 1, nth: 1, every: 2, effect }, 'only one of nth, every and probability'],
  [[{ operation: 1, effect }, { operation: 1 }], 'faults[1].effect: got nothing.'],
  ['nonsense', 'faults: got "nonsense".'],
])('the rule %j is refused with path, value and fix', (rule, message) => {
  expect(() => readFaultRules(rule)).toThrow(message);
});

test('requests without a valid key do not count', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 1, effect: { type: 'error' } }] });
  await sandbox.request('POST', '/v1/convai/phone-numbers/batch-calls', {}, { headers: { 'x-api-key': 'no' } });
  expect(await outcomeOf(sandbox)).toBe('500');
});

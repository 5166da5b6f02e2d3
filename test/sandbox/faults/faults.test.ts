import { expect } from 'vitest';
import { FaultRegistry } from '../../../src/sandbox/faults/book.ts';
import type { FaultedRequest } from '../../../src/sandbox/faults/match.ts';
import { readFaultRules, type FaultRuleInput } from '../../../src/sandbox/faults/rule.ts';
import { noon, plainNumbers, startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';

const number = '+12125550150';

async function outcomeOf(sandbox: TestSandbox): Promise<string> {
  return sandbox.batch([number]).then(
    ({ status }) => String(status),
    ({ cause, message }: Error) => {
      const { code = message } = cause as { code?: string };
      return ['ECONNRESET', 'UND_ERR_SOCKET'].includes(code) ? 'cut off' : code;
    },
  );
}

// What makes a caller dial twice, exactly, told by truth, journal and conduct report. That a campaign survives it: test/e2e/kills.test.ts
// and the mixes of test/world/inputs/draw-mix.ts.
test.each<[string, FaultRuleInput['effect'], string, number]>([
  ['429', { type: 'rate_limited' }, '429', 0],
  ['500 before the work', { type: 'error', when: 'before' }, '500', 0],
  ['500 after the work', { type: 'error', when: 'after' }, '500', 1],
  ['503 before the work', { type: 'error', status: 503 }, '503', 0],
  ['400 after the work', { type: 'error', status: 400, when: 'after' }, '400', 1],
  ['422 after the work', { type: 'error', status: 422, when: 'after' }, '422', 1],
  ['429 after the work', { type: 'rate_limited', when: 'after' }, '429', 1],
  ['a gateway page before the work', { type: 'html', when: 'before' }, '502', 0],
  ['a gateway page after the work', { type: 'html', when: 'after' }, '502', 1],
  ['a connection reset before the work', { type: 'reset', when: 'before' }, 'cut off', 0],
  ['a connection reset after the work', { type: 'reset', when: 'after' }, 'cut off', 1],
  ['an answer that is cut off', { type: 'truncate' }, '200', 1],
])('%s: the call is placed or not as it says, and who repeats dials a second time if it was', async (_what, effect, outcome, accepted) => {
  const sandbox = await startTestSandbox({ faults: [{ id: 'f', operation: 'batch_calls', nth: 1, effect }] });
  expect(await outcomeOf(sandbox)).toBe(outcome);
  expect(sandbox.calls()).toHaveLength(accepted);
  await expect.poll(() => sandbox.journal()[0]?.ending).not.toBe('in_progress');
  const entry = { faults: ['f'], ending: outcome === 'cut off' ? 'aborted' : 'sent' };
  expect(sandbox.journal()[0]).toMatchObject(outcome === 'cut off' ? entry : { ...entry, status: Number(outcome) });
  expect(sandbox.violations('double_dial')).toEqual([]);
  expect(await outcomeOf(sandbox)).toBe('200');
  expect(sandbox.calls()).toHaveLength(accepted + 1);
  expect(sandbox.violations('double_dial')).toHaveLength(accepted);
});

test.for(['batch_received', 'batch_work_done'] as const)(
  'a caller that is killed while its request is at %s: the calls are placed, and found by its request id',
  async (point, { sandbox }) => {
    await sandbox.post('/_sandbox/gates', { point });
    const killed = new AbortController();
    const pending = sandbox.batch(plainNumbers(3), {}, 'batch-7/1', { signal: killed.signal });
    await sandbox.get(`/_sandbox/gates/wait?point=${point}`);
    killed.abort();
    await expect(pending).rejects.toThrow(/abort/i);
    await expect.poll(() => sandbox.journal()[0]?.ending).toBe('aborted');
    await sandbox.post('/_sandbox/gates/release', {});
    await expect.poll(() => sandbox.calls().length).toBe(3);
    expect(sandbox.calls().map(({ to, requestId }) => [to, requestId])).toEqual(plainNumbers(3).map((to) => [to, 'batch-7/1']));
  },
);

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

test.each(['first', 'last'] as const)('a reply that comes too late, with the work done %s, is work done all the same', async (work) => {
  const sandbox = await startTestSandbox({ faults: [{ id: 'late', operation: 14, nth: 1, effect: { type: 'delay', ms: 2_000, work } }] });
  const giveUp = new AbortController();
  const askedAt = performance.now();
  const answer = sandbox.batch([number], {}, undefined, { signal: giveUp.signal });
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
    (await sandbox.read('/v1/convai/conversations')).conversations.map((c: { conversation_id: string }) => c.conversation_id);
  const [hidden, plain] = sandbox.calls();
  expect([hidden?.visible, plain?.visible]).toEqual([false, true]);
  expect(await listed()).toEqual([plain?.conversationId]);
  sandbox.clock.advance(60_000);
  expect(await listed()).toEqual([plain?.conversationId, hidden?.conversationId]);
});

test('a reading of the list can lag behind, and a record that is listed can be missing when it is read', async () => {
  const faults: FaultRuleInput[] = [
    { operation: 7, nth: 1, effect: { type: 'hide', ms: 5_000 } },
    { operation: 'get_conversation', nth: 1, effect: { type: 'missing' } },
  ];
  const sandbox = await startTestSandbox({ faults });
  await sandbox.batch([number]);
  const listed = async (): Promise<number> => (await sandbox.read('/v1/convai/conversations')).conversations.length;
  expect([await listed(), await listed()]).toEqual([0, 1]);
  expect([(await sandbox.record()).detail?.code, (await sandbox.record()).status]).toEqual(['record_not_found', 'initiated']);
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
  const book = new FaultRegistry(seed, () => noon);
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

test('rules are added, listed and removed while the sandbox runs', async ({ sandbox }) => {
  const added = await sandbox.post('/_sandbox/faults', [
    { operation: 14, effect: { type: 'error' } },
    { id: 'mine', operation: 1, effect: { type: 'error' } },
  ]);
  const [first] = added.body.faults;
  expect(await outcomeOf(sandbox)).toBe('500');
  const listed = (await sandbox.read('/_sandbox/faults')).faults;
  expect(listed.map((rule: { id: string; seen: number; hits: number }) => [rule.id, rule.seen, rule.hits])).toEqual([
    [first.id, 1, 1],
    ['mine', 0, 0],
  ]);
  expect((await sandbox.delete(`/_sandbox/faults?id=${first.id}`)).body.faults).toHaveLength(1);
  expect(await outcomeOf(sandbox)).toBe('200');
  expect((await sandbox.delete('/_sandbox/faults?id=none')).status).toBe(404);
  expect((await sandbox.post('/_sandbox/faults', { id: 'mine', operation: 1, effect: { type: 'reset' } })).status).toBe(422);
  expect((await sandbox.delete('/_sandbox/faults')).body.faults).toEqual([]);
});

const with14 = (part: Json): Json => ({ operation: 14, effect, ...part });

test.each<[Json, string]>([
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
  [with14({ header: { name: 'x-api-key' } }), 'faults.header.name: got "x-api-key". This header carries a secret'],
  [with14({ header: { name: 'a', equals: 'b', pattern: 'c' } }), 'Give only one of equals and pattern.'],
  [with14({ header: { name: 'a', pattern: '(' } }), 'faults.header.pattern: got "(". Must be a regular expression'],
  [with14({ period: { from: 'tomorrow' } }), 'faults.period.from: got "tomorrow". Must be a time such as'],
  [with14({ effect: { type: 'delay', ms: { distribution: 'uniform', from: 5, to: 1 } } }), 'faults.effect.ms'],
  [with14({ effect: { type: 'reorder' } }), 'is for list_agents and list_conversations and list_phone_numbers and'],
  [with14({ effect: { type: 'missing_field', field: 'a b' } }), 'faults.effect.field: got "a b". Must be a field'],
  [with14({ enabled: 'no' }), 'faults.enabled: got "no".'],
])('the rule %j is refused with path, value and fix', (rule, message) => {
  expect(() => readFaultRules(rule)).toThrow(message);
});

test('requests without a valid key do not count', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 1, effect: { type: 'error' } }] });
  await sandbox.post('/v1/convai/phone-numbers/batch-calls', {}, { headers: { 'x-api-key': 'no' } });
  expect(await outcomeOf(sandbox)).toBe('500');
});

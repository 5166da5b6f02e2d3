import { expect, test } from 'vitest';
import { readSandboxFlags } from '../../../../src/interfaces/cli/sandbox/flags.ts';
import { planNames, plans } from '../../../../src/sandbox/core/plans.ts';
import { resolveSettings } from '../../../../src/sandbox/core/settings/settings.ts';
import { noon, plainNumbers, startTestSandbox, type TestSandbox } from '../../harness.ts';

const agents = '/v1/convai/agents';

async function burst(sandbox: TestSandbox, count: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: count }, () => sandbox.get(agents)));
  return answers.filter(({ status }) => status === 200).length;
}

test.each(planNames)('the plan %s limits requests, lines and parallel requests', async (plan) => {
  const { concurrency, requestsPerSecond, maxParallelRequests } = plans[plan];
  const sandbox = await startTestSandbox({ plan });
  const asked = (requestsPerSecond ?? 100) + 5;
  expect(await burst(sandbox, asked)).toBe(requestsPerSecond ?? asked);
  sandbox.clock.advance(1_000);
  const { headers } = await sandbox.get(agents);
  expect(headers.get('maximum-concurrent-requests')).toBe(String(maxParallelRequests));
  await sandbox.batch(plainNumbers(40));
  expect(sandbox.calls().filter(({ dialedAt }) => dialedAt !== null)).toHaveLength(concurrency);
  expect((await sandbox.read('/_sandbox/info')).plan).toBe(plan);
});

test('the lines of the plans are those of the help page that the gaps quote', () => {
  expect(planNames.map((name) => [name, plans[name].concurrency])).toEqual([
    ['rehearsal', 30],
    ['free', 4],
    ['starter', 6],
    ['creator', 10],
    ['pro', 20],
    ['scale', 30],
    ['business', 30],
  ]);
});

test('without a plan there is no rate limit, and what is said in as many words outdoes a plan', () => {
  expect(resolveSettings({})).toMatchObject({ plan: 'rehearsal', concurrency: 30, requestsPerSecond: null });
  const settings = resolveSettings({
    plan: 'free',
    concurrency: 9,
    rateLimit: { requestsPerSecond: null },
    conduct: { maxParallelRequests: 7 },
  });
  expect(settings).toMatchObject({ concurrency: 9, requestsPerSecond: null, conduct: { maxParallelRequests: 7 } });
  expect(resolveSettings({ plan: 'free' })).toMatchObject({ concurrency: 4, requestsPerSecond: 2, conduct: { maxParallelRequests: 4 } });
});

test('an unknown plan is refused, and the known ones are named', async () => {
  expect(() => resolveSettings({ plan: 'golden' as never })).toThrow(/plan is "golden".*rehearsal, free, starter/);
  expect(() => resolveSettings({ retryAfter: 'soon' as never })).toThrow(/retryAfter is soon.*seconds, date, none/);
  await expect(readSandboxFlags({ plan: 'golden' })).rejects.toThrow(/--plan is "golden".*business/);
  await expect(readSandboxFlags({ retryAfter: 'soon' })).rejects.toThrow(/--retry-after is "soon"/);
  expect(await readSandboxFlags({ plan: 'pro', retryAfter: 'none' })).toMatchObject({ plan: 'pro', retryAfter: 'none' });
});

test.each([
  ['seconds', '1'],
  ['date', new Date(noon + 1_000).toUTCString()],
  ['none', null],
] as const)('with %s, a request over the limit is told to wait: %s', async (retryAfter, header) => {
  const sandbox = await startTestSandbox({ rateLimit: { requestsPerSecond: 2 }, retryAfter, apiKeys: ['other'] });
  await burst(sandbox, 2);
  const over = await sandbox.get(agents);
  expect(over.status).toBe(429);
  expect(over.body.detail).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
  expect(over.headers.get('retry-after')).toBe(header);
  expect((await sandbox.request('GET', agents, undefined, { headers: { 'x-api-key': 'other' } })).status).toBe(200);
  sandbox.clock.advance(1_000);
  expect((await sandbox.get(agents)).status).toBe(200);
});

test('a wait in seconds is never shorter than it has to be', async () => {
  const sandbox = await startTestSandbox({ rateLimit: { requestsPerSecond: 0.4 } });
  expect(await burst(sandbox, 1)).toBe(1);
  const over = await sandbox.get(agents);
  expect(over.headers.get('retry-after')).toBe('3');
  sandbox.clock.advance(2_000);
  expect((await sandbox.get(agents)).status).toBe(429);
  sandbox.clock.advance(1_000);
  expect((await sandbox.get(agents)).status).toBe(200);
});

test('the key that is always over its limit waits in the style asked for', async () => {
  const headers = { 'x-api-key': 'sk_sandbox_ratelimited' };
  for (const [retryAfter, header] of [
    ['seconds', '2'],
    ['none', null],
  ] as const) {
    const sandbox = await startTestSandbox({ retryAfter });
    const over = await sandbox.request('GET', agents, undefined, { headers });
    expect({ status: over.status, header: over.headers.get('retry-after') }).toEqual({ status: 429, header });
  }
});

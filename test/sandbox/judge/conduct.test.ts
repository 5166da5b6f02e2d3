import { expect } from 'vitest';
import type { ConductReport } from '../../../src/sandbox/judge/conduct-report.ts';
import { toJUnit } from '../../../src/sandbox/judge/junit.ts';
import { noon, startTestSandbox, test } from '../harness.ts';

const hour = 3_600_000;

function failed(report: ConductReport): string[] {
  return report.checks.filter((check) => !check.ok).map((check) => check.name);
}

test('a caller that waits, dials once and reads in peace has nothing to answer for', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 1, effect: { type: 'rate_limited', seconds: 2 } }] });
  await sandbox.batch(['+12125550101'], {}, 'b1/1');
  sandbox.clock.advance(2_000);
  await sandbox.batch(['+12125550101'], {}, 'b1/2');
  sandbox.clock.advance(hour);
  await sandbox.record();
  await sandbox.batch(['+12125550101'], {}, 'b2/1');
  sandbox.clock.advance(hour);
  const report = (await sandbox.read('/_sandbox/conduct')) as ConductReport;
  expect([report.ok, failed(report), checkOf(report, 'calling_hours')]).toEqual([true, [], undefined]);
  expect(report.checks.find((check) => check.name === 'double_dial')?.observed).toBe(2);
});

test('dialling a number whose call is still open is a double dial, in one batch or in two', async ({ sandbox }) => {
  await sandbox.batch(['+12125550150', '+12125550150']);
  await sandbox.batch(['+12125550151']);
  sandbox.clock.advance(1_000);
  await sandbox.batch(['+12125550151']);
  const check = sandbox.conduct().checks.find((each) => each.name === 'double_dial');
  expect(check?.violationCount).toBe(2);
  const calls = sandbox.calls();
  expect(check?.violations.map((violation) => [violation['previousCallId'], violation['callId']])).toEqual([
    [calls[0]?.callId, calls[1]?.callId],
    [calls[2]?.callId, calls[3]?.callId],
  ]);
  expect(JSON.stringify(check)).not.toContain('+12125550150');
});

test('hammering without a pause is noticed, however often it is told to wait', async () => {
  const effect = { type: 'rate_limited', retryAfter: 'seconds', seconds: 60 } as const;
  const sandbox = await startTestSandbox({ faults: [{ operation: 2, effect }] });
  const ask = async (): Promise<void> => {
    expect((await sandbox.get('/v1/convai/agents')).status).toBe(429);
    sandbox.clock.advance(5);
  };
  // Those of the first 25 ms may have been on their way.
  for (let nth = 1; nth <= 106; nth += 1) await ask();
  const check = sandbox.conduct().checks.find(({ name }) => name === 'retry_after');
  expect(check?.violationCount).toBe(100);
});

test('who was taken back before the telephone rang may be called', async () => {
  const sandbox = await startTestSandbox({ conduct: { maxDialsPerDay: 1 } });
  const { id } = await sandbox.submit(['+12125550101'], { scheduled_time_unix: noon / 1000 + 60 });
  await sandbox.post(`/v1/convai/batch-calling/${id}/cancel`);
  sandbox.clock.advance(1_000);
  await sandbox.submit(['+12125550101']);
  expect([sandbox.calls().length, failed(sandbox.conduct())]).toEqual([2, []]);
});

test('dialling again right after the call ended, and the same x-request-id accepted twice, are noticed', async ({ sandbox }) => {
  await sandbox.batch(['+12125550101'], {}, 'b1/1');
  sandbox.clock.advance(30_000);
  await sandbox.batch(['+12125550101'], {}, 'b1/2');
  expect(failed(sandbox.conduct())).toEqual(['redial_too_soon']);
  await sandbox.batch(['+12125550151'], {}, 'b1/1');
  expect(failed(sandbox.conduct()).toSorted()).toEqual(['redial_too_soon', 'request_id_reuse']);
});

test.each([
  ['seconds', 1_500, true],
  ['seconds', 2_000, false],
  ['date', 1_500, true],
  ['date', 2_000, false],
  ['none', 0, false],
] as const)('after 429 with Retry-After as %s, coming back after %i ms is a violation: %s', async (retryAfter, waitedMs, violated) => {
  const effect = { type: 'rate_limited', retryAfter, seconds: 2 } as const;
  const sandbox = await startTestSandbox({ faults: [{ operation: 14, nth: 1, effect }] });
  await sandbox.batch(['+12125550150']);
  sandbox.clock.advance(waitedMs);
  await sandbox.get('/v1/convai/agents');
  await sandbox.batch(['+12125550150']);
  expect(failed(sandbox.conduct())).toEqual(violated ? ['retry_after'] : []);
});

test('more requests at once than allowed are noticed', async () => {
  const sandbox = await startTestSandbox({
    conduct: { maxParallelRequests: 2 },
    faults: [{ operation: 2, effect: { type: 'delay', ms: 1_000 } }],
  });
  await Promise.all([1, 2].map(() => sandbox.get('/v1/convai/agents')));
  expect(failed(sandbox.conduct())).toEqual([]);
  await Promise.all([1, 2, 3].map(() => sandbox.get('/v1/convai/agents')));
  expect(failed(sandbox.conduct())).toEqual(['parallel_requests']);
});

test('a key in an address is noticed, and kept nowhere', async () => {
  const sandbox = await startTestSandbox({ apiKeys: ['planted-key-9f'] });
  await sandbox.get('/v1/convai/agents?cursor=planted-key-9f');
  expect(failed(sandbox.conduct())).toEqual(['key_in_url']);
  expect(JSON.stringify([sandbox.journal(), sandbox.conduct()])).not.toContain('planted-key-9f');
});

test('asking for deleted things is noticed, for unknown ones not', async ({ sandbox }) => {
  await sandbox.get('/v1/convai/agents/agent_none');
  expect(failed(sandbox.conduct())).toEqual([]);
  await sandbox.delete('/v1/convai/agents/agent_survey');
  await sandbox.get('/v1/convai/agents/agent_survey');
  expect(failed(sandbox.conduct())).toEqual(['deleted_use']);
  const { conversation_id: id } = await sandbox.call('+12125550101');
  await sandbox.delete(`/v1/convai/conversations/${id}`);
  await sandbox.get(`/v1/convai/conversations/${id}`);
  expect(sandbox.violations('deleted_use')).toMatchObject([{ id: 'agent_survey' }, { what: 'a deleted conversation was asked for', id }]);
});

test('reading one conversation twice within a second is polling, unless a fault spoiled the first reading', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 6, nth: 1, effect: { type: 'truncate' } }] });
  await sandbox.batch(['+12125550150']);
  const path = `/v1/convai/conversations/${sandbox.calls()[0]?.conversationId}`;
  await sandbox.get(path);
  await sandbox.get(path);
  sandbox.clock.advance(1_000);
  await sandbox.get(path);
  expect(failed(sandbox.conduct())).toEqual([]);
  sandbox.clock.advance(999);
  await sandbox.get(path);
  await expect.poll(() => failed(sandbox.conduct())).toEqual(['polling']);
});

test('a number dialled too often within a day is noticed', async () => {
  const sandbox = await startTestSandbox({ conduct: { maxDialsPerDay: 2 } });
  for (let dial = 0; dial < 2; dial += 1) {
    await sandbox.batch(['+12125550101']);
    sandbox.clock.advance(hour);
  }
  sandbox.clock.advance(23 * hour);
  for (let dial = 0; dial < 2; dial += 1) {
    await sandbox.batch(['+12125550101']);
    sandbox.clock.advance(hour);
  }
  expect(failed(sandbox.conduct())).toEqual([]);
  await sandbox.batch(['+12125550101']);
  expect(failed(sandbox.conduct())).toEqual(['dials_per_number']);
});

test('the report for people names the rules and what broke them', async ({ sandbox }) => {
  await sandbox.batch(['+12125550150', '+12125550150']);
  const body = await sandbox.read('/_sandbox/conduct?format=text');
  expect(body).toMatch(/^conduct: VIOLATIONS\n/);
  expect(body).toContain('FAIL  no number is dialled while a call to it is open (observed 2, violated 1 times)');
  expect(body).toContain('a number was dialled while a call to it was still open');
});

const newYork = '+12125550101';
const london = '+442079460101';

function checkOf(report: ConductReport, name: string) {
  return report.checks.find((check) => check.name === name);
}

/** 15 January 2030, noon in London, 7:00 in New York, 6:00 in Chicago, 2:00 in Honolulu. */
test('a call outside the calling hours of its place is a violation', async () => {
  for (const [start, end, to, violations] of [
    ['08:00', '21:00', london, 0],
    ['08:00', '21:00', newYork, 1],
    ['07:00', '21:00', newYork, 0],
    ['07:01', '21:00', newYork, 1],
    ['00:00', '12:00', london, 1],
    ['00:00', '12:01', london, 0],
    ['00:00', '24:00', '+18085550101', 0],
    // An area with two zones: both have to be within the hours.
    ['07:00', '21:00', '+18505550101', 1],
    ['06:00', '21:00', '+18505550101', 0],
  ] as const) {
    const sandbox = await startTestSandbox({ conduct: { callingHours: { start, end } } });
    await sandbox.batch([to]);
    const check = checkOf(sandbox.conduct(), 'calling_hours');
    expect([start, end, to, check?.observed, check?.violationCount]).toEqual([start, end, to, 1, violations]);
    expect(JSON.stringify(check)).not.toContain(to);
  }
});

test('it is the moment of dialling that counts, not that of the batch', async () => {
  const sandbox = await startTestSandbox({ concurrency: 1, conduct: { callingHours: { start: '06:00', end: '07:01' } } });
  await sandbox.batch(['+12125550106', '+12125550102', '+12135550102', '+12145550102', '+12125550101']);
  sandbox.clock.advance(10 * hour);
  await sandbox.get('/_sandbox/calls');
  const calls = sandbox.calls();
  const late = calls.filter(({ dialedAt }) => (dialedAt ?? 0) >= noon + 60_000);
  expect([calls.length > late.length, late.length > 0]).toEqual([true, true]);
  const inNewYork = late.filter(({ to }) => to.startsWith('+1212'));
  const told = checkOf(sandbox.conduct(), 'calling_hours')?.violations.filter(({ zone }) => zone === 'America/New_York');
  expect(told?.map(({ callId }) => callId)).toEqual(inNewYork.map(({ callId }) => callId));
});

test('who is known to live elsewhere is called by the clock of that place', async () => {
  const world = { people: [{ number: newYork, zone: 'Europe/London' }] };
  const sandbox = await startTestSandbox({ world, conduct: { callingHours: { start: '08:00', end: '21:00' } } });
  await sandbox.batch([newYork, '+12125550102']);
  expect(checkOf(sandbox.conduct(), 'calling_hours')).toMatchObject({ observed: 2, violationCount: 1 });
});

test('a number whose zone nobody knows is not judged, and counted as such', async () => {
  const sandbox = await startTestSandbox({ conduct: { callingHours: { start: '08:00', end: '09:00' } } });
  await sandbox.batch(['+99955501001']);
  expect(checkOf(sandbox.conduct(), 'calling_hours')).toMatchObject({ ok: true, observed: 0, notJudged: 1 });
  expect(await sandbox.read('/_sandbox/conduct?format=text')).toContain('(observed 0, not judged 1)');
});

test.each([
  [{ start: '8:00', end: '21:00' }, '8:00 to 21:00'],
  [{ start: '21:00', end: '08:00' }, '21:00 to 08:00'],
  [{ start: '08:00', end: '25:00' }, '08:00 to 25:00'],
])('the calling hours %j are refused', async (callingHours, value) => {
  await expect(startTestSandbox({ conduct: { callingHours } })).rejects.toThrow(
    `conduct.callingHours is ${value}; it must be two times of day`,
  );
});

test('a revoked key that is used on is noticed; learning of it is not', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 2, nth: 1, effect: { type: 'revoke_key' } }] });
  for (let read = 0; read < 3; read += 1) await sandbox.get('/v1/convai/agents');
  sandbox.clock.advance(10_000);
  await sandbox.get('/v1/convai/agents');
  expect(failed(sandbox.conduct())).toEqual([]);
  sandbox.clock.advance(1_000);
  await sandbox.get('/v1/convai/agents');
  expect(failed(sandbox.conduct())).toEqual(['revoked_key']);
});

test('the report for build servers is JUnit, one case per rule, whatever stands in it', async ({ sandbox }) => {
  await sandbox.delete('/v1/convai/agents/agent_survey');
  await sandbox.batch(['+12125550150', '+12125550150'], {}, 'a<b>&"');
  const answer = await sandbox.get('/_sandbox/conduct?format=junit');
  const report = sandbox.conduct();
  expect(answer.headers.get('content-type')).toMatch(/^application\/xml/);
  expect(answer.body).toContain(`<testsuite name="conduct" tests="${report.checks.length + 1}" failures="1" errors="0" skipped="0"`);
  expect(answer.body.match(/<testcase /g)).toHaveLength(report.checks.length + 1);
  expect(answer.body.match(/<failure /g)).toHaveLength(1);
  expect(answer.body).toContain('name="no number is dialled while a call to it is open"');
  expect(answer.body).toContain('previousCallId');
  expect(answer.body).not.toMatch(/&(?!amp;|lt;|gt;|quot;)/);
});

test('text in a report for build servers cannot break out of it', () => {
  const at = Date.UTC(2030, 0, 1);
  const violation = { at, what: `]]> </failure> & "quoted" \u0000\u001F\uFFFE \u{1F4DE}`, id: '<id>' };
  const check = { name: 'polling', rule: 'a < b', ok: false, observed: 1, notJudged: 0, violationCount: 3, violations: [violation] };
  const xml = toJUnit({ ok: false, at, requests: 1, checks: [check as ConductReport['checks'][number]] });
  expect(xml).toContain('name="a &lt; b"');
  expect(xml).toContain(
    '2030-01-01T00:00:00.000Z ]]&gt; &lt;/failure&gt; &amp; &quot;quoted&quot;  \u{1F4DE} (id &lt;id&gt;)\nand 2 more</failure>',
  );
});

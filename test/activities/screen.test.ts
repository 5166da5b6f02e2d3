import { expect, test } from 'vitest';
import { openPosting } from '../../src/ledger/dial/posting.ts';
import { allowAll, sendJson, type HookAnswer } from '../shared/hooks/hook-server.ts';
import { noon, plainNumbers } from '../sandbox/harness.ts';
import { dialects } from '../ledger/test-stores.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { beginScreened, type ScreenRun } from './screen-run.ts';
import { campaignId } from './steps.ts';

const [first, second, third] = plainNumbers(3);

/** Numbers not named are allowed. */
function by(verdicts: Record<string, object>): HookAnswer {
  return (response, { body }) =>
    sendJson(response, {
      recipients: (body.recipients ?? []).map(({ ref, phone }) => ({
        ref,
        ...(verdicts[phone] ?? { eligible: true }),
      })),
    });
}

test.for(dialects)('only those whom the hook allows are called, and the others say why: %s', async (dialect) => {
  const run = await beginScreened({ dialect });
  run.hook.answerWith(
    by({
      [first ?? '']: { eligible: false, reason: 'no_consent' },
      [third ?? '']: { eligible: false, retry_after: '2h', reason: 'quiet_hours' },
    }),
  );
  await run.steps.plan(1);
  expect(await run.submit(1)).toEqual({ state: 'confirmed' });
  expect(run.posts.map(({ numbers }) => numbers)).toEqual([[second]]);
  const later = noon + 120 * minuteMs;
  expect(await run.attempts()).toEqual([
    ['released', 'pre_dial:no_consent', 'pre_dial:no_consent', noon],
    ['open', null, 'eligible', noon],
    ['released', 'pre_dial_later', `later:${later}`, noon],
  ]);
  expect(await run.recipients()).toEqual([
    ['done', 'undialable', 'pre_dial:no_consent'],
    ['open', null, null],
    ['waiting', later],
  ]);
  expect(run.hook.calls.map(({ body }) => body)).toEqual([
    {
      event: 'pre_dial',
      campaign: campaignId,
      batch: `${campaignId}/1/1`,
      recipients: [first, second, third].map((phone, index) => ({
        ref: `${campaignId}/${index + 1}/1`,
        phone,
        id: `A-${index + 1}`,
        row: index + 1,
      })),
    },
  ]);
  const [told] = await run.events(['batch.screened']);
  expect(told?.data).toEqual({ asked: 3, refused: 1, later: 1, eligible: [`${campaignId}/2/1`] });
  expect(await run.steps.violations()).toEqual([]);
});

test('a no without a code that can be shown is one all the same', async () => {
  const run = await beginScreened({ rows: 1 });
  run.hook.answerWith(by({ [first ?? '']: { eligible: false, reason: 'Ana said no on +12125550101' } }));
  await run.steps.plan(1);
  expect(await run.submit(1)).toEqual({ state: 'released' });
  expect(run.posts).toEqual([]);
  expect(await run.recipients()).toEqual([['done', 'undialable', 'pre_dial_refused']]);
});

const silences: [what: string, fault: string, answer: HookAnswer][] = [
  ['fails', 'status', (response) => sendJson(response, {}, 503)],
  ['says nothing that can be used', 'unusable', (response) => response.end('<html>')],
  ['leaves one out', 'unusable', (response, { body }) =>
    sendJson(response, { recipients: (body.recipients ?? []).slice(1).map(({ ref }) => ({ ref, eligible: true })) })],
  ['sends elsewhere', 'redirect', (response) => response.writeHead(302, { location: '/' }).end()],
  ['is too slow', 'timeout', () => {}],
]; // prettier-ignore

test.each(silences)('while the hook %s nobody is called, and then all are', async (_what, fault, answer) => {
  const run = await beginScreened({ timeoutMs: fault === 'timeout' ? 1_500 : 20_000 });
  run.hook.answerWith(answer);
  await run.steps.plan(1);
  for (let tries = 0; tries < 3; tries += 1) {
    expect(await run.submit(1)).toEqual({ waits: 'Screening', inMs: undefined });
    run.clock.advance(minuteMs);
  }
  expect(run.posts).toEqual([]);
  expect(await run.standing()).toEqual({ silentSince: noon, completion: null, pause: null });
  expect((await run.events(['hook.failed'])).map(({ data }) => data)).toEqual([{ hook: 'pre_dial', fault }]);

  run.hook.answerWith(allowAll);
  expect(await run.submit(1)).toEqual({ state: 'confirmed' });
  expect(run.posts.map(({ numbers }) => numbers)).toEqual([[first, second, third]]);
  expect(await run.standing()).toEqual({ silentSince: null, completion: null, pause: null });
  expect(await run.steps.violations()).toEqual([]);
  expect(run.log()).not.toMatch(/\d555\d{4}|planted|a-secret/);
});

test.for(dialects)('a hook that is silent for a quarter of an hour pauses the campaign: %s', async (dialect) => {
  const run = await beginScreened({ dialect });
  await run.hook.stop();
  await run.steps.plan(1);
  expect(await run.submit(1)).toMatchObject({ waits: 'Screening' });
  run.clock.advance(15 * minuteMs - 1);
  expect(await run.submit(1)).toMatchObject({ waits: 'Screening' });
  expect(await run.steps.campaign()).toMatchObject({ state: 'running' });
  run.clock.advance(1);
  expect(await run.submit(1)).toEqual({ state: 'released' });
  expect(await run.steps.campaign()).toMatchObject({
    state: 'paused',
    stateReason: `The pre-dial hook has given no usable answer for 15 min (pre_dial.url at ${new URL(run.hook.url).host}; the last time: no connection, or it broke (ECONNREFUSED)). Without one nobody is called. Fix it, then resume.`,
  });
  expect(await run.submit(1)).toEqual({ state: 'released' });
  expect(await run.steps.plan(2)).toMatchObject({ kind: 'wait', reason: 'paused' });
  expect((await run.recipients()).map(([state]) => state)).toEqual(['waiting', 'waiting', 'waiting']);
  expect(await run.standing()).toEqual({ silentSince: null, completion: null, pause: null });

  await run.hook.startAgain();
  await run.steps.activities.changeState({ campaignId, change: 'resume' });
  await run.steps.plan(2);
  expect(await run.submit(2)).toEqual({ state: 'confirmed' });
  expect(run.posts).toHaveLength(1);
  expect(await run.steps.violations()).toEqual([]);
});

test('a worker without a secret calls nobody and says why', async () => {
  const run = await beginScreened({ hookSecret: undefined });
  await run.steps.plan(1);
  expect(await run.submit(1)).toMatchObject({ waits: 'Screening' });
  run.clock.advance(15 * minuteMs);
  await run.submit(1);
  expect((await run.steps.campaign()).stateReason).toContain('CARILLON_HOOK_SECRET is not set for this worker');
  expect([run.hook.calls, run.posts]).toEqual([[], []]);
});

test('an answer is kept: a batch that the service could not take is not asked about again, until the answer is old', async () => {
  const run = await beginScreened();
  run.sandbox.addFaults({
    operation: 14,
    times: 2,
    effect: { type: 'rate_limited', retryAfter: 'seconds', seconds: 300 },
  });
  await run.steps.plan(1);
  expect(await run.submit(1)).toMatchObject({ waits: 'RateLimited' });
  run.clock.advance(5 * minuteMs);
  expect(await run.submit(1)).toMatchObject({ waits: 'RateLimited' });
  expect(run.hook.calls).toHaveLength(1);
  // A yes that became a no is obeyed.
  run.hook.answerWith(by({ [second ?? '']: { eligible: false } }));
  run.clock.advance(5 * minuteMs);
  expect(await run.submit(1)).toEqual({ state: 'confirmed' });
  expect(run.hook.calls).toHaveLength(2);
  const ids = run.hook.calls.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(2);
  expect(run.posts.at(-1)?.numbers).toEqual([first, third]);
  expect(await run.steps.violations()).toEqual([]);
});

test('an answer that took long is kept, and the call is a try of its own', async () => {
  const run = await beginScreened();
  run.hook.answerWith((response, call) => {
    run.clock.advance(3_000);
    return allowAll(response, call);
  });
  await run.steps.plan(1);
  expect(await run.submit(1)).toEqual({ waits: 'Screening', inMs: 1 });
  expect(run.posts).toEqual([]);
  expect(await run.submit(1)).toEqual({ state: 'confirmed' });
  expect(run.hook.calls).toHaveLength(1);
});

async function enter(run: ScreenRun) {
  const now = run.clock.now();
  const limits = { postingWindowMs: 10_000, httpTimeoutMs: 60_000, speed: 1 };
  return openPosting(run.store, { batchId: `${campaignId}/1/1`, now, nowReal: now, ...limits });
}

test.for(dialects)('the dial transaction itself lets nobody through without a fresh yes: %s', async (dialect) => {
  const unasked = await beginScreened({ dialect });
  await unasked.steps.plan(1);
  expect(await enter(unasked)).toEqual({ kind: 'verdict', state: 'released' });
  expect((await unasked.attempts()).map(([, reason]) => reason)).toEqual(Array(3).fill('not_screened'));
  expect(await unasked.recipients()).toEqual(Array.from({ length: 3 }, () => ['waiting', noon]));

  const old = await beginScreened({ dialect });
  await old.steps.plan(1);
  const answered = (ago: number) => ({ screened: 'eligible', screened_at: noon - ago });
  await old.store.db
    .updateTable('attempts')
    .set(answered(15 * minuteMs + 1))
    .execute();
  await old.store.db
    .updateTable('attempts')
    .set(answered(15 * minuteMs))
    .where('e164', '=', second ?? '')
    .execute();
  const step = await enter(old);
  expect(step.kind === 'post' && step.calls.map(({ e164 }) => e164)).toEqual([second]);
});

test('a campaign that was paused meanwhile is not asked about', async () => {
  const run = await beginScreened();
  await run.steps.plan(1);
  await run.steps.activities.changeState({ campaignId, change: 'pause' });
  expect(await run.submit(1)).toEqual({ state: 'released' });
  expect(run.hook.calls).toEqual([]);
});

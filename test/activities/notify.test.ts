import { readFile } from 'node:fs/promises';
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { endCampaign, changeCampaignState, pauseCampaign, resumeCampaign } from '../../src/ledger/rows/campaigns.ts';
import { readEvents } from '../../src/ledger/events.ts';
import { readHookStatus } from '../../src/ledger/campaign/hook-standing.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { sendJson, startHookServer, type HookAnswer } from '../shared/hooks/hook-server.ts';
import { beginProven, noon } from '../ledger/scenario.ts';
import { dialects, openTestStore, type TestDialect } from '../ledger/test-stores.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { pauseToTell } from '../../activities/notify.ts';
import { pausedByOperator } from '../../src/rules/lifecycle.ts';
import { minuteMs } from '../support/campaign-rules.ts';

const heard: HookAnswer = (response) => sendJson(response, {});

/** Cancelled before any call; `account` has closed its round. */
async function endedCampaign(dialect: TestDialect = 'sqlite', hookSecret: string | null = 'a-secret-for-tests-only') {
  const hook = await startHookServer(heard);
  const store = await openTestStore(dialect);
  const scenario = await beginProven(store, { rules: { onCompletion: { url: hook.url } } });
  const log: string[] = [];
  const activities = createActivities(
    buildDependencies({
      store,
      logger: pino({ level: 'trace', base: null, timestamp: false }, { write: (line) => void log.push(line) }),
      hookSecret: hookSecret ?? undefined,
    }),
  );
  await endCampaign(store, { campaignId: 'spring', now: noon }, { why: 'cancelled' });
  await scenario.plan(1);
  const { closed, end } = await activities.closeRound({ campaignId: 'spring', round: 1 });
  if (!closed || end == null) throw new Error('the round was not closed, or has nothing to tell');
  const told = async () =>
    (await readEvents(store.db, 'spring', { afterSeq: 0, limit: 1000, types: ['hook.delivered', 'hook.failed'] })).map(({ type, data }) => [
      type,
      data,
    ]);
  const completion = async () => (await readHookStatus(store.db, await scenario.campaign())).completion;
  return { hook, store, activities, input: { campaignId: 'spring', round: 1, end }, told, completion, log };
}

test.for(dialects)('the end of a round is told with its counts, once: %s', async (dialect) => {
  const { hook, store, activities, input, told, completion, log } = await endedCampaign(dialect);
  expect(await completion()).toBe('pending');
  await activities.notify(input);
  expect(await completion()).toBe('delivered');
  await activities.notify(input);
  expect(hook.calls).toHaveLength(1);
  const [call] = hook.calls;
  expect(call?.body).toEqual({
    event: 'campaign.ended',
    campaign: 'spring',
    round: 1,
    state: 'cancelled',
    rows: 6,
    outcomes: { cancelled: 6 },
    calls: {},
    started_at: '2030-01-15T12:00:00.000Z',
    ended_at: '2030-01-15T12:00:00.000Z',
  });
  const page = await readFile(new URL('../../docs/hooks.md', import.meta.url), 'utf8');
  const [, documented = ''] = /^```json on_completion\n(.*?)^```/ms.exec(page) ?? [];
  expect(Object.keys(JSON.parse(documented) as object)).toEqual(Object.keys(call?.body ?? {}));
  expect(call?.headers['webhook-id']).toBe('spring/1');
  expect(`${call?.text} ${log.join('')}`).not.toMatch(/\d555\d{4}/);
  expect(await told()).toEqual([['hook.delivered', { hook: 'on_completion', round: 1 }]]);
  await activities.noteUndelivered({ campaignId: 'spring', round: 1, fault: 'timeout', status: null });
  expect(await told()).toHaveLength(1);
  expect((await verifyLog(store.db, null)).rules.flatMap(({ violations }) => violations)).toEqual([]);
});

test.each([
  [500, false], [503, false], [408, false], [429, false], [302, true], [400, true], [401, true], [404, true], [410, true],
] as const)('a hook that answers %i is given up at once: %s', async (status, givenUp) => {
  const { hook, activities, input, told, completion, log } = await endedCampaign();
  hook.answerWith((response) => response.writeHead(status, { location: '/elsewhere' }).end('Ana +12125550101'));
  const error = await activities.notify(input).then(() => null, (thrown: unknown) => thrown);
  expect(error).toMatchObject({ type: 'Hook', nonRetryable: givenUp, category: 'BENIGN' });
  const { details } = error as ApplicationFailure;
  expect(details).toEqual([{ fault: status === 302 ? 'redirect' : 'status', status }]);
  expect(`${JSON.stringify(error)} ${(error as Error).message} ${log.join('')}`).not.toMatch(/\d555\d{4}|planted|a-secret/);
  expect(hook.calls).toHaveLength(1);
  expect(await completion()).toBe('pending');

  await activities.noteUndelivered({ campaignId: 'spring', round: 1, fault: 'status', status });
  await activities.noteUndelivered({ campaignId: 'spring', round: 1, fault: 'status', status });
  expect(await told()).toEqual([['hook.failed', { hook: 'on_completion', round: 1, fault: 'status', status }]]);
  expect(await completion()).toBe('failed');
}); // prettier-ignore

test('a worker without a secret sends nothing, and leaves it to one that has it', async () => {
  const { hook, activities, input } = await endedCampaign('sqlite', null);
  await expect(activities.notify(input)).rejects.toMatchObject({ type: 'Hook', nonRetryable: false });
  expect(hook.calls).toEqual([]);
});

const reason = 'The service refuses the API key (401). Fix it, then resume.';

async function runningCampaign(dialect: TestDialect = 'sqlite') {
  const hook = await startHookServer((response) => sendJson(response, {}));
  const store = await openTestStore(dialect);
  const scenario = await beginProven(store, { rules: { onPause: { url: hook.url } } });
  const deps = buildDependencies({
    store,
    hookSecret: 'a-secret-for-tests-only',
    serviceClock: { now: () => noon + minuteMs },
  });
  const pauseItself = (resumeAt: number | null = null) =>
    store.transaction((tx) => changeCampaignState(tx, { campaignId: 'spring', now: noon }, { to: 'paused', reason, resumeAt }));
  const standing = async () => (await readHookStatus(store.db, await scenario.campaign())).pause;
  return { hook, store, deps, activities: createActivities(deps), pauseItself, standing };
}

test.for(dialects)('a pause that the campaign makes by itself is told with reason and what to do, once: %s', async (dialect) => {
  const { hook, store, deps, activities, pauseItself, standing } = await runningCampaign(dialect);
  await pauseItself();
  expect(await pauseToTell(deps, 'spring')).toBe(noon);
  expect(await standing()).toBe('pending');
  const input = { campaignId: 'spring', round: 1, pausedAt: noon };
  await activities.notifyPause(input);
  await activities.notifyPause(input);
  expect(await standing()).toBe('delivered');
  expect(hook.calls).toHaveLength(1);
  const [call] = hook.calls;
  expect(call?.headers['webhook-id']).toBe('spring/1/paused/2030-01-15T12:00:00.000Z');
  expect(call?.body).toEqual({
    event: 'campaign.paused',
    campaign: 'spring',
    round: 1,
    reason,
    paused_at: '2030-01-15T12:00:00.000Z',
    resumes_at: null,
    what_to_do: 'Fix what the reason names, then resume the campaign.',
  });
  const page = await readFile(new URL('../../docs/hooks.md', import.meta.url), 'utf8');
  const [, documented = ''] = /^```json on_pause\n(.*?)^```/ms.exec(page) ?? [];
  expect(Object.keys(JSON.parse(documented) as object)).toEqual(Object.keys(call?.body ?? {}));
  await activities.noteUndelivered({ ...input, fault: 'timeout', status: null });
  const told = await readEvents(store.db, 'spring', {
    afterSeq: 0,
    limit: 1000,
    types: ['hook.delivered', 'hook.failed'],
  });
  expect(told.map(({ type, data }) => [type, data])).toEqual([['hook.delivered', { hook: 'on_pause', round: 1, pausedAt: noon }]]);
  expect((await verifyLog(store.db, null)).rules.flatMap(({ violations }) => violations)).toEqual([]);
});

test('a pause that a person makes is nothing to tell, also one that takes a cool-down over', async () => {
  const { store, deps, pauseItself, standing } = await runningCampaign();
  await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: pausedByOperator });
  expect(await pauseToTell(deps, 'spring')).toBeNull();
  await resumeCampaign(store, { campaignId: 'spring', now: noon });
  await pauseItself(noon + minuteMs);
  expect(await pauseToTell(deps, 'spring')).toBe(noon);
  await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: pausedByOperator });
  expect(await pauseToTell(deps, 'spring')).toBeNull();
  expect(await standing()).toBeNull();
});

test('a pause with a cool-down says when it ends, also when it is over by the time it is told', async () => {
  const { hook, store, activities, pauseItself } = await runningCampaign();
  await pauseItself(noon + minuteMs);
  await resumeCampaign(store, { campaignId: 'spring', now: noon + minuteMs });
  await activities.notifyPause({ campaignId: 'spring', round: 1, pausedAt: noon });
  expect(hook.calls.map(({ body }) => body)).toMatchObject([
    {
      resumes_at: '2030-01-15T12:01:00.000Z',
      what_to_do: 'It resumes by itself at resumes_at; pause it to prevent that.',
    },
  ]);
});

test('the next pause is told although the one before was', async () => {
  const { hook, store, activities, pauseItself, standing } = await runningCampaign();
  await pauseItself();
  await activities.notifyPause({ campaignId: 'spring', round: 1, pausedAt: noon });
  await resumeCampaign(store, { campaignId: 'spring', now: noon + 1 });
  await store.transaction((tx) => changeCampaignState(tx, { campaignId: 'spring', now: noon + 2 }, { to: 'paused', reason: 'again' }));
  expect(await standing()).toBe('pending');
  await activities.notifyPause({ campaignId: 'spring', round: 1, pausedAt: noon + 2 });
  expect(new Set(hook.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
});

test('a pause hook that refuses is given up and shown as such', async () => {
  const { hook, activities, pauseItself, standing } = await runningCampaign();
  hook.answerWith((response) => sendJson(response, {}, 410));
  await pauseItself();
  const input = { campaignId: 'spring', round: 1, pausedAt: noon };
  await expect(activities.notifyPause(input)).rejects.toMatchObject({ type: 'Hook', nonRetryable: true });
  await activities.noteUndelivered({ ...input, fault: 'status', status: 410 });
  expect(await standing()).toBe('failed');
});

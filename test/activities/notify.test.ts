import { readFile } from 'node:fs/promises';
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { endCampaign } from '../../src/ledger/rows/campaigns.ts';
import { readEvents } from '../../src/ledger/events.ts';
import { readHookStanding } from '../../src/ledger/campaign/hook-standing.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { sendJson, startHookServer, type HookAnswer } from '../shared/hooks/hook-server.ts';
import { beginProven, noon } from '../ledger/scenario.ts';
import { dialects, openTestStore, type TestDialect } from '../ledger/test-stores.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';

const heard: HookAnswer = (response) => sendJson(response, {});

/** A campaign that was cancelled before it called anybody; `account` has closed its round. */
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
  const completion = async () => (await readHookStanding(store.db, await scenario.campaign())).completion;
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

import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { ConvaiClient } from '../../src/service/convai/client.ts';
import { createActivities } from '../../activities/index.ts';
import { NotSentError } from '../../src/service/port/errors.ts';
import { readAllEvents } from '../../src/ledger/events.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginCampaign, beginProven, noon } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { asActivity } from '../support/activity-context.ts';
import { hourMs } from '../support/campaign-rules.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import type { Store } from '../../src/ledger/tx.ts';

const request = { method: 'GET', path: '/v1/convai/agents', requestId: null } as const;

/** Its clock is years ahead, as a sandbox's may be; it never got a call request. */
function workerOf(store: Store, accountId: string, api: ServiceApi = 'contract') {
  const asked: string[] = [];
  const client = new Proxy({} as ConvaiClient, {
    get: (_, operation: string) => (): Promise<never> => {
      asked.push(operation);
      return Promise.reject(new NotSentError(request, 'no_connection', 'nobody is here'));
    },
  });
  const deps = buildDependencies({
    store,
    client,
    accountId,
    api,
    serviceClock: { speed: 600, now: () => noon + 10_000 * hourMs },
    workerId: 'other',
    limits: { collectMaxMs: 10 },
  });
  return { activities: createActivities(deps), asked };
}

async function failureOf(work: Promise<unknown>): Promise<ApplicationFailure> {
  const error = await work.then(
    (result) => new Error(`it was done: ${JSON.stringify(result)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApplicationFailure)) throw error;
  return error;
}

const campaignId = 'spring';
const sandbox = 'http://127.0.0.1:4010';

test.for(dialects)('a worker of another service does nothing for a campaign, and its work waits: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  // Its end has passed by the other service's clock.
  const scenario = await beginProven(store, { rules: { endsAt: noon + 24 * hourMs } });
  await scenario.dial(1);
  await scenario.sweep(noon);
  const { activities, asked } = workerOf(store, sandbox);
  const before = await readAllEvents(store.db, 0, 1_000);
  const standings = await scenario.recipients();
  const tries = {
    checkCallers: () => activities.checkCallers({ campaignId }),
    plan: () => activities.plan({ campaignId, round: 1, batchNumber: 2 }),
    submit: () => activities.submit({ batchId: scenario.batchId(1) }),
    collect: () => asActivity(() => activities.collect({ campaignId })),
  };
  for (const [name, work] of Object.entries(tries)) {
    const failure = await failureOf(work());
    expect(failure, name).toMatchObject({ type: 'OtherService', nonRetryable: false });
    expect(failure.message, name).toBe(
      `Campaign spring was started against the service at http://service, and SVC_BASE_URL here is ${sandbox}: nothing is done for it here. ` +
        'Set SVC_BASE_URL to its service, or, if that has moved with its calls and records, move its campaigns to the new address, then restart this worker.',
    );
  }
  expect(asked).toEqual([]);
  expect(await scenario.recipients()).toEqual(standings);
  expect(await readAllEvents(store.db, 0, 1_000)).toEqual(before);
});

test.for(dialects)('a planned batch is not sent to another service: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.plan(1);
  const { activities, asked } = workerOf(store, sandbox);
  const failure = await failureOf(activities.submit({ batchId: scenario.batchId(1) }));
  expect(failure).toMatchObject({ type: 'OtherService' });
  // Its list is not read either, although no call is open yet.
  expect(await failureOf(asActivity(() => activities.collect({ campaignId })))).toMatchObject({ type: 'OtherService' });
  expect(await scenario.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
  expect(asked).toEqual([]);
  expect(await scenario.post(1)).toMatchObject({ kind: 'post' });
});

test.for(dialects)('a campaign of this service does not sweep an agent that has calls open at another one: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const elsewhere = await beginProven(store);
  await elsewhere.dial(1);
  await beginCampaign(store, { campaignId: 'try-out', rows: [] });
  await store.db.updateTable('campaigns').set({ account_id: sandbox }).where('campaign_id', '=', 'try-out').execute();
  const { activities, asked } = workerOf(store, sandbox);
  const failure = await failureOf(asActivity(() => activities.collect({ campaignId: 'try-out' })));
  expect(failure).toMatchObject({
    type: 'OtherService',
    message: expect.stringMatching(/^Campaign spring was started/),
  });
  expect(asked).toEqual([]);
  const open = (await elsewhere.attempts()).map(({ state }) => state);
  expect(new Set(open)).toEqual(new Set(['open']));
});

test('the same service under another name of this machine is no other one', async () => {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store);
  await store.db.updateTable('campaigns').set({ account_id: 'http://localhost:4010' }).execute();
  const { activities } = workerOf(store, sandbox);
  expect(await activities.plan({ campaignId, round: 1, batchNumber: 1 })).toMatchObject({ kind: 'batch' });
  expect(await scenario.batch(1)).toMatchObject({ state: 'intent' });
});

test('a worker that asks the same service by another API does nothing for a campaign', async () => {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store);
  await scenario.plan(1);
  const { activities, asked } = workerOf(store, 'http://service', 'campaigns');
  for (const work of [
    () => activities.plan({ campaignId, round: 1, batchNumber: 2 }),
    () => activities.submit({ batchId: scenario.batchId(1) }),
    () => asActivity(() => activities.collect({ campaignId })),
  ])
    expect(await failureOf(work())).toMatchObject({ type: 'OtherService', message: expect.stringMatching(/Set SVC_API=contract/) });
  expect(asked).toEqual([]);
  expect(await scenario.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
});

import { WorkflowFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/shared/config.ts';
import { failCampaign } from '../../src/ledger/rows/campaigns.ts';
import { startCampaign, WorkflowConflictError } from '../../src/temporal/start-campaign.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven, noon } from '../ledger/scenario.ts';

/** Temporal whose last run of the campaign failed with these details, and what it was asked to start. */
function temporalAfter(details: unknown) {
  const started: string[] = [];
  const cause = ApplicationFailure.create({ type: 'LedgerOlder', nonRetryable: true, details: [details] });
  const client = {
    workflow: {
      getHandle: () => ({
        describe: async () => ({ status: { name: 'FAILED' } }),
        result: async () => {
          throw new WorkflowFailedError('failed', cause, 'NON_RETRYABLE_FAILURE');
        },
      }),
      start: async (_type: string, { workflowId }: { workflowId: string }) => started.push(workflowId),
    },
  };
  return { client: client as unknown as Client, started };
}

type BatchState = 'intent' | 'not_sent' | 'posting' | 'confirmed';
const cases: { details: object; state: BatchState | null; starts: boolean; what?: string }[] = [
  { details: { missing: 1, submitted: true }, state: null, starts: false, what: 'batch 1 is missing' },
  {
    details: { missing: 1, submitted: true },
    state: 'intent',
    starts: false,
    what: 'batch 1 is still to be sent in it',
  },
  {
    details: { missing: 1, submitted: true },
    state: 'not_sent',
    starts: false,
    what: 'batch 1 is still to be sent in it',
  },
  // Its fate is looked up in the records: it is not sent again.
  { details: { missing: 1, submitted: true }, state: 'posting', starts: true },
  { details: { missing: 1, submitted: true }, state: 'confirmed', starts: true },
  { details: { missing: 1, submitted: false }, state: null, starts: false, what: 'batch 1 is missing' },
  { details: { missing: 1, submitted: false }, state: 'intent', starts: true },
  // The round was missing, and is there.
  { details: { missing: 0, submitted: true }, state: 'confirmed', starts: true },
  { details: { missing: null, submitted: true }, state: 'confirmed', starts: false, what: 'batch 1 is missing' },
];

test.each(cases)('after $details a ledger whose batch is $state starts: $starts', async (given) => {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store);
  if (given.state !== null) {
    await scenario.plan(1);
    await store.db.updateTable('batches').set({ state: given.state }).execute();
  }
  await failCampaign(store, { campaignId: 'spring', now: noon }, 'older');
  await store.db.updateTable('campaigns').set({ account_id: readConfig().SVC_BASE_URL }).execute();
  const { client, started } = temporalAfter(given.details);
  const work = startCampaign({ config: readConfig(), store, client, now: noon }, 'spring');
  if (given.starts) {
    await work;
    expect(started).toEqual(['campaign/spring/1']);
    expect(await scenario.campaign()).toMatchObject({ state: 'running' });
    return;
  }
  const error = await work.then(String, (thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WorkflowConflictError);
  expect(String(error)).toContain(given.what);
  expect(started).toEqual([]);
  expect(await scenario.campaign()).toMatchObject({ state: 'failed' });
});

import { defaultPayloadConverter } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { expect, onTestFinished, test } from 'vitest';
import type { Activities } from '../../activities/index.ts';
import { readConfig } from '../../src/config.ts';
import { connectTemporal, connectTemporalNative } from '../../src/temporal/connection.ts';
import { startDevServer } from '../../src/temporal/dev-server.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';
import { lookAgainUpdate, type CampaignCounters, type CampaignInput } from '../../workflows/messages.ts';

const taskQueue = 'ui';

interface Metadata {
  currentDetails?: string;
  definition?: Record<string, { name: string; description?: string }[]>;
}

test("Temporal's UI shows state, reason and counters while a campaign waits, each batch with its verdict, and nothing to wait for at its end", async () => {
  const progress = { total: 5, done: 2, open: 3, waiting: 0, unresolved: 0 };
  let mayEnd = false;
  const activities: Partial<Activities> = {
    verify: async () => ({ ok: true }),
    plan: async ({ n }) => {
      if (n === 1) return { kind: 'batch', batchId: 'spring/1/1', size: 3 };
      return mayEnd ? { kind: 'done' } : { kind: 'wait', reason: 'due', inMs: 3_600_000, outstanding: false };
    },
    submit: async () => ({ kind: 'verdict', state: 'confirmed' }),
    collect: async () => ({ outstanding: false, progress, reason: 'nothing_outstanding', state: 'running' }),
    account: async () => ({ closed: true, progress, end: null }),
  };
  const target = await startDevServer({ config: readConfig(), ui: false });
  onTestFinished(() => target.stop());
  const config = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };
  const native = await connectTemporalNative(config, { target });
  const { connection, client } = await connectTemporal(config, { target });
  const workflowBundle = await bundleWorkflows();
  const worker = await Worker.create({ connection: native.connection, taskQueue, workflowBundle, activities });
  const input: CampaignInput = {
    campaignId: 'spring',
    round: 1,
    queues: { campaign: taskQueue, submit: taskQueue, collect: taskQueue },
    timeouts: { heartbeatMs: 10_000, submitHeartbeatMs: 10_000, submitMs: 60_000, collectMs: 60_000, shortMs: 60_000 },
    submitted: 0,
    verified: false,
  };
  await worker.runUntil(async () => {
    const handle = await client.workflow.start('campaign', { workflowId: 'spring', taskQueue, args: [input] });
    const ask = () => handle.query<Metadata>('__temporal_workflow_metadata');
    await expect
      .poll(async () => (await ask()).currentDetails)
      .toBe(
        '**dialling**, waits for the next recipient to be due\n\n1 batches submitted\n\n2 of 5 done, 3 calls open, 0 waiting, 0 unresolved',
      );
    const { definition = {} } = await ask();
    const described = [...(definition['updateDefinitions'] ?? []), ...(definition['queryDefinitions'] ?? [])];
    const undescribed = described.filter(
      ({ name, description }) => !name.startsWith('__') && (description ?? '') === '',
    );
    expect(described.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['pause', 'resume', 'drain', 'cancel', 'status']),
    );
    expect(undescribed).toEqual([]);
    mayEnd = true;
    await handle.executeUpdate(lookAgainUpdate);
    expect((await handle.result()) as CampaignCounters).toMatchObject({ state: 'closed', waitingFor: null, done: 2 });
    const { events } = await handle.fetchHistory();
    const summaries = (events ?? []).flatMap(({ userMetadata }) =>
      userMetadata?.summary == null ? [] : [defaultPayloadConverter.fromPayload<string>(userMetadata.summary)],
    );
    expect(summaries).toEqual(
      expect.arrayContaining([
        'plans batch 1',
        'batch 1, 3 calls',
        'plans batch 2, after batch 1: confirmed',
        'waits: due',
      ]),
    );
  });
  await connection.close();
  await native.connection.close();
});

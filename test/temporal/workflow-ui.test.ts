import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { Activities } from '../../activities/index.ts';
import { lookAgainUpdate, pauseUpdate } from '../../workflows/messages.ts';
import { withCampaign } from './one-campaign.ts';

interface Metadata {
  currentDetails?: string;
  definition?: Record<string, { name: string; description?: string }[]>;
}

test("Temporal's UI shows state, reason and counters while a campaign waits, each batch with its verdict, and nothing to wait for at its end; what a person wishes goes first", async () => {
  const progress = { total: 5, done: 2, open: 3, waiting: 0, unresolved: 0 };
  let mayEnd = false;
  const activities: Partial<Activities> = {
    checkCallers: async () => ({ ok: true }),
    plan: async ({ batchNumber }) => {
      if (batchNumber === 1) return { kind: 'batch', batchId: 'spring/1/1', size: 3 };
      return mayEnd ? { kind: 'done' } : { kind: 'wait', reason: 'due', inMs: 3_600_000, outstanding: false };
    },
    submit: async ({ batchId }) => ({ kind: 'verdict', batchId, state: 'confirmed' }),
    collect: async () => ({ outstanding: false, progress, reason: 'nothing_outstanding', state: 'running' }),
    closeRound: async () => ({ closed: true, progress, end: null }),
    changeState: async () => ({ changed: true }),
  };
  await withCampaign(activities, async (_client, handle) => {
    const ask = () => handle.query<Metadata>('__temporal_workflow_metadata');
    await expect
      .poll(async () => (await ask()).currentDetails)
      .toBe(
        '**dialling**, waits for the next recipient to be due\n\n1 batches submitted\n\n2 of 5 done, 3 calls open, 0 waiting, 0 unresolved',
      );
    const { definition = {} } = await ask();
    const described = [...(definition['updateDefinitions'] ?? []), ...(definition['queryDefinitions'] ?? [])];
    const undescribed = described.filter(({ name, description }) => !name.startsWith('__') && (description ?? '') === '');
    expect(described.map(({ name }) => name)).toEqual(expect.arrayContaining(['pause', 'resume', 'drain', 'cancel', 'status']));
    expect(undescribed).toEqual([]);
    expect(await handle.executeUpdate(pauseUpdate)).toBe(true);
    mayEnd = true;
    await handle.executeUpdate(lookAgainUpdate);
    expect(await handle.result()).toMatchObject({ state: 'closed', waitingFor: null, done: 2 });
    const { events } = await handle.fetchHistory();
    const summaries = (events ?? []).flatMap(({ userMetadata }) =>
      userMetadata?.summary == null ? [] : [defaultPayloadConverter.fromPayload<string>(userMetadata.summary)],
    );
    expect(summaries).toEqual(
      expect.arrayContaining(['plans batch 1', 'from batch 1, 3 calls', 'plans batch 2, after batch 1: confirmed', 'waits: due']),
    );
    const scheduled = (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    const urgent = scheduled.filter(({ priority }) => priority?.priorityKey === 1);
    expect(urgent.map(({ activityType }) => activityType?.name)).toEqual(['changeState']);
  });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Planned } from '../../src/rules/next-step.ts';
import { lookAgainUpdate } from '../../workflows/messages.ts';
import { startCampaignServer, type CampaignServer } from './campaign-server.ts';
import { fakeActivities } from './fake-activities.ts';
import { withCampaign } from './one-campaign.ts';

let server: CampaignServer;
beforeAll(async () => {
  server = await startCampaignServer();
});
afterAll(() => server.stop());

test('what the planner says together with a verdict is not asked for again, and a verdict without it is', async () => {
  const asked: number[] = [];
  const wanted: unknown[] = [];
  const activities = fakeActivities({
    plan: async ({ batchNumber }) => {
      asked.push(batchNumber);
      return batchNumber === 4 ? { kind: 'done' } : { kind: 'batch', batchId: `spring/1/${batchNumber}`, size: 6 };
    },
    submit: async ({ batchId, thenPlan }) => {
      wanted.push(thenPlan);
      const verdict = { kind: 'verdict', batchId, state: 'confirmed' } as const;
      if (batchId === 'spring/1/2') return verdict;
      const next = Number(batchId.at(-1)) + 1;
      const planned: Planned = next > 3 ? { kind: 'done' } : { kind: 'batch', batchId: `spring/1/${next}`, size: 6 };
      return { ...verdict, planned };
    },
  });
  await withCampaign(
    activities,
    async (_client, handle) => {
      expect(await handle.result()).toMatchObject({ state: 'closed', submitted: 3 });
    },
    server,
  );
  expect(asked).toEqual([1, 3]);
  expect(wanted).toEqual([2, 3, 4].map((batchNumber) => ({ campaignId: 'spring', round: 1, batchNumber })));
});

test('what changes while a batch is sent is planned with, though the planner may have looked before it', async () => {
  const hourMs = 3_600_000;
  let plans = 0;
  let begin!: (look: () => Promise<unknown>) => void;
  const begun = new Promise<() => Promise<unknown>>((resolve) => (begin = (look) => resolve(look)));
  const activities = fakeActivities({
    plan: async () => {
      plans += 1;
      return plans === 1 ? { kind: 'batch', batchId: 'spring/1/1', size: 6 } : { kind: 'done' };
    },
    submit: async ({ batchId }) => {
      const look = await begun;
      await look();
      const planned = { kind: 'wait', reason: 'due', inMs: hourMs, outstanding: false } as const;
      return { kind: 'verdict', batchId, state: 'confirmed', planned };
    },
  });
  await withCampaign(
    activities,
    async (_client, handle) => {
      begin(() => handle.executeUpdate(lookAgainUpdate));
      expect(await handle.result()).toMatchObject({ state: 'closed' });
    },
    server,
  );
  expect(plans).toBe(2);
});

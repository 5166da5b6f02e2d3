import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drainUpdate, statusQuery } from '../../workflows/messages.ts';
import type { campaign } from '../../workflows/campaign.ts';
import type { scheduledCampaign } from '../../workflows/scheduled-campaign.ts';
import { type CampaignServer, fakeActivities, startCampaignServer, timeouts } from './campaign-server.ts';

let server: CampaignServer;
beforeAll(async () => {
  server = await startCampaignServer();
});
afterAll(() => server.stop());

const waiting = { kind: 'wait', reason: 'due', inMs: 3_600_000, outstanding: false } as const;

/** Runs a firing whose campaign waits for an hour until it is drained. */
async function fire(
  name: string,
  onlyPromises: boolean,
  work: (firing: WorkflowHandle, run: WorkflowHandle<typeof campaign>) => Promise<void>,
) {
  let isDraining = false;
  const workflowId = `campaign/${name}/1`;
  const activities = fakeActivities({
    fireSchedule: async () => ({ campaignId: name, round: { number: 1, workflowId } }),
    plan: async () => (isDraining ? { kind: 'done' } : { ...waiting, ...(onlyPromises ? { onlyPromises } : {}) }),
    changeState: async () => {
      isDraining = true;
      return { changed: true };
    },
  });
  await server.workWith(activities, async (queues) => {
    const firing = await server.client.workflow.start<typeof scheduledCampaign>('scheduledCampaign', {
      workflowId: `firing/${name}`,
      taskQueue: queues.campaign,
      args: [{ scheduleId: 'daily', timeZone: 'UTC', catchUpMs: 60_000, queues, timeouts }],
    });
    const run = server.client.workflow.getHandle<typeof campaign>(workflowId);
    await expect.poll(() => run.query(statusQuery).catch(() => null)).toMatchObject({ waitingFor: 'due' });
    await work(firing, run);
  });
}

test('a firing ends when nobody is left but whom its campaign is to call back, and the campaign goes on', async () => {
  await fire('promised', true, async (firing, run) => {
    expect(await firing.result()).toEqual({ campaignId: 'promised', total: null, done: null });
    expect(await run.query(statusQuery)).toMatchObject({ state: 'dialling', waitingFor: 'due' });
    await run.executeUpdate(drainUpdate);
    expect(await run.result()).toMatchObject({ state: 'closed', done: 6 });
  });
});

test('a firing lasts as long as its campaign has anybody else to call', async () => {
  await fire('others', false, async (firing, run) => {
    expect((await firing.describe()).status.name).toBe('RUNNING');
    await run.executeUpdate(drainUpdate);
    expect(await firing.result()).toEqual({ campaignId: 'others', total: 6, done: 6 });
  });
});

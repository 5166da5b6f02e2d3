import { ApplicationFailure } from '@temporalio/common';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { failureTypes } from '../../src/rules/failure-types.ts';
import type { CampaignQueues } from '../../src/rules/ids.ts';
import type { RoundEnd } from '../../src/ledger/campaign/rounds.ts';
import { scheduledCampaignId } from '../../src/rules/hours/firing-time.ts';
import type { Activities } from '../../activities/index.ts';
import type { campaign } from '../../workflows/campaign.ts';
import type { completionNotice } from '../../workflows/notices.ts';
import { deliverNowSignal, pauseUpdate, rowsAddedSignal, resumeUpdate, statusQuery } from '../../workflows/messages.ts';
import type { scheduledCampaign } from '../../workflows/scheduled-campaign.ts';
import type { webhook } from '../../workflows/webhook.ts';
import { until } from '../support/until.ts';
import { fakeActivities, startCampaignServer, timeouts } from '../temporal/campaign-server.ts';

interface Branch {
  activities: Partial<Activities>;
  run: (client: Client, queues: CampaignQueues) => Promise<WorkflowHandle>;
}

const at = Date.UTC(2030, 0, 15, 12);

/** A campaign that `steer` leads; the rest it does by itself. */
function ofCampaign(
  activities: Partial<Activities>,
  steer: (handle: WorkflowHandle<typeof campaign>) => Promise<void> = async () => {},
): Branch {
  return {
    activities: fakeActivities(activities),
    run: async (client, queues) => {
      const handle = await client.workflow.start<typeof campaign>('campaign', {
        workflowId: `campaign/${queues.campaign}`,
        taskQueue: queues.campaign,
        args: [{ campaignId: 'spring', round: 1, queues, timeouts, submitted: 0, callersChecked: false }],
      });
      await steer(handle);
      await handle.result();
      // Its first run, where there are more.
      return client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId);
    },
  };
}

function ofFiring(activities: Partial<Activities>, childId?: string): Branch {
  return {
    activities: fakeActivities(activities),
    run: async (client, queues) => {
      const handle = await client.workflow.start<typeof scheduledCampaign>('scheduledCampaign', {
        workflowId: `firing/${queues.campaign}`,
        taskQueue: queues.campaign,
        args: [{ scheduleId: 'daily', timeZone: 'America/New_York', catchUpMs: 60_000, queues, timeouts }],
      });
      await handle.result().catch(() => {});
      if (childId === undefined) return handle;
      const child = client.workflow.getHandle(childId);
      await child.result();
      return child;
    },
  };
}

function promisesLeft(campaignId: string): Partial<Activities> {
  let looks = 0;
  return {
    fireSchedule: async () => ({ campaignId, round: { number: 1, workflowId: `campaign/${campaignId}/1` } }),
    plan: async () => {
      looks += 1;
      return looks === 1 ? { kind: 'wait', reason: 'due', inMs: 2_000, outstanding: false, onlyPromises: true } : { kind: 'done' };
    },
  };
}

function branches(): Record<string, Branch> {
  let [plans, isMended, isDraining, tries, deliveries] = [0, false, false, 0, 0];
  const waiting = { kind: 'wait', reason: 'due', inMs: 3_600_000, outstanding: false } as const;
  const verdict = { batchId: 'spring/1/1', k: 1, verdict: 'not_sent', now: at } as const;
  return {
    continued: ofCampaign({
      plan: async () => {
        plans += 1;
        return plans < longAfter ? { ...waiting, inMs: 1 } : { kind: 'done' };
      },
    }),
    refused: ofCampaign(
      {
        checkCallers: async () => (isMended ? { ok: true } : { ok: false, inMs: null, pausedAt: at }),
        notifyPause: async () => {},
      },
      async (handle) => {
        await until('it is paused', async () => (await handle.query(statusQuery)).state === 'paused');
        await handle.executeUpdate(pauseUpdate);
        isMended = true;
        await handle.executeUpdate(resumeUpdate);
      },
    ),
    unrecorded: ofCampaign({
      submit: async () => ({ kind: 'unrecorded', verdict }),
      recordPostVerdict: async () => {
        tries += 1;
        return { state: tries === 1 ? 'not_sent' : 'confirmed' };
      },
    }),
    'cancelled-in-temporal': ofCampaign(
      {
        plan: async () => (isDraining ? { kind: 'done' } : waiting),
        changeState: async () => {
          isDraining = true;
          return { changed: true };
        },
      },
      async (handle) => {
        await until('it waits', async () => (await handle.query(statusQuery)).waitingFor === 'due');
        await handle.cancel();
      },
    ),
    'rows-added': ofCampaign({ plan: async () => (isMended ? { kind: 'done' } : { ...waiting, reason: 'rows' }) }, async (handle) => {
      await until('it waits', async () => (await handle.query(statusQuery)).waitingFor === 'rows');
      isMended = true;
      await handle.signal(rowsAddedSignal);
    }),
    fired: ofFiring({
      fireSchedule: async ({ scheduledAt, timeZone }) => {
        const campaignId = scheduledCampaignId('daily', scheduledAt, timeZone);
        return { campaignId, round: { number: 1, workflowId: `campaign/${campaignId}/1` } };
      },
    }),
    'firing-promised': ofFiring(promisesLeft('parent')),
    'promises-left': ofFiring(promisesLeft('child'), 'campaign/child/1'),
    'firing-failed': ofFiring({
      fireSchedule: async () => {
        throw ApplicationFailure.nonRetryable('There is no list people.csv.', failureTypes.firing);
      },
      noteFiringFailure: async () => {},
    }),
    'notice-failed': {
      activities: {
        notify: async () => {
          throw ApplicationFailure.create({
            type: failureTypes.hook,
            nonRetryable: true,
            details: [{ fault: 'refused', status: 410 }],
          });
        },
        noteUndelivered: async () => {},
      },
      run: async (client, queues) => {
        const handle = await client.workflow.start<typeof completionNotice>('completionNotice', {
          workflowId: `notice/${queues.campaign}`,
          taskQueue: queues.campaign,
          args: [{ campaignId: 'spring', round: 1, end: { startedAt: at, endedAt: at } as RoundEnd, queues, timeouts }],
        });
        await handle.result();
        return handle;
      },
    },
    delivered: {
      activities: {
        deliver: async () => {
          deliveries += 1;
          if (deliveries > 1) return { isOver: deliveries === 3 };
          throw ApplicationFailure.create({ type: failureTypes.hook, nextRetryDelay: 3_600_000 });
        },
      },
      run: async (client, queues) => {
        const handle = await client.workflow.start<typeof webhook>('webhook', {
          workflowId: `webhook/${queues.campaign}`,
          taskQueue: queues.campaign,
          args: [{ webhookId: '00c0ffee0001', queues, timeouts }],
        });
        await until('it waits after a failure', () => deliveries === 1);
        await handle.signal(deliverNowSignal);
        await handle.result();
        return handle;
      },
    },
  };
}

/** Events after which the recorded run continues as new. */
const longAfter = 60;

/** Leads a workflow with fake activities through branches that a sandbox campaign takes only by chance. */
export async function recordBranches(
  isWanted: (name: string) => boolean,
  write: (name: string, handle: WorkflowHandle) => Promise<void>,
): Promise<void> {
  const server = await startCampaignServer({ longAfter });
  for (const [name, { activities, run }] of Object.entries(branches())) {
    if (!isWanted(name)) continue;
    await server.workWith(activities, async (queues) => write(name, await run(server.client, queues)));
  }
  await server.stop();
}

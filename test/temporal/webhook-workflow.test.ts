import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Activities } from '../../activities/index.ts';
import type { CampaignQueues } from '../../src/rules/ids.ts';
import { failureTypes } from '../../src/rules/failure-types.ts';
import { deliverNowSignal } from '../../workflows/messages.ts';
import type { webhook } from '../../workflows/webhook.ts';
import { until } from '../support/until.ts';
import { startCampaignServer, timeouts, type CampaignServer } from './campaign-server.ts';

let server: CampaignServer;
beforeAll(async () => {
  server = await startCampaignServer();
});
afterAll(() => server.stop());

const hour = 60 * 60_000;
const notTaken = (nextRetryDelay: number) =>
  ApplicationFailure.create({ type: failureTypes.hook, message: 'not taken (503)', nextRetryDelay });

/** Runs the deliveries to a webhook with an activity of the test. */
async function withDeliveries(
  deliver: Activities['deliver'],
  work: (handle: Awaited<ReturnType<typeof start>>) => Promise<void>,
  on = server,
): Promise<void> {
  await on.workWith({ deliver }, async (queues) => {
    await work(await start(on, queues));
  });
}

function start(on: CampaignServer, queues: CampaignQueues) {
  const input = { webhookId: '00c0ffee0001', queues, timeouts };
  return on.client.workflow.start<typeof webhook>('webhook', {
    workflowId: `webhook/${queues.campaign}`,
    taskQueue: queues.campaign,
    args: [input],
  });
}

test('deliveries follow one another until nothing is to be delivered', async () => {
  const asked: unknown[] = [];
  await withDeliveries(
    async (input) => {
      asked.push(input);
      return { isOver: asked.length === 3 };
    },
    async (handle) => handle.result(),
  );
  expect(asked).toEqual(Array.from({ length: 3 }, () => ({ webhookId: '00c0ffee0001' })));
});

test('a delivery that failed is tried again after the pause that its failure names', async () => {
  let tries = 0;
  await withDeliveries(
    async () => {
      tries += 1;
      if (tries < 3) throw notTaken(10);
      return { isOver: true };
    },
    async (handle) => handle.result(),
  );
  expect(tries).toBe(3);
});

test('one that waits for an hour after a failure goes on at once when it is resumed', async () => {
  let tries = 0;
  await withDeliveries(
    async () => {
      tries += 1;
      if (tries === 1) throw notTaken(hour);
      return { isOver: true };
    },
    async (handle) => {
      await until('it waits', async () => {
        const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
        return pending?.attempt === 2;
      });
      await handle.signal(deliverNowSignal);
      await handle.result();
    },
  );
  expect(tries).toBe(2);
});

test('a resume that comes while the last delivery ends is not lost', async () => {
  let [tries, end] = [0, (): void => {}];
  await withDeliveries(
    async () => {
      tries += 1;
      if (tries === 1) await new Promise<void>((resolve) => (end = resolve));
      return { isOver: true };
    },
    async (handle) => {
      await until('it delivers', () => tries === 1);
      await handle.signal(deliverNowSignal);
      end();
      await handle.result();
    },
  );
  expect(tries).toBe(2);
});

test('what cancels the workflow ends it', async () => {
  let isAsked = false;
  await withDeliveries(
    async () => {
      isAsked = true;
      throw notTaken(hour);
    },
    async (handle) => {
      await until('it has been asked', () => isAsked);
      await handle.cancel();
      await expect(handle.result()).rejects.toThrow();
    },
  );
});

test('when its history has become long it goes on in a new run: one delivery at a time, and a resume reaches it', async () => {
  const short = await startCampaignServer({ longAfter: 40 });
  onTestFinished(() => short.stop());
  let [tries, atOnce, mostAtOnce] = [0, 0, 0];
  await withDeliveries(
    async () => {
      tries += 1;
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      await Promise.resolve();
      atOnce -= 1;
      if (tries === 30) throw notTaken(hour);
      return { isOver: tries > 30 };
    },
    async (handle) => {
      await until('a later run waits', async () => {
        const { runId, raw } = await handle.describe();
        return runId !== handle.firstExecutionRunId && raw.pendingActivities?.[0]?.attempt === 2;
      });
      await handle.signal(deliverNowSignal);
      await handle.result();
    },
    short,
  );
  expect([tries, mostAtOnce]).toEqual([31, 1]);
});

import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Activities } from '../../activities/index.ts';
import { failureTypes } from '../../src/domain/failure-types.ts';
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
): Promise<void> {
  await server.workWith({ deliver }, async (queues) => {
    await work(await start(queues));
  });
}

function start(queues: { campaign: string; submit: string; collect: string }) {
  const input = { webhookId: '00c0ffee0001', queues, timeouts };
  return server.client.workflow.start<typeof webhook>('webhook', {
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

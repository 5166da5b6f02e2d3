import { CancellationScope, continueAsNew, isCancellation, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { longestDeliveryMs } from '../src/rules/webhooks/pace.ts';
import { deliverNowSignal, type WebhookInput } from './messages.ts';

/** Heartbeats are most of an idle webhook's cost; a dead worker is noticed this many times later than by campaigns. */
const heartbeatFactor = 4;

/**
 * Delivers log events while the webhook wants them, one long delivery after another. A failure carries its retry delay; retries never end.
 */
export async function webhook(input: WebhookInput): Promise<void> {
  const { webhookId, queues, timeouts } = input;
  const { deliver } = proxyActivities<Pick<Activities, 'deliver'>>({
    taskQueue: queues.collect,
    startToCloseTimeout: longestDeliveryMs + timeouts.collectMs,
    heartbeatTimeout: heartbeatFactor * timeouts.heartbeatMs,
    retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 },
  });
  let isDeliveryRequested = false;
  let delivery: CancellationScope | undefined;
  setHandler(deliverNowSignal, () => {
    isDeliveryRequested = true;
    delivery?.cancel();
  });
  while (!workflowInfo().continueAsNewSuggested) {
    isDeliveryRequested = false;
    delivery = new CancellationScope();
    try {
      const { isOver } = await delivery.run(() => deliver({ webhookId }));
      if (isOver && !isStillRequested()) return;
    } catch (error) {
      if (!isCancellation(error) || !isStillRequested()) throw error;
    }
  }
  await continueAsNew<typeof webhook>(input);

  function isStillRequested(): boolean {
    return isDeliveryRequested;
  }
}

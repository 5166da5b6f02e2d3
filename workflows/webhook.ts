import { CancellationScope, continueAsNew, isCancellation, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { longestDeliveryMs } from '../src/rules/webhooks/pace.ts';
import { deliverNowSignal, type WebhookInput } from './messages.ts';

/** Heartbeats are most of what an idle webhook costs; a worker that died is missed this many times later than by its campaigns. */
const heartbeatFactor = 4;

/**
 * Delivers events of the log to a webhook as long as it wants them: one delivery at a time, each of them long. How long to wait after a
 * failure is told by the failure itself; it is tried for ever.
 */
export async function webhook(input: WebhookInput): Promise<void> {
  const { webhookId, queues, timeouts } = input;
  const { deliver } = proxyActivities<Pick<Activities, 'deliver'>>({
    taskQueue: queues.collect,
    startToCloseTimeout: longestDeliveryMs + timeouts.collectMs,
    heartbeatTimeout: heartbeatFactor * timeouts.heartbeatMs,
    retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 },
  });
  let isWanted = false;
  let delivery: CancellationScope | undefined;
  setHandler(deliverNowSignal, () => {
    isWanted = true;
    delivery?.cancel();
  });
  while (!workflowInfo().continueAsNewSuggested) {
    isWanted = false;
    delivery = new CancellationScope();
    try {
      const { isOver } = await delivery.run(() => deliver({ webhookId }));
      if (isOver && !stillWanted()) return;
    } catch (error) {
      if (!isCancellation(error) || !stillWanted()) throw error;
    }
  }
  await continueAsNew<typeof webhook>(input);

  /** Whether the webhook was resumed while its delivery came to an end. */
  function stillWanted(): boolean {
    return isWanted;
  }
}

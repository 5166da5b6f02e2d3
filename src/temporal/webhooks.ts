import type { Client } from '@temporalio/client';
import type { Config } from '../shared/config.ts';
import { campaignQueues, webhookWorkflowId } from '../rules/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { deliveringStates, listWebhooks } from '../ledger/webhooks/registry.ts';
import type { WebhookInput } from '../../workflows/messages.ts';
import type { webhook as webhookWorkflow } from '../../workflows/webhook.ts';
import { campaignTimeouts } from './timeouts.ts';
import type { Store } from '../ledger/tx.ts';

interface WebhookStart {
  config: Config;
  store: Pick<Store, 'ledgerId'>;
  client: Client;
}

function optionsOf({ config, store }: Omit<WebhookStart, 'client'>, webhookId: string) {
  const queues = campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId);
  const input: WebhookInput = { webhookId, queues, timeouts: campaignTimeouts(config) };
  return {
    taskQueue: queues.campaign,
    workflowId: webhookWorkflowId(webhookId),
    args: [input] as [WebhookInput],
    staticSummary: `delivers to webhook ${webhookId}`,
  };
}

/** Starts deliveries at once, whether the webhook is active, waiting after a failure, or paused. Throws what the client throws. */
export async function deliverNow(start: WebhookStart, webhookId: string): Promise<void> {
  const { deliverNowSignal } = await import('../../workflows/messages.ts');
  await start.client.workflow.signalWithStart<typeof webhookWorkflow>('webhook', {
    ...optionsOf(start, webhookId),
    signal: deliverNowSignal,
  });
}

const checkIntervalMs = 15_000;
/** Every 40th check restarts all, in case Temporal has lost some; running ones are unaffected. */
const checksUntilRestart = 40;

/** Starts missing deliveries, now and periodically, since Temporal may have been away. `stop` ends the checks. */
export function keepWebhooksRunning(start: WebhookStart & { store: Store; logger: Logger }): {
  stop: () => Promise<void>;
} {
  const { store, client, logger } = start;
  const started = new Set<string>();
  let checkCount = 0;
  const startMissing = async (): Promise<void> => {
    checkCount += 1;
    if (checkCount % checksUntilRestart === 0) started.clear();
    for (const { webhookId, state, sinceReal } of await listWebhooks(store.db)) {
      const key = `${webhookId} ${sinceReal}`;
      if (started.has(key) || !deliveringStates.some((delivering) => delivering === state)) continue;
      const options = optionsOf(start, webhookId);
      await client.workflow.start<typeof webhookWorkflow>('webhook', { ...options, workflowIdConflictPolicy: 'USE_EXISTING' });
      started.add(key);
    }
  };
  let pending = Promise.resolve();
  const startMissingSafely = (): void => {
    pending = pending.then(startMissing).catch((error: unknown) => {
      logger.warn({ err: error }, 'webhooks could not be looked after; it is tried again');
    });
  };
  startMissingSafely();
  const timer = setInterval(startMissingSafely, checkIntervalMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await pending;
    },
  };
}

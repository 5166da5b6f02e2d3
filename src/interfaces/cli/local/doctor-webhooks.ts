import type { Config } from '../../../shared/config.ts';
import { openExistingLedger } from '../../../operations/control/ledger.ts';
import { listWebhooks, type Webhook } from '../../../ledger/webhooks/registry.ts';
import { webhookAsJson, webhookStanding } from '../../../presentation/words/webhooks.ts';
import { ok, warning, type Finding } from './doctor-finding.ts';

const name = 'Webhooks';

/** Whether each webhook of the database takes what it is told; nothing where it has none, or is not there to be asked. */
export async function checkWebhooks(config: Config, now: number): Promise<Finding[]> {
  const webhooks = await readWebhooks(config);
  if (webhooks.length === 0) return [];
  const bad = webhooks.filter(({ state, failures }) => state === 'disabled' || (state !== 'paused' && failures > 0));
  const [first] = bad;
  if (first === undefined) return [ok(name, `${webhooks.length}, none of which fails`)];
  const told = bad.map((webhook) => {
    const standing = webhookStanding(webhook, now);
    return `${webhook.webhookId} (${webhookAsJson(webhook).place}) ${standing}`;
  });
  return [
    warning(
      name,
      `${bad.length} of ${webhooks.length}: ${told.join('; ')}`,
      `Nothing is lost while one fails. Look at its receiver, then try: carillon webhook test ${first.webhookId}`,
    ),
  ];
}

async function readWebhooks(config: Config): Promise<Webhook[]> {
  try {
    const store = await openExistingLedger(config);
    try {
      return await listWebhooks(store.db);
    } finally {
      await store.close();
    }
  } catch {
    // What is wrong with the database is told by those who look at it.
    return [];
  }
}

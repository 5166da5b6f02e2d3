import { onTestFinished } from 'vitest';
import { deliver, type DeliverResult } from '../../../activities/deliver.ts';
import type { ActivityDependencies } from '../../../activities/dependencies.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { findEndOfLog } from '../../../src/ledger/webhooks/log-end.ts';
import { findWebhook, insertWebhook, type NewWebhook, type Webhook } from '../../../src/ledger/webhooks/registry.ts';
import { noon } from '../../ledger/scenario.ts';
import { asActivity } from '../../support/activity-context.ts';
import { buildDependencies } from '../../support/activity-dependencies.ts';
import type { HookCall } from './hook-server.ts';
import type { Store } from '../../../src/ledger/tx.ts';

export const webhookId = '00c0ffee0001';
export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A webhook at the end of the log, of a person, for everything unless `more` says otherwise. */
export async function addTestWebhook(store: Store, url: string, more: Partial<NewWebhook> = {}): Promise<Webhook> {
  const cursor = await findEndOfLog(store);
  const made = { webhookId, by: 'person', now: noon, nowReal: noon };
  return insertWebhook(store, { url, campaignId: null, types: null, cursor, ...made, ...more });
}

export async function webhookOf(store: Store, id = webhookId): Promise<Webhook> {
  const found = await findWebhook(store.db, id);
  if (found === undefined) throw new Error('the webhook has gone');
  return found;
}

/** Delivers as a worker would, until it is stopped or ends by itself; a failure is the result as well. */
export function startDelivery(
  store: Store,
  more: Partial<Pick<ActivityDependencies, 'nowReal' | 'hookSecret' | 'hookNetworks' | 'logger' | 'readVariable'>> = {},
): { ended: Promise<DeliverResult | Error>; stop: () => Promise<DeliverResult | Error> } {
  const stopping = new AbortController();
  const deps = buildDependencies({ store, hookSecret: secret, stopping: stopping.signal, nowReal: Date.now, ...more });
  const ended = asActivity(() => deliver(deps, { webhookId })).catch((error: unknown) => error as Error);
  const stop = () => {
    stopping.abort();
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  return { ended, stop };
}

export interface ToldMessage {
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** What came, in its order, each checked with the library of Standard Webhooks. */
export function readMessages(calls: readonly HookCall[], key = secret): ToldMessage[] {
  return calls.map(({ headers, text }) => {
    const body = new StandardWebhook(key).verify(text, headers as Record<string, string>) as Omit<ToldMessage, 'id'>;
    return { id: String(headers['webhook-id']), ...body };
  });
}

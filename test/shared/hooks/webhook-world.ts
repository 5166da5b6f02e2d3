import type { ServerResponse } from 'node:http';
import { expect, onTestFinished } from 'vitest';
import { deliver, type DeliverResult } from '../../../activities/deliver.ts';
import type { ActivityDependencies } from '../../../activities/dependencies.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { readAllEvents } from '../../../src/ledger/events.ts';
import { findEndOfLog } from '../../../src/ledger/webhooks/log-end.ts';
import { writeMessage } from '../../../src/ledger/webhooks/message.ts';
import { findWebhook, insertWebhook, type NewWebhook, type Webhook } from '../../../src/ledger/webhooks/registry.ts';
import { webhookWorkflowId } from '../../../src/rules/ids.ts';
import { noon } from '../../ledger/scenario.ts';
import { asActivity } from '../../support/activity-context.ts';
import { buildDependencies } from '../../support/activity-dependencies.ts';
import type { CampaignRun } from '../../support/campaign-run.ts';
import { findTokens, textOfWorkflow } from '../../support/leak-scan.ts';
import { until } from '../../support/until.ts';
import { sendJson, type HookCall, type HookServer } from './hook-server.ts';
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

/** Of a worker that delivers; a delivery is missed four times as late as other work. */
export const deliverySettings = {
  CARILLON_HOOK_SECRET: secret,
  CARILLON_HOOK_NETWORKS: '127.0.0.1',
  CARILLON_HEARTBEAT_TIMEOUT_MS: '2000',
};
export const taken = (response: ServerResponse) => sendJson(response, {});

/** Tests share a server, and so the names of its workflows. */
export const webhookIdOf = ({ id }: CampaignRun): string => `webhook-of-${id}`;
export const failuresOf = async (run: CampaignRun): Promise<number> => (await webhookOf(run.store, webhookIdOf(run))).failures;

/** What the log has for the webhook, in its order. */
async function expectedOf(run: CampaignRun): Promise<ToldMessage[]> {
  const webhook = await webhookOf(run.store, webhookIdOf(run));
  const messages: ToldMessage[] = [];
  for (const event of await readAllEvents(run.store.db, 0, 100_000)) {
    const message = await writeMessage(run.store.db, webhook, event);
    if (message !== null) messages.push({ id: message.id, ...message.body });
  }
  return messages;
}

/** The notices received, each once and in order; neither they nor Temporal hold personal data, secrets or addresses. */
export async function untilAllTaken(run: CampaignRun, hook: HookServer, tokens = run.list.tokens): Promise<ToldMessage[]> {
  const expected = await expectedOf(run);
  const [, lastSeq] = expected.at(-1)?.id.split('_') ?? [];
  await until('everything has been taken', async () => (await webhookOf(run.store, webhookIdOf(run))).cursor >= Number(lastSeq));
  const messages = readMessages(hook.calls);
  // First come, first in the log; and a repeat says the same.
  const first = [...new Set(messages.map(({ id }) => id))].map((id) => messages.find((message) => message.id === id));
  expect(first).toEqual(expected);
  expect(new Set(messages.map((message) => JSON.stringify(message))).size).toBe(expected.length);

  const history = await textOfWorkflow(run.client, webhookWorkflowId(webhookIdOf(run)));
  expect(history).toContain('deliver');
  expect(findTokens(history, [run.apiKey, secret, 'token=planted', '127.0.0.1', ...tokens])).toEqual([]);
  expect(findTokens(hook.calls.map(({ text }) => text).join(' '), [run.apiKey, secret, ...tokens])).toEqual([]);
  for (const worker of run.workers) expect(findTokens(worker.output(), [secret, 'token=planted'])).toEqual([]);
  return expected;
}

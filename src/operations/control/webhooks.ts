import { randomBytes, randomUUID } from 'node:crypto';
import { ConfigError, readProxies, readVariable, type Config } from '../../shared/config.ts';
import type { WebhookEventType } from '../../rules/webhooks/messages.ts';
import { HookError } from '../../shared/hooks/errors.ts';
import { refuseClosed } from '../../shared/hooks/networks.ts';
import { postSigned } from '../../shared/hooks/signed-post.ts';
import { hasQuery, hookUrlFix, isKeptUrl, keptUrlFix, parseHookUrl } from '../../shared/input/kept-url.ts';
import { foreseen, UsageError } from '../../shared/input/errors.ts';
import { findEndOfLog } from '../../ledger/webhooks/log-end.ts';
import { deleteWebhook, deliveringStates, findWebhook, insertWebhook, listWebhooks, steerWebhook } from '../../ledger/webhooks/registry.ts';
import { withWaiting, type WebhookWithWaiting } from '../../ledger/webhooks/waiting.ts';
import { deliverNow } from '../../temporal/webhooks.ts';
import { connected, type Control } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readServiceTime } from './service.ts';

/** Thrown for an unknown webhook; its message lists the known ones. */
export class UnknownWebhookError extends foreseen('UnknownWebhookError', true) {}

/** `notice`: why Temporal was not notified; a worker follows the change within a minute. */
export interface ChangedWebhook {
  webhook: WebhookWithWaiting;
  notice: string | null;
}

/** `person`, or `person:` and a token's name. */
type By = { by: string };

/** Throws UnknownWebhookError. */
export async function requireWebhook({ store }: Pick<Control, 'store'>, webhookId: string): Promise<WebhookWithWaiting> {
  const webhook = await findWebhook(store.db, webhookId);
  if (webhook !== undefined) return withWaiting(store.db, webhook);
  const ids = (await listWebhooks(store.db)).map((known) => known.webhookId);
  const known = ids.length === 0 ? 'It has none yet.' : `It has ${ids.join(', ')}.`;
  throw new UnknownWebhookError(`The database has no webhook ${JSON.stringify(webhookId)}. ${known}`);
}

/** Throws UsageError without repeating the address, since a part may be secret. */
export function readWebhookUrl(text: string): string {
  const url = parseHookUrl(text);
  if (url === null) throw new UsageError(`The address of the webhook cannot be used: ${hookUrlFix}.`);
  if (!isKeptUrl(url) && hasQuery(url))
    throw new UsageError(
      `The address of the webhook has a query, which may be a key and would be kept in the database as it is: write where the address stands, ${keptUrlFix}.`,
    );
  return url;
}

/**
 * Adds a webhook for events from now on. `webhookId`: idempotency key. Throws UsageError, UnknownCampaignError, and ConfigError without a
 * signing secret.
 */
export async function addWebhook(
  control: Control,
  added: By & { url: string; campaign: string | null; types: readonly WebhookEventType[] | null; webhookId?: string },
): Promise<ChangedWebhook> {
  const { config, store } = control;
  const { campaign, types, by, webhookId = randomBytes(6).toString('hex') } = added;
  const url = readWebhookUrl(added.url);
  requireSecret(config);
  await refuseAddress(url, config);
  if (campaign !== null) await requireCampaign(store, campaign);
  const webhook = await insertWebhook(store, {
    webhookId,
    url,
    campaignId: campaign,
    types,
    by,
    now: await readServiceTime(control),
    nowReal: control.now(),
    cursor: await findEndOfLog(store),
  });
  return { webhook: await withWaiting(store.db, webhook), notice: await begin(control, webhookId) };
}

/** Each request checks again; only workers check an address with variables. Throws UsageError. */
async function refuseAddress(url: string, { CARILLON_HOOK_NETWORKS: allowed }: Config): Promise<void> {
  if (isKeptUrl(url)) return;
  try {
    await refuseClosed(new URL(url), allowed);
  } catch (error) {
    if (error instanceof HookError) throw new UsageError(`The webhook cannot be added: ${error.message}.`, { cause: error });
    throw error;
  }
}

/** A request under way may still arrive. Throws UnknownWebhookError. */
export async function removeWebhook(control: Control, webhookId: string, { by }: By): Promise<WebhookWithWaiting> {
  const webhook = await requireWebhook(control, webhookId);
  await deleteWebhook(control.store, {
    webhookId,
    by,
    now: await readServiceTime(control),
    nowReal: control.now(),
  });
  return webhook;
}

/** Pauses, or sends what came since at once, even after a failure. Idempotent. Throws UnknownWebhookError. */
export async function pauseOrResumeWebhook(
  control: Control,
  webhookId: string,
  { wish: command, by }: By & { wish: 'pause' | 'resume' },
): Promise<ChangedWebhook> {
  await requireWebhook(control, webhookId);
  const at = { now: await readServiceTime(control), nowReal: control.now() };
  await steerWebhook(control.store, command, { webhookId, by, ...at });
  const notice = command === 'resume' ? await begin(control, webhookId) : null;
  return { webhook: await requireWebhook(control, webhookId), notice };
}

export type PingResult = { delivered: true } | { delivered: false; status: number | null; why: string };

const pingTimeoutMs = 15_000;

/** Sends a `ping` now. Success ends the wait after failures. Throws UnknownWebhookError, and ConfigError without a secret. */
export async function pingWebhook(control: Control, webhookId: string): Promise<PingResult> {
  const webhook = await requireWebhook(control, webhookId);
  const secret = requireSecret(control.config);
  try {
    await postSigned({
      url: webhook.url,
      readVariable,
      secret,
      networks: control.config.CARILLON_HOOK_NETWORKS,
      eventId: `${webhookId}_ping_${randomUUID()}`,
      body: { type: 'ping', timestamp: new Date(control.now()).toISOString(), data: { webhook: webhookId } },
      timeoutMs: pingTimeoutMs,
      proxies: readProxies(control.config),
      nowReal: () => control.now(),
      stopping: new AbortController().signal,
    });
  } catch (error) {
    if (error instanceof HookError) return { delivered: false, status: error.status, why: error.message };
    throw error;
  }
  const waits = webhook.failures > 0 && deliveringStates.some((state) => state === webhook.state);
  if (waits) await begin(control, webhookId);
  return { delivered: true };
}

function requireSecret({ CARILLON_HOOK_SECRET: secret }: Config): string {
  if (secret !== undefined) return secret;
  throw new ConfigError(
    'CARILLON_HOOK_SECRET is not set, and requests to webhooks are signed with it. Set the same secret (16 characters or more) here, for every worker and at the receiver.',
  );
}

const connectLimitMs = 3_000;

/** Workers periodically start missing deliveries, so an error here only delays the first event. */
async function begin(control: Control, webhookId: string): Promise<string | null> {
  try {
    const { config, store, temporal } = await connected(control, connectLimitMs);
    await deliverNow({ config, store, client: temporal.client }, webhookId);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

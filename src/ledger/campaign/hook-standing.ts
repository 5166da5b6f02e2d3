import { hasEnded, pausedByOperator } from '../../rules/lifecycle.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries, Store } from '../tx.ts';
import { silentHookSince } from '../dial/screening.ts';
import type { NewEvent, NotificationFacts } from '../../rules/events.ts';
import { appendEvents, newestEvents } from '../events.ts';

type Told = 'pending' | 'delivered' | 'failed';

export type HookStatus = Awaited<ReturnType<typeof readHookStatus>>;

export async function readHookStatus(db: Queries, campaign: Campaign) {
  const { rules, campaignId, round } = campaign;
  const hasCompletionHook = rules.onCompletion !== null && hasEnded(campaign) && campaign.state !== 'failed';
  return {
    /** Since when the pre-dial hook has not answered about the recipients to be called (service time). */
    silentSince: rules.preDial === null ? null : await silentHookSince(db, campaign),
    /** Delivery of the end-of-round notification; null: no hook, or no end yet. */
    completion: hasCompletionHook
      ? ((await findHookDelivery(db, { hook: 'on_completion', campaignId, round })) ?? ('pending' as const))
      : null,
    /** Delivery of the notification of the current pause; null: no hook, or no such pause. */
    pause: await readPauseNotification(db, campaign),
  };
}

async function readPauseNotification(db: Queries, campaign: Campaign): Promise<Told | null> {
  const { rules, campaignId, round } = campaign;
  const pause = rules.onPause === null ? null : await findOwnPause(db, campaign);
  if (pause === null) return null;
  const { pausedAt, seq } = pause;
  return (await findHookDelivery(db, { hook: 'on_pause', campaignId, round, pausedAt }, seq)) ?? 'pending';
}

export type HookNotification = NotificationFacts & { campaignId: string };

const deliveryTypes = ['hook.delivered', 'hook.failed'] as const;

/** Few events follow the end of a round. */
const latestEvents = 200;

/** Newest logged delivery to the hook, or null. Searches after `afterSeq`; default: the latest events. */
export async function findHookDelivery(
  db: Queries,
  notification: HookNotification,
  afterSeq?: number,
): Promise<'delivered' | 'failed' | null> {
  const log = newestEvents(db, notification.campaignId).select(['type', 'data']);
  const rows = await (
    afterSeq === undefined ? log.limit(latestEvents) : log.where('seq', '>', afterSeq).where('type', 'in', deliveryTypes)
  ).execute();
  for (const { type, data } of rows) {
    if (type !== 'hook.delivered' && type !== 'hook.failed') continue;
    const logged = JSON.parse(data ?? '{}') as Record<string, unknown>;
    const isThis = Object.entries(factsOf(notification)).every(([key, value]) => logged[key] === value);
    if (isThis) return type === 'hook.delivered' ? 'delivered' : 'failed';
  }
  return null;
}

export async function recordHookDelivery(
  store: Store,
  notification: HookNotification,
  { now, fault }: { now: number; fault: { fault: string; status: number | null } | null },
): Promise<void> {
  const event = { at: now, campaignId: notification.campaignId };
  const data = factsOf(notification);
  const deliveryEvent: NewEvent =
    fault === null ? { ...event, type: 'hook.delivered', data } : { ...event, type: 'hook.failed', data: { ...data, ...fault } };
  await store.transaction((tx) => appendEvents(tx, [deliveryEvent]));
}

function factsOf({ campaignId: _campaign, ...facts }: HookNotification): NotificationFacts {
  return facts;
}

export interface OwnPause {
  seq: number;
  pausedAt: number;
  /** Our own text: what was seen, what to fix. */
  reason: string;
  /** When it ends by itself; null: an operator ends it. */
  resumesAt: number | null;
}

/** The current pause if the campaign made it; null if not paused, or paused or taken over by an operator. */
export async function findOwnPause(db: Queries, campaign: Campaign): Promise<OwnPause | null> {
  if (campaign.state !== 'paused' || campaign.stateReason === pausedByOperator) return null;
  return readOwnPause(db, campaign.campaignId);
}

/** The pause that the campaign made at `at`, even if over; default: its latest state change. Null: none. */
export async function readOwnPause(db: Queries, campaignId: string, at?: number): Promise<OwnPause | null> {
  const row = await newestEvents(db, campaignId)
    .select(['seq', 'at', 'data'])
    .where('type', '=', 'campaign.state')
    .$if(at !== undefined, (query) => query.where('at', '=', at ?? 0))
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const change = JSON.parse(row.data ?? '{}') as { to?: string; reason?: string | null; resumeAt?: number };
  if (change.to !== 'paused' || change.reason === pausedByOperator) return null;
  return { seq: row.seq, pausedAt: row.at, reason: change.reason ?? '', resumesAt: change.resumeAt ?? null };
}

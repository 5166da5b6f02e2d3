import { failureTypes } from '../src/rules/failure-types.ts';
import { HookError, hookPlace } from '../src/shared/hooks/errors.ts';
import { postSigned } from '../src/shared/hooks/signed-post.ts';
import { findCampaign } from '../src/ledger/rows/campaigns.ts';
import {
  findHookDelivery,
  recordHookDelivery,
  type HookNotification,
  findOwnPause,
  readOwnPause,
} from '../src/ledger/campaign/hook-standing.ts';
import type { RoundEnd } from '../src/ledger/campaign/rounds.ts';
import { instantForLog, senderOf, type ActivityDependencies } from './dependencies.ts';
import { expectedWait } from './failures.ts';

export interface NotifyInput {
  campaignId: string;
  round: number;
  end: RoundEnd;
}

export interface NotifyPauseInput {
  campaignId: string;
  round: number;
  /** Service time. The reason stays in the database: it may name a host. */
  pausedAt: number;
}

/** Details of the failure when a hook was not notified. */
export interface NotificationFault {
  fault: string;
  status: number | null;
}

export interface UndeliveredInput extends NotificationFault {
  campaignId: string;
  round: number;
  /** Set for a pause; absent: the end of a round. */
  pausedAt?: number;
}

/** Notifies the completion hook that a round has ended. */
export async function notify(deps: ActivityDependencies, { campaignId, round, end }: NotifyInput): Promise<void> {
  const { startedAt, endedAt, ...counts } = end;
  await sendNotification(deps, { hook: 'on_completion', campaignId, round }, async () => ({
    event: 'campaign.ended',
    campaign: campaignId,
    round,
    ...counts,
    started_at: new Date(startedAt).toISOString(),
    ended_at: new Date(endedAt).toISOString(),
  }));
}

/** Notifies the pause hook of a pause by the campaign itself, even if it has resumed since. */
export async function notifyPause(deps: ActivityDependencies, input: NotifyPauseInput): Promise<void> {
  const { campaignId, round, pausedAt } = input;
  await sendNotification(deps, { hook: 'on_pause', ...input }, async () => {
    const pause = await readOwnPause(deps.store.db, campaignId, pausedAt);
    if (pause === null) return null;
    const { reason, resumesAt } = pause;
    return {
      event: 'campaign.paused',
      campaign: campaignId,
      round,
      reason,
      paused_at: new Date(pausedAt).toISOString(),
      resumes_at: resumesAt === null ? null : new Date(resumesAt).toISOString(),
      what_to_do:
        resumesAt === null
          ? 'Fix what the reason names, then resume the campaign.'
          : 'It resumes by itself at resumes_at; pause it to prevent that.',
    };
  });
}

/**
 * Notifies a hook, with the same body and event id at each try; not resent once delivered. Throws a non-retryable failure when the hook
 * refuses it, else a retryable one. `body` answers null when there is nothing to send.
 */
async function sendNotification(
  deps: ActivityDependencies,
  notification: HookNotification,
  body: () => Promise<object | null>,
): Promise<void> {
  const { store, logger } = deps;
  const { campaignId, round } = notification;
  const what = notification.hook === 'on_pause' ? 'pause' : 'end';
  let place: string | undefined;
  try {
    const rules = (await findCampaign(store.db, campaignId))?.rules;
    const hook = (notification.hook === 'on_pause' ? rules?.onPause : rules?.onCompletion) ?? null;
    if (hook === null || (await deliveryStatusOf(deps, notification)) === 'delivered') return;
    const payload = await body();
    if (payload === null) return;
    place = hookPlace(notification.hook, hook.url);
    await postSigned({ ...senderOf(deps), url: hook.url, eventId: eventIdOf(notification), body: payload });
    await recordHookDelivery(store, notification, { now: await instantForLog(deps), fault: null });
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    const { fault, status } = error;
    logger.warn({ campaignId, round, fault, status, hook: place }, `a hook was not notified of the ${what}`);
    throw expectedWait({
      type: failureTypes.hook,
      message: `The hook was not notified of the ${what} (${status ?? fault})`,
      nonRetryable: status !== null && isRefusal(status),
      details: [{ fault, status } satisfies NotificationFault],
    });
  }
}

export async function noteUndelivered(deps: ActivityDependencies, input: UndeliveredInput): Promise<void> {
  const { campaignId, round, pausedAt, fault, status } = input;
  const notification: HookNotification =
    pausedAt === undefined ? { hook: 'on_completion', campaignId, round } : { hook: 'on_pause', campaignId, round, pausedAt };
  if ((await deliveryStatusOf(deps, notification)) !== null) return;
  await recordHookDelivery(deps.store, notification, { now: await instantForLog(deps), fault: { fault, status } });
}

/** Lets the receiver recognise a repetition. */
function eventIdOf(notification: HookNotification): string {
  const round = `${notification.campaignId}/${notification.round}`;
  return notification.hook === 'on_pause' ? `${round}/paused/${new Date(notification.pausedAt).toISOString()}` : round;
}

async function deliveryStatusOf({ store }: ActivityDependencies, notification: HookNotification): Promise<'delivered' | 'failed' | null> {
  if (notification.hook === 'on_completion') return findHookDelivery(store.db, notification);
  const pause = await readOwnPause(store.db, notification.campaignId, notification.pausedAt);
  return findHookDelivery(store.db, notification, pause?.seq ?? 0);
}

/** True when the next try would get the same answer. */
function isRefusal(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 425 && status !== 429;
}

/** When the campaign paused itself; null: no hook, no pause, or an operator made it. */
export async function pauseToTell({ store }: ActivityDependencies, campaignId: string): Promise<number | null> {
  const campaign = await findCampaign(store.db, campaignId);
  if (campaign === undefined || campaign.rules.onPause === null) return null;
  return (await findOwnPause(store.db, campaign))?.pausedAt ?? null;
}

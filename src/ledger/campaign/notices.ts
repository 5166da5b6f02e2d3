import type { NewEvent, NoticeFacts } from '../../rules/events.ts';
import { appendEvents, newestEvents } from '../events.ts';
import type { Queries, Store } from '../tx.ts';

export type Notice = NoticeFacts & { campaignId: string };

const toldTypes = ['hook.delivered', 'hook.failed'] as const;

/** Hardly anything is logged after the end of a round. */
const latestEvents = 200;

/**
 * The newest word of the log on whether the hook was told, or null. `afterSeq`: where the log stood; default: only the latest events are
 * looked at.
 */
export async function findNotice(db: Queries, notice: Notice, afterSeq?: number): Promise<'delivered' | 'failed' | null> {
  const log = newestEvents(db, notice.campaignId).select(['type', 'data']);
  const rows = await (
    afterSeq === undefined ? log.limit(latestEvents) : log.where('seq', '>', afterSeq).where('type', 'in', toldTypes)
  ).execute();
  for (const { type, data } of rows) {
    if (type !== 'hook.delivered' && type !== 'hook.failed') continue;
    const told = JSON.parse(data ?? '{}') as Record<string, unknown>;
    const isThis = Object.entries(factsOf(notice)).every(([key, value]) => told[key] === value);
    if (isThis) return type === 'hook.delivered' ? 'delivered' : 'failed';
  }
  return null;
}

export async function noteNotice(
  store: Store,
  notice: Notice,
  { now, fault }: { now: number; fault: { fault: string; status: number | null } | null },
): Promise<void> {
  const event = { at: now, campaignId: notice.campaignId };
  const data = factsOf(notice);
  const said: NewEvent =
    fault === null ? { ...event, type: 'hook.delivered', data } : { ...event, type: 'hook.failed', data: { ...data, ...fault } };
  await store.transaction((tx) => appendEvents(tx, [said]));
}

function factsOf({ campaignId: _campaign, ...facts }: Notice): NoticeFacts {
  return facts;
}

import { appendEvents, type EventType } from '../events.ts';
import type { Queries } from '../open-ledger.ts';

/** Something that a hook is told: the end of a round, or a pause that the campaign made by itself. */
export type Notice =
  | { hook: 'on_completion'; campaignId: string; round: number }
  | { hook: 'on_pause'; campaignId: string; round: number; pausedAt: number };

type ToldType = Extract<EventType, 'hook.delivered' | 'hook.failed'>;
const toldTypes: readonly ToldType[] = ['hook.delivered', 'hook.failed'];

/** Hardly anything is logged after the end of a round. */
const latestEvents = 200;

/**
 * Whether the hook was told: the newest word of the log on it, or null. `afterSeq`: where the log stood when it came about; it is
 * looked for among the latest events when that is left out.
 */
export async function findNotice(
  db: Queries,
  notice: Notice,
  afterSeq?: number,
): Promise<'delivered' | 'failed' | null> {
  const log = db
    .selectFrom('events')
    .select(['type', 'data'])
    .where('campaign_id', '=', notice.campaignId)
    .orderBy('seq', 'desc');
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

/** Notes in the log whether the hook was told, and why it was not. */
export async function noteNotice(
  db: Queries,
  type: ToldType,
  notice: Notice,
  now: number,
  fault: { fault?: string; status?: number | null } = {},
): Promise<void> {
  const { campaignId } = notice;
  await appendEvents(db, [{ at: now, campaignId, type, data: { ...factsOf(notice), ...fault } }]);
}

function factsOf({ campaignId: _campaign, ...facts }: Notice): Record<string, unknown> {
  return facts;
}

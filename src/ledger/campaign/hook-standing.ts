import { hasEnded, pausedByPerson } from '../../rules/lifecycle.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries, Store } from '../tx.ts';
import { silentHookSince } from '../dial/screening.ts';
import type { NewEvent, NoticeFacts } from '../../rules/events.ts';
import { appendEvents, newestEvents } from '../events.ts';

type Told = 'pending' | 'delivered' | 'failed';

export type HookStanding = Awaited<ReturnType<typeof readHookStanding>>;

export async function readHookStanding(db: Queries, campaign: Campaign) {
  const { rules, campaignId, round } = campaign;
  const told = rules.onCompletion !== null && hasEnded(campaign) && campaign.state !== 'failed';
  return {
    /** Since when the pre-dial hook has given no answer about the people who are to be called now (service time). */
    silentSince: rules.preDial === null ? null : await silentHookSince(db, campaign),
    /** Whether the hook was told of the end of the last round; null: there is none, or no end yet. */
    completion: told ? ((await findNotice(db, { hook: 'on_completion', campaignId, round })) ?? ('pending' as const)) : null,
    /** Whether the hook was told of the pause in which the campaign is; null: there is none, or no such pause. */
    pause: await readPauseNotice(db, campaign),
  };
}

async function readPauseNotice(db: Queries, campaign: Campaign): Promise<Told | null> {
  const { rules, campaignId, round } = campaign;
  const pause = rules.onPause === null ? null : await findOwnPause(db, campaign);
  if (pause === null) return null;
  const { pausedAt, seq } = pause;
  return (await findNotice(db, { hook: 'on_pause', campaignId, round, pausedAt }, seq)) ?? 'pending';
}

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

export interface OwnPause {
  seq: number;
  pausedAt: number;
  /** In our own words: what was seen and what to mend. */
  reason: string;
  /** When it ends by itself; null: a person ends it. */
  resumesAt: number | null;
}

/** The pause in which the campaign is; null when it is not paused, a person paused it, or a person has made the pause theirs. */
export async function findOwnPause(db: Queries, campaign: Campaign): Promise<OwnPause | null> {
  if (campaign.state !== 'paused' || campaign.stateReason === pausedByPerson) return null;
  return readOwnPause(db, campaign.campaignId);
}

/** The pause that the campaign made at that instant, whatever came after it, or its latest; null when there is none. */
export async function readOwnPause(db: Queries, campaignId: string, at?: number): Promise<OwnPause | null> {
  const row = await newestEvents(db, campaignId)
    .select(['seq', 'at', 'data'])
    .where('type', '=', 'campaign.state')
    .$if(at !== undefined, (query) => query.where('at', '=', at ?? 0))
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const change = JSON.parse(row.data ?? '{}') as { to?: string; reason?: string | null; resumeAt?: number };
  if (change.to !== 'paused' || change.reason === pausedByPerson) return null;
  return { seq: row.seq, pausedAt: row.at, reason: change.reason ?? '', resumesAt: change.resumeAt ?? null };
}

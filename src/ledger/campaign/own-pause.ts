import { pausedByPerson } from '../../rules/lifecycle.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { newestEvents } from '../events.ts';
import type { Queries } from '../tx.ts';

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

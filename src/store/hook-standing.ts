import { hasEnded } from '../domain/lifecycle.ts';
import type { Campaign } from './campaigns.ts';
import type { Queries } from './open-store.ts';
import { silentHookSince } from './screening.ts';

/** How the hooks of a campaign stand. */
export interface HookStanding {
  /** Since when the pre-dial hook has given no answer about the people who are to be called now (service time). */
  silentSince: number | null;
  /** Whether the hook was told of the end of the last round; null: there is none, or no end yet. */
  completion: 'pending' | 'delivered' | 'failed' | null;
}

/** Hardly anything is logged after the end of a round. */
const latestEvents = 200;

/** Whether the completion hook was told of the end of a round: the newest word of the log on it, or null. */
export async function findNotice(
  db: Queries,
  campaignId: string,
  round: number,
): Promise<'delivered' | 'failed' | null> {
  const rows = await db
    .selectFrom('events')
    .select(['type', 'data'])
    .where('campaign_id', '=', campaignId)
    .orderBy('seq', 'desc')
    .limit(latestEvents)
    .execute();
  for (const { type, data } of rows) {
    if (type !== 'hook.delivered' && type !== 'hook.failed') continue;
    const told = JSON.parse(data ?? '{}') as Record<string, unknown>;
    if (told['hook'] === 'on_completion' && told['round'] === round)
      return type === 'hook.delivered' ? 'delivered' : 'failed';
  }
  return null;
}

export async function readHookStanding(db: Queries, campaign: Campaign): Promise<HookStanding> {
  const { rules, campaignId, round } = campaign;
  const told = rules.onCompletion !== null && hasEnded(campaign) && campaign.state !== 'failed';
  return {
    silentSince: rules.preDial === null ? null : await silentHookSince(db, campaign),
    completion: told ? ((await findNotice(db, campaignId, round)) ?? 'pending') : null,
  };
}

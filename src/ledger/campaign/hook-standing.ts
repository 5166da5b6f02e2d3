import { hasEnded } from '../../rules/lifecycle.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { findNotice } from './notices.ts';
import type { Queries } from '../tx.ts';
import { findOwnPause } from './own-pause.ts';
import { silentHookSince } from '../dial/screening.ts';

type Told = 'pending' | 'delivered' | 'failed';

export interface HookStanding {
  /** Since when the pre-dial hook has given no answer about the people who are to be called now (service time). */
  silentSince: number | null;
  /** Whether the hook was told of the end of the last round; null: there is none, or no end yet. */
  completion: Told | null;
  /** Whether the hook was told of the pause in which the campaign is; null: there is none, or no such pause. */
  pause: Told | null;
}

export async function readHookStanding(db: Queries, campaign: Campaign): Promise<HookStanding> {
  const { rules, campaignId, round } = campaign;
  const told = rules.onCompletion !== null && hasEnded(campaign) && campaign.state !== 'failed';
  return {
    silentSince: rules.preDial === null ? null : await silentHookSince(db, campaign),
    completion: told ? ((await findNotice(db, { hook: 'on_completion', campaignId, round })) ?? 'pending') : null,
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

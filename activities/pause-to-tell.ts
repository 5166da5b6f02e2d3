import { findCampaign } from '../src/ledger/rows/campaigns.ts';
import { findOwnPause } from '../src/ledger/campaign/own-pause.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** When the campaign made the pause in which it is, where a hook wants to know; null: no hook, no pause, or a person made it. */
export async function pauseToTell({ store }: ActivityDependencies, campaignId: string): Promise<number | null> {
  const campaign = await findCampaign(store.db, campaignId);
  if (campaign === undefined || campaign.rules.onPause === null) return null;
  return (await findOwnPause(store.db, campaign))?.pausedAt ?? null;
}

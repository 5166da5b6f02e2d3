import { requireCampaign } from '../src/ledger/rows/campaigns.ts';
import { readRoundEnd, type RoundEnd, closeRound as closeBooks } from '../src/ledger/campaign/rounds.ts';
import { readProgress, type CampaignProgress } from './collect.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';

export interface CloseRoundResult {
  /** False when new work turned up. */
  closed: boolean;
  progress: CampaignProgress;
  /** Payload for the completion hook; null: no hook, or the round stays open. */
  end: RoundEnd | null;
}

/** Closes the round once every recipient has an outcome and every batch a verdict. Idempotent. */
export async function closeRound(deps: ActivityDependencies, input: { campaignId: string; round: number }): Promise<CloseRoundResult> {
  const now = serviceNow(await deps.serviceClock());
  const closed = await closeBooks(deps.store, { campaignId: input.campaignId, now }, input.round);
  const campaign = await requireCampaign(deps.store.db, input.campaignId);
  const needsNotification = closed && campaign.rules.onCompletion !== null;
  const end = needsNotification ? await readRoundEnd(deps.store.db, campaign, input.round) : null;
  return { closed, progress: await readProgress(deps, campaign), end };
}

import { requireCampaign } from '../src/ledger/rows/campaigns.ts';
import { readRoundEnd, type RoundEnd, closeRound as closeBooks } from '../src/ledger/campaign/rounds.ts';
import { readProgress, type CampaignProgress } from './collect.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';

export interface CloseRoundResult {
  /** False when something turned up that is still to be done. */
  closed: boolean;
  progress: CampaignProgress;
  /** What the completion hook is told; null when there is none. */
  end: RoundEnd | null;
}

/** Closes the round's books: every recipient has its outcome, every batch its verdict. Idempotent. */
export async function closeRound(deps: ActivityDependencies, input: { campaignId: string; round: number }): Promise<CloseRoundResult> {
  const now = serviceNow(await deps.serviceClock());
  const closed = await closeBooks(deps.store, { campaignId: input.campaignId, now }, input.round);
  const campaign = await requireCampaign(deps.store.db, input.campaignId);
  const told = closed && campaign.rules.onCompletion !== null;
  const end = told ? await readRoundEnd(deps.store.db, campaign, input.round) : null;
  return { closed, progress: await readProgress(deps, campaign), end };
}

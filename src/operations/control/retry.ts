import { refuseUnlessRetriable, retryEnded, type RetriableOutcome } from '../../ledger/people/retry-ended.ts';
import { requireService, startCampaign } from '../../temporal/start-campaign.ts';
import type { Control } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readClock } from './service.ts';

/** For a question before it: throws UnknownCampaignError, OtherServiceError, and RetryRefusedError when the state rules it out. */
export async function requireRetriable({ config, store }: Control, campaignId: string): Promise<void> {
  const campaign = await requireCampaign(store, campaignId);
  requireService(config, campaign);
  refuseUnlessRetriable(campaign);
}

/**
 * Puts rows with these outcomes back in line and starts the next round; answers how many, and the round: null when nobody is in line. Safe
 * to repeat: rows that are back in line are left alone and started if they were not, and while the round runs it is refused. Throws as
 * `requireRetriable`, `temporal`, `readClock` and `startCampaign`.
 */
export async function retryRows(
  control: Control,
  { campaignId, outcomes }: { campaignId: string; outcomes: readonly RetriableOutcome[] },
): Promise<{ rows: number; round: number | null }> {
  const { config, store } = control;
  await requireRetriable(control, campaignId);
  // Connected before the decision is written, so that what it sets going can go.
  const { client } = await control.temporal();
  const now = Math.round((await readClock(config)).now());
  const rows = await retryEnded(store, { campaignId, now }, outcomes);
  const started = await startCampaign({ config, store, client, now }, campaignId);
  return { rows, round: started?.round.round ?? null };
}

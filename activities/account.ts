import { endCampaign, findCampaign, pauseCampaign, resumeCampaign } from '../src/store/campaigns.ts';
import { readStatus } from '../src/store/campaign-status.ts';
import { readRoundEnd, type RoundEnd } from '../src/store/round-end.ts';
import { closeRound } from '../src/store/rounds.ts';
import type { WishOrder } from '../src/store/wishes.ts';
import type { CampaignProgress } from './collect.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { toFailure } from './failures.ts';

export type StateChange = 'pause' | 'resume' | 'drain' | 'cancel';

export interface ChangeStateInput {
  campaignId: string;
  change: StateChange;
  /** Absent in what earlier versions scheduled. */
  order?: WishOrder;
}

/**
 * Commits a person's wish to the database; from then on no POST begins that the new state forbids. Idempotent. A pause or resume that
 * comes after a later one changes nothing; an end always holds, since nothing undoes it.
 */
export async function changeState(deps: ActivityDependencies, input: ChangeStateInput): Promise<{ changed: boolean }> {
  try {
    // The instant is for the log alone: a service that does not answer must not keep a person from pausing.
    const now = await deps.serviceClock().then(serviceNow, () => Math.round(deps.nowReal()));
    switch (input.change) {
      case 'pause':
        return { changed: await pauseCampaign(deps.store, input.campaignId, 'paused by a person', now, input.order) };
      case 'resume':
        return { changed: await resumeCampaign(deps.store, input.campaignId, now, input.order) };
      case 'drain':
        return { changed: await endCampaign(deps.store, input.campaignId, 'drained', now) };
      case 'cancel':
        return { changed: await endCampaign(deps.store, input.campaignId, 'cancelled', now) };
    }
  } catch (error) {
    throw toFailure(error);
  }
}

export interface AccountResult {
  /** False when something turned up that is still to be done. */
  closed: boolean;
  progress: CampaignProgress;
  /** What the completion hook is told; null when there is none. Absent in histories of earlier versions. */
  end?: RoundEnd | null;
}

/** Closes the round's books: every recipient has its outcome, every batch its verdict. Idempotent. */
export async function account(
  deps: ActivityDependencies,
  input: { campaignId: string; round: number },
): Promise<AccountResult> {
  try {
    const now = serviceNow(await deps.serviceClock());
    const closed = await closeRound(deps.store, input.campaignId, input.round, now);
    const campaign = await findCampaign(deps.store.db, input.campaignId);
    if (campaign === undefined) throw new Error('campaign not found');
    const { total, done, open, waiting, unresolved } = await readStatus(deps.store.db, campaign);
    const told = closed && campaign.rules.onCompletion !== null;
    const end = told ? await readRoundEnd(deps.store.db, campaign, input.round) : null;
    return { closed, progress: { total, done, open, waiting, unresolved }, end };
  } catch (error) {
    throw toFailure(error);
  }
}

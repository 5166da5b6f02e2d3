import { checkCaller } from '../src/campaign/caller-check.ts';
import { findCampaign, pauseCampaign } from '../src/store/campaigns.ts';
import { noteCallerProven } from '../src/store/rounds.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { toFailure } from './failures.ts';

/**
 * Checks agent and caller number with the service before the first dial. Where something is wrong, pauses the campaign with the
 * reason and answers false; resuming checks again.
 */
export async function verify(deps: ActivityDependencies, input: { campaignId: string }): Promise<{ ok: boolean }> {
  try {
    const clock = await deps.serviceClock();
    const campaign = await findCampaign(deps.store.db, input.campaignId);
    if (campaign === undefined) return { ok: false };
    // Paused before the check: it is made when the campaign goes on. One that is being cancelled dials nobody.
    if (campaign.state === 'paused') return { ok: false };
    if (campaign.state !== 'running') return { ok: true };
    const check = await checkCaller(deps.client, campaign.rules);
    if (!check.ok) {
      await pauseCampaign(deps.store, input.campaignId, `${check.reason}, then resume.`, serviceNow(clock));
      return { ok: false };
    }
    if (check.proven) await noteCallerProven(deps.store, input.campaignId);
    return { ok: true };
  } catch (error) {
    throw toFailure(error);
  }
}

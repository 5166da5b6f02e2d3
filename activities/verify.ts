import { checkCaller } from '../src/campaign/caller-check.ts';
import { findCampaign, pauseCampaign } from '../src/store/campaigns.ts';
import { noteCallers } from '../src/store/callers.ts';
import { noteCallerProven } from '../src/store/rounds.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { toFailure } from './failures.ts';

/**
 * Checks agent and caller numbers with the service before the first dial. Numbers that may not call are taken out; where none is left
 * or something else is wrong, pauses the campaign with the reason and answers false; resuming checks again.
 */
export async function verify(deps: ActivityDependencies, input: { campaignId: string }): Promise<{ ok: boolean }> {
  try {
    const clock = await deps.serviceClock();
    const campaign = await findCampaign(deps.store.db, input.campaignId);
    if (campaign === undefined) return { ok: false };
    // Paused before the check: it is made when the campaign goes on. One that drains dials nobody.
    if (campaign.state === 'paused') return { ok: false };
    if (campaign.state === 'draining') return { ok: true };
    const check = await checkCaller(deps.client, campaign.rules);
    if (check.numbers.length > 0)
      await noteCallers(deps.store, campaign, check.numbers, check.ok ? null : check.reason, serviceNow(clock));
    if (!check.ok) {
      // Already paused when it is the numbers.
      await pauseCampaign(deps.store, input.campaignId, `${check.reason}, then resume.`, serviceNow(clock));
      return { ok: false };
    }
    if (check.proven) await noteCallerProven(deps.store, input.campaignId);
    return { ok: true };
  } catch (error) {
    throw toFailure(error);
  }
}

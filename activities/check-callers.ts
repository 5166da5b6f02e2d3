import { checkCaller } from '../src/campaign/preflight/caller-check.ts';
import { findCampaign, pauseCampaign } from '../src/ledger/rows/campaigns.ts';
import { noteCallerProven } from '../src/ledger/campaign/rounds.ts';
import { keepAgent, keepCheck } from './callers.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { requireOwnService } from './own-service.ts';
import { pauseToTell } from './notify.ts';

export type CheckCallersResult =
  | { ok: true }
  /** `inMs`: real ms until the campaign's end; null: no end. `pausedAt`: a pause by the campaign itself, for its hook. */
  | { ok: false; inMs: number | null; pausedAt: number | null };

/**
 * Checks agent and numbers with the service before the first dial and drops numbers that may not call. Without any left, or on another
 * fault, pauses the campaign; resuming checks again.
 */
export async function checkCallers(deps: ActivityDependencies, input: { campaignId: string }): Promise<CheckCallersResult> {
  const clock = await deps.serviceClock();
  const campaign = await findCampaign(deps.store.db, input.campaignId);
  if (campaign === undefined) return { ok: false, inMs: null, pausedAt: null };
  requireOwnService(deps, campaign);
  const { endsAt } = campaign.rules;
  const leftMs = endsAt === null ? null : endsAt - serviceNow(clock);
  // A draining or ended campaign places no calls.
  if (campaign.state === 'draining' || (leftMs !== null && leftMs <= 0)) return { ok: true };
  const inMs = leftMs === null ? null : Math.ceil(clock.toRealMs(leftMs));
  // The check runs once the campaign resumes.
  if (campaign.state === 'paused') return { ok: false, inMs, pausedAt: await pauseToTell(deps, input.campaignId) };
  const check = await checkCaller(deps.service, campaign.rules);
  if (check.numbers.length > 0) await keepCheck(deps, clock, { campaign, check });
  if (!check.ok) {
    // `keepCheck` has already paused it if the numbers are at fault.
    await pauseCampaign(deps.store, { campaignId: input.campaignId, now: serviceNow(clock) }, { reason: `${check.reason}, then resume.` });
    return { ok: false, inMs, pausedAt: await pauseToTell(deps, input.campaignId) };
  }
  deps.logger.info({ campaignId: input.campaignId }, 'agent and caller numbers were looked at: dialling begins');
  await keepAgent(deps, clock, campaign);
  if (check.proven) await noteCallerProven(deps.store, input.campaignId);
  return { ok: true };
}

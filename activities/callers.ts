import { checkNumbers, type CallerCheck } from '../src/campaign/preflight/caller-check.ts';
import { ServiceError } from '../src/service/port/errors.ts';
import type { ServiceClock } from '../src/service/port/service-clock.ts';
import type { Campaign } from '../src/ledger/rows/campaigns.ts';
import { claimCallerCheck, noteCallers } from '../src/ledger/limits/callers.ts';
import { noteAgent } from '../src/ledger/limits/pilot.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { codeOf } from './failures.ts';

/** Service time between checks of a dialling campaign's caller numbers. */
const checkIntervalMs = 10 * 60_000;
/** As `checkIntervalMs` while calls fail, to find a bad number before the breaker opens. */
const failingCheckIntervalMs = 60_000;
/** As `checkIntervalMs`, at least this in real time, for a fast sandbox. */
const minCheckIntervalRealMs = 30_000;

/** Drops numbers that may not call; pauses the campaign when none is left. */
export async function keepCheck(
  { store }: ActivityDependencies,
  clock: ServiceClock,
  { campaign, check }: { campaign: Campaign; check: CallerCheck },
): Promise<void> {
  const faults = check.ok ? null : check.reason;
  await noteCallers(store, campaign, { standings: check.numbers, faults, now: serviceNow(clock) });
}

/** Records the agent's settings that a pilot tests. */
export async function keepAgent({ store, service }: ActivityDependencies, clock: ServiceClock, campaign: Campaign): Promise<void> {
  if (campaign.pilot === null) return;
  const { print } = await service.agent(campaign.rules.agentId);
  if (print !== undefined) await noteAgent(store, campaign, { print, now: serviceNow(clock) });
}

/** Rechecks numbers periodically, drops those that may not call, pauses without any. A failed check throws only with no number left. */
export async function lookAtCallers(deps: ActivityDependencies, clock: ServiceClock, campaign: Campaign): Promise<void> {
  const now = serviceNow(clock);
  // The planner ends a timed pause and dials at once.
  const dials = campaign.state === 'running' || (campaign.resumeAt !== null && campaign.resumeAt <= now);
  if (!dials) return;
  // Until this recheck, calls rely on the pilot's approval, so its interval is service time alone.
  const leastMs = campaign.pilot === null ? minCheckIntervalRealMs * clock.speed : 0;
  const pace = { everyMs: Math.max(checkIntervalMs, leastMs), soonestMs: Math.max(failingCheckIntervalMs, leastMs) };
  const claim = await claimCallerCheck(deps.store, campaign, { ...pace, now });
  if (claim === 'not_yet') return;
  try {
    await keepAgent(deps, clock, campaign);
    await keepCheck(deps, clock, { campaign, check: await checkNumbers(deps.service, campaign.rules.callers.numbers) });
  } catch (error) {
    if (claim === 'needed' || !(error instanceof ServiceError)) throw error;
    const facts = { campaignId: campaign.campaignId, error: codeOf(error) };
    deps.logger.warn(facts, 'the caller numbers could not be looked at; the next look comes in its time');
  }
}

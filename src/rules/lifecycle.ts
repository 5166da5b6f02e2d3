import type { CampaignRules } from './campaign-rules.ts';

/**
 * `importing`: invisible while rows are read. `draft`: imported, not started. `scheduled`: no dial before its start time. `draining`: no
 * new dials, open calls are still collected. `failed`: could not go on.
 */
export const campaignStates = [
  'importing',
  'draft',
  'scheduled',
  'running',
  'paused',
  'draining',
  'completed',
  'cancelled',
  'failed',
] as const;
/** State of a campaign (docs/lifecycle.md); `campaignTransitions` lists the legal changes. */
export type CampaignState = (typeof campaignStates)[number];

/** When a campaign begins to dial, at `at` or later. */
export function dialsFrom({ startsAt }: Pick<CampaignRules, 'startsAt'>, at: number): number {
  return Math.max(at, startsAt ?? at);
}

/** Legal changes of a campaign. Unlisted changes never happen, not even by hand. */
export const campaignTransitions: Readonly<Record<CampaignState, readonly CampaignState[]>> = {
  importing: ['draft'],
  draft: ['scheduled', 'running'],
  scheduled: ['running', 'paused', 'draining', 'failed'],
  running: ['paused', 'draining', 'completed', 'failed'],
  // A paused campaign also ends when every row has an outcome.
  paused: ['scheduled', 'running', 'draining', 'completed', 'failed'],
  draining: ['completed', 'cancelled', 'failed'],
  // A new round: recipients wait again.
  completed: ['scheduled', 'running'],
  cancelled: ['scheduled', 'running'],
  failed: ['scheduled', 'running'],
};

/** Reason of a pause by an operator; any other is the campaign's own. */
export const pausedByOperator = 'paused by a person';

/** Why a campaign drains; decides how waiting rows and the campaign end. */
export const drainReasons = ['cancelled', 'drained', 'campaign_end'] as const;
/** One of `drainReasons`; `campaign_end`: its `ends_at` has passed. */
export type DrainReason = (typeof drainReasons)[number];

/** Reason of outcome `cancelled` after the campaign reached its goal. */
export const goalReached = 'goal_reached';

/** Outcome of recipients who still wait when a campaign drains. */
export function outcomeOfWaiting(reason: DrainReason): 'cancelled' | 'expired' {
  return reason === 'campaign_end' ? 'expired' : 'cancelled';
}

/** Every row has an outcome until another round. A failed campaign continues its round when started again. */
export function hasClosed({ state }: { state: CampaignState }): boolean {
  return state === 'completed' || state === 'cancelled';
}

/** Nothing happens until an operator starts it again. */
export function hasEnded(campaign: { state: CampaignState }): boolean {
  return hasClosed(campaign) || campaign.state === 'failed';
}

/** Recheck interval of a campaign that waits for rows (service time), as an addition's message may be lost. */
const rowsRecheckMs = 6 * 60 * 60_000;

/** Until when a campaign whose rows all have an outcome waits for more; null: it does not. */
export function rowsAwaitedUntil(
  { rules, state, goal }: { rules: { staysOpen?: object; endsAt: number | null }; state: CampaignState; goal: string | null },
  now: number,
): number | null {
  const isOver = state === 'draining' || goal === 'reached' || (rules.endsAt !== null && rules.endsAt <= now);
  return rules.staysOpen === undefined || isOver ? null : Math.min(now + rowsRecheckMs, rules.endsAt ?? Infinity);
}

/** Whether a campaign may begin with an empty list: rows are added later, and no pilot is drawn from them. */
export function mayBeginEmpty({ staysOpen, pilot }: { staysOpen?: object; pilot?: object }): boolean {
  return staysOpen !== undefined && pilot === undefined;
}

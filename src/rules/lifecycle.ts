import type { CampaignRules } from './campaign-rules.ts';

/**
 * `importing`: rows are being read, nothing else sees the campaign. `draft`: imported, not started. `scheduled`: started, and nothing is
 * dialled before its start time. `draining`: no new dials, open calls are still collected. `failed`: it could not go on.
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

/** When a campaign begins to dial, if nothing is dialled before `at`. */
export function dialsFrom({ startsAt }: Pick<CampaignRules, 'startsAt'>, at: number): number {
  return Math.max(at, startsAt ?? at);
}

/** Legal changes of a campaign. Whatever is not listed never happens, not even by hand. */
export const campaignTransitions: Readonly<Record<CampaignState, readonly CampaignState[]>> = {
  importing: ['draft'],
  draft: ['scheduled', 'running'],
  scheduled: ['running', 'paused', 'draining', 'failed'],
  running: ['paused', 'draining', 'completed', 'failed'],
  // One whose people all have an outcome ends also while it is paused.
  paused: ['scheduled', 'running', 'draining', 'completed', 'failed'],
  draining: ['completed', 'cancelled', 'failed'],
  // A new round: recipients wait again.
  completed: ['scheduled', 'running'],
  cancelled: ['scheduled', 'running'],
  failed: ['scheduled', 'running'],
};

/** The reason of a pause that a person made; any other is the campaign's own. */
export const pausedByPerson = 'paused by a person';

/** Why a campaign drains, which decides what becomes of those who still wait and how it ends. */
export const drainReasons = ['cancelled', 'drained', 'campaign_end'] as const;
/** Why a campaign drains; `campaign_end`: its `ends_at` has passed. */
export type DrainReason = (typeof drainReasons)[number];

/** Reason of outcome `cancelled` where the campaign has reached its goal. */
export const goalReached = 'goal_reached';

/** The outcome of those who still wait when a campaign drains. */
export function outcomeOfWaiting(reason: DrainReason): 'cancelled' | 'expired' {
  return reason === 'campaign_end' ? 'expired' : 'cancelled';
}

/** Everybody has an outcome, and only another round changes that. One that failed goes on in its round when it is started again. */
export function hasClosed({ state }: { state: CampaignState }): boolean {
  return state === 'completed' || state === 'cancelled';
}

/** Nothing happens any more unless a person starts it again. */
export function hasEnded(campaign: { state: CampaignState }): boolean {
  return hasClosed(campaign) || campaign.state === 'failed';
}

/** Between two looks of a campaign that waits for rows, in service time: whoever adds one tells it, but a message may be lost. */
const lookForRowsMs = 6 * 60 * 60_000;

/** Until when a campaign whose people all have an outcome waits for further rows; null: it does not. */
export function rowsAwaitedUntil(
  { rules, state, goal }: { rules: { staysOpen?: object; endsAt: number | null }; state: CampaignState; goal: string | null },
  now: number,
): number | null {
  const isOver = state === 'draining' || goal === 'reached' || (rules.endsAt !== null && rules.endsAt <= now);
  return rules.staysOpen === undefined || isOver ? null : Math.min(now + lookForRowsMs, rules.endsAt ?? Infinity);
}

/** Whether a campaign may begin with a list that has no rows yet: they are added later, and no pilot is drawn from them. */
export function mayBeginEmpty({ staysOpen, pilot }: { staysOpen?: object; pilot?: object }): boolean {
  return staysOpen !== undefined && pilot === undefined;
}

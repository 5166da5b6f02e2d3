import type { CampaignRules } from '../campaign-rules.ts';

/** Attempt limits of a campaign: `CampaignRules.retry` without the delays. */
export type AttemptBudget = Pick<CampaignRules['retry'], 'maxAttempts' | 'maxAttemptsPerNumber' | 'resetAfterMs'>;

/** Instants of counted attempts, in any order. */
export interface UsedAttempts {
  /** Attempts of the recipient since an operator last renewed the budget. */
  byRecipient: readonly number[];
  /** Attempts to the number, over all campaigns. */
  byNumber: readonly number[];
}

/** Earliest instant from `at` on at which both budgets allow another attempt; null: never. */
export function budgetAllowsAt(budget: AttemptBudget, used: UsedAttempts, at: number): number | null {
  const { maxAttempts, maxAttemptsPerNumber, resetAfterMs } = budget;
  const own = limitAllowsAt(maxAttempts, resetAfterMs, used.byRecipient, at);
  const shared = limitAllowsAt(maxAttemptsPerNumber, resetAfterMs, used.byNumber, at);
  return own === null || shared === null ? null : Math.max(own, shared);
}

/** An attempt counts for `resetAfterMs` (exclusive); null: forever. */
function limitAllowsAt(limit: number | null, resetAfterMs: number | null, used: readonly number[], at: number): number | null {
  if (limit === null) return at;
  const counting = resetAfterMs === null ? used : used.filter((instant) => instant > at - resetAfterMs);
  if (counting.length < limit) return at;
  if (resetAfterMs === null) return null;
  // The last attempt that must expire before another fits.
  const leaving = counting.toSorted((a, b) => a - b)[counting.length - limit];
  return (leaving ?? at) + resetAfterMs;
}

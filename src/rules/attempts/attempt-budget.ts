import type { CampaignRules } from '../campaign-rules.ts';

/** The budgets of a campaign: `CampaignRules.retry` without what decides the delays. */
export type AttemptBudget = Pick<CampaignRules['retry'], 'maxAttempts' | 'maxAttemptsPerNumber' | 'resetAfterMs'>;

/** Instants of the attempts that count, in any order. */
export interface UsedAttempts {
  /** Of the recipient, since a person last renewed the budget. */
  byRecipient: readonly number[];
  /** To the number, over all campaigns. */
  byNumber: readonly number[];
}

/** The earliest instant, `at` or later, at which one more attempt keeps both budgets; null: never. */
export function budgetAllowsAt(budget: AttemptBudget, used: UsedAttempts, at: number): number | null {
  const { maxAttempts, maxAttemptsPerNumber, resetAfterMs } = budget;
  const own = limitAllowsAt(maxAttempts, resetAfterMs, used.byRecipient, at);
  const shared = limitAllowsAt(maxAttemptsPerNumber, resetAfterMs, used.byNumber, at);
  return own === null || shared === null ? null : Math.max(own, shared);
}

/** An attempt counts from its instant until `resetAfterMs` later, that instant not included; for ever where it is null. */
function limitAllowsAt(limit: number | null, resetAfterMs: number | null, used: readonly number[], at: number): number | null {
  if (limit === null) return at;
  const counting = resetAfterMs === null ? used : used.filter((instant) => instant > at - resetAfterMs);
  if (counting.length < limit) return at;
  if (resetAfterMs === null) return null;
  // One more fits once so many no longer count that this one is the last that does.
  const leaving = counting.toSorted((a, b) => a - b)[counting.length - limit];
  return (leaving ?? at) + resetAfterMs;
}

import type { BreakerRules } from '../campaign-rules.ts';
import type { Disposition } from '../disposition.ts';

/** Results that no callee is the reason of: many of them mean that something is wrong with the campaign, the service or the carrier. */
export const failedDispositions = ['failed', 'invalid_number', 'unknown'] as const satisfies Disposition[];
/** A result that counts against the campaign in its breaker. */
export type FailedDisposition = (typeof failedDispositions)[number];

/** Calls that ended within the window. */
export interface RecentCalls {
  ended: number;
  failed: Readonly<Partial<Record<FailedDisposition, number>>>;
}

const limitWords = 'and breaker.failure_share is';

/** Whether a campaign that is paused for this reason was paused by its breaker. */
export function isBreakersReason(reason: string): boolean {
  return reason.includes(limitWords);
}

/** What a person is told when the breaker opens, with the figures; null: it stays closed. */
export function breakerOpens(rules: BreakerRules, { ended, failed }: RecentCalls): string | null {
  const counts = failedDispositions.flatMap((disposition) => {
    const count = failed[disposition] ?? 0;
    return count > 0 ? [{ disposition, count }] : [];
  });
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  if (ended < rules.minCalls || total < rules.failureShare * ended) return null;
  const kinds = counts.map(({ disposition, count }) => `${count} ${disposition}`).join(', ');
  const minutes = Math.round(rules.windowMs / 60_000);
  const limit = `${Number((rules.failureShare * 100).toFixed(1))}%`;
  return `${total} of the ${ended} calls that ended in the last ${minutes} min failed (${kinds}), ${limitWords} ${limit}`;
}

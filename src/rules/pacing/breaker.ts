import type { BreakerRules } from '../campaign-rules.ts';
import type { Disposition } from '../disposition.ts';

/** Results not caused by the recipient: many of them mean a problem with the campaign, the service or the carrier. */
export const failedDispositions = ['failed', 'invalid_number', 'unknown'] as const satisfies Disposition[];
/** A result that counts as failed in the breaker. */
export type FailedDisposition = (typeof failedDispositions)[number];

/** Calls that ended within the window. */
export interface RecentCalls {
  ended: number;
  failed: Readonly<Partial<Record<FailedDisposition, number>>>;
  /** Those that are `unknown` because their batch's answer was lost, and the number of these batches. */
  lost: { batches: number; calls: number };
}

/**
 * Batches without a known answer that make an outage: this many in a row pause a campaign, and within its window the breaker counts them.
 */
export const unknownsBeforePause = 3;

const limitWords = 'and breaker.failure_share is';

/** Whether the breaker made a pause with this reason. */
export function isBreakersReason(reason: string): boolean {
  return reason.includes(limitWords);
}

/** Message to the operator when the breaker opens, with figures; null: it stays closed. */
export function breakerOpens(rules: BreakerRules, recent: RecentCalls): string | null {
  const { ended, failed } = withoutStrayLosses(recent);
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

/** Losses come in whole batches: a large share may be one event, which says nothing about other calls. */
function withoutStrayLosses({ ended, failed, lost }: RecentCalls): Pick<RecentCalls, 'ended' | 'failed'> {
  if (lost.batches >= unknownsBeforePause) return { ended, failed };
  return { ended: ended - lost.calls, failed: { ...failed, unknown: (failed.unknown ?? 0) - lost.calls } };
}

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
  /** Those among them that are `unknown` since the answer to their batch was lost, and how many batches they were in. */
  lost: { batches: number; calls: number };
}

/**
 * Batches without a known answer that are an outage: in a row they pause a campaign, within its window they count in its breaker. One or
 * two happen to anybody, however many calls they leave unknown.
 */
export const unknownsBeforePause = 3;

const limitWords = 'and breaker.failure_share is';

/** Whether a campaign that is paused for this reason was paused by its breaker. */
export function isBreakersReason(reason: string): boolean {
  return reason.includes(limitWords);
}

/** What a person is told when the breaker opens, with the figures; null: it stays closed. */
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

/** What is lost is lost by whole batches: a large share of calls may be a single event, which says nothing for or against the others. */
function withoutStrayLosses({ ended, failed, lost }: RecentCalls): Pick<RecentCalls, 'ended' | 'failed'> {
  if (lost.batches >= unknownsBeforePause) return { ended, failed };
  return { ended: ended - lost.calls, failed: { ...failed, unknown: (failed.unknown ?? 0) - lost.calls } };
}

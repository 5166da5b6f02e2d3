import type { CampaignRules, RetryDelay, RetryDelays, RetryDisposition } from '../../rules/campaign-rules.ts';
import type { CallAssumptions } from '../../rules/forecast/forecast.ts';
import { retryAt } from '../../rules/attempts/retry-delay.ts';

export type RetryPath = Pick<CallAssumptions, 'retries' | 'retryAt'>;

type RetryRules = CampaignRules['retry'];

const dayMs = 24 * 60 * 60_000;

/** Most common results of an unanswered call. In a large list some recipients always get the slower one, and those decide the end. */
const usualFailures: readonly RetryDisposition[] = ['no_answer', 'voicemail'];
/** Other results, most frequent first. */
const rareFailures: readonly RetryDisposition[] = ['busy', 'unreached', 'failed'];

/** Assumes the usual result with the longest wait for each unanswered call, or a rarer one if no usual one is retried. */
export function likelyRetries(rules: RetryRules): RetryPath {
  const delaysAfter = (kind: RetryDisposition): RetryDelay[] =>
    Array.from({ length: budgetOf(rules) - 1 }, (_, index) => delayOf(rules.delays[kind], index + 1));
  const isRetried = (kind: RetryDisposition): boolean => rules.delays[kind] !== 'never';
  const usual = usualFailures.filter(isRetried).map(delaysAfter);
  const rare = rareFailures.find(isRetried);
  const [first] = usual;
  if (first === undefined) return rare === undefined ? pathOf([], 0) : pathOf(delaysAfter(rare), rules.jitterMs / 2);
  const longest = usual.reduce((best, delays) => (lengthOf(delays) > lengthOf(best) ? delays : best), first);
  return pathOf(longest, rules.jitterMs / 2);
}

/** The sequence of dispositions with the longest total wait. `settleMs`: extra time until `unreached` is known. */
export function longestRetries(rules: RetryRules, settleMs: number): RetryPath {
  const kinds = (Object.keys(rules.delays) as RetryDisposition[]).filter((kind) => rules.delays[kind] !== 'never');
  if (kinds.length === 0) return pathOf([], 0);
  const retries = budgetOf(rules) - 1;
  /** Indexed by number of retries: the longest delays using the dispositions seen so far. */
  let best: RetryDelay[][] = [[], ...Array.from({ length: retries }, () => [])];
  let isFirst = true;
  for (const kind of kinds) {
    const extraMs = kind === 'unreached' ? settleMs : 0;
    const own = Array.from({ length: retries }, (_, index) => lengthened(delayOf(rules.delays[kind], index + 1), extraMs));
    best = best.map((_, total) => {
      const choices = isFirst
        ? [own.slice(0, total)]
        : Array.from({ length: total + 1 }, (_, ofKind) => [...(best[total - ofKind] ?? []), ...own.slice(0, ofKind)]);
      return choices.reduce((longest, choice) => (lengthOf(choice) > lengthOf(longest) ? choice : longest));
    });
    isFirst = false;
  }
  return pathOf(best[retries] ?? [], rules.jitterMs);
}

/** A list has each number once, so the number's budget simply lowers the recipient's. */
function budgetOf({ maxAttempts, maxAttemptsPerNumber }: RetryRules): number {
  return Math.min(maxAttempts, maxAttemptsPerNumber ?? maxAttempts);
}

function delayOf(delays: RetryDelays, nth: number): RetryDelay {
  if (delays === 'never') throw new Error('There is no delay after a disposition that is never retried.');
  return delays[Math.min(nth, delays.length) - 1] ?? 0;
}

function lengthened(delay: RetryDelay, byMs: number): RetryDelay {
  return delay === 'next_day' ? delay : delay + byMs;
}

function lengthOf(delays: readonly RetryDelay[]): number {
  return delays.reduce<number>((sum, delay) => sum + (delay === 'next_day' ? dayMs : delay), 0);
}

function pathOf(delays: readonly RetryDelay[], jitterMs: number): RetryPath {
  const nextDay = rememberNextDay();
  return {
    retries: delays.length,
    // Real jitter is drawn per attempt; the forecast uses the same for all.
    retryAt: (retry, endedAt, zones) => {
      const delay = delays[retry - 1];
      if (delay === undefined) return endedAt + jitterMs;
      return (delay === 'next_day' ? nextDay(endedAt, zones) : endedAt + delay) + jitterMs;
    },
  };
}

/** When the next day begins in all these zones. Cached: a simulation asks for each call, mostly for the same day. */
function rememberNextDay(): (from: number, zones: readonly string[]) => number {
  const known = new Map<string, { from: number; until: number }>();
  const ofZone = (from: number, zone: string): number => {
    const day = known.get(zone);
    if (day !== undefined && from >= day.from && from < day.until) return day.until;
    const until = nextDayAt(from, [zone]);
    known.set(zone, { from, until });
    return until;
  };
  return (from, zones) =>
    zones.length === 0 ? nextDayAt(from, []) : zones.reduce((latest, zone) => Math.max(latest, ofZone(from, zone)), 0);
}

function nextDayAt(from: number, zones: readonly string[]): number {
  return retryAt({ delays: ['next_day'], nth: 1, from, zones, jitterMs: 0, key: '' }) ?? from;
}

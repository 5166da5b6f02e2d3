import type { ServiceClock } from '../../service/port/service-clock.ts';
import { fullPace } from '../../rules/pacing/pace-control.ts';
import type { LineLimits } from '../../ledger/limits/line-limits.ts';
import { count, percent, span } from '../../shared/input/figures.ts';

/** How many calls may be on the line, and what holds them down; lines of a status, with their labels. */
export function pacingLines(limits: LineLimits, clock: ServiceClock, now: number): [label: string, text: string][] {
  const { own, warm, pace, cutAt, account, allowed, open, startsPerMinute, starts } = limits;
  const reasons = [
    ...(allowed === own ? [] : [`max_concurrent_calls ${count(own)}`]),
    ...(warm === own ? [] : [`warming up: ${count(warm)}`]),
    ...(pace === fullPace ? [] : [`pace ${percent(pace / 1000)}, cut ${span(now - clock.atReal(cutAt))} ago by a 429`]),
    ...(account === null
      ? []
      : [`share ${count(account.share)} of the account's ${count(account.lines)}, ${count(account.free)} of them free`]),
  ];
  const why = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
  const startsText = startsPerMinute === null ? '' : `${count(starts.count)} in the last minute, ${count(startsPerMinute)} allowed`;
  return [
    ['Lines', `${count(open)} in use, ${count(allowed)} allowed${why}`],
    ['Starts', startsText],
  ];
}

/** The same for programs, before `withInstants`. Shares and paces are parts of 1. */
export function pacingAsJson(limits: LineLimits): Record<string, unknown> {
  const { own, warm, pace, cutAt, account, allowed, open, startsPerMinute, starts } = limits;
  return {
    maxConcurrentCalls: own,
    warmUp: warm,
    pace: pace / fullPace,
    paceCutAt: cutAt === 0 ? null : cutAt,
    account,
    allowed,
    onLine: open,
    startsPerMinute,
    startsInLastMinute: starts.count,
  };
}

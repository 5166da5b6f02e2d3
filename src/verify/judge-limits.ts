import { callsOf, countedOf, nthOf, type AttemptBook, type BatchBook, type CampaignBook, type JudgedLine } from './campaign-book.ts';
import { numberOf, type Limits } from './judged-rules.ts';
import { minuteMs, nextMidnight } from './local-time.ts';

/** Whether the budgets of recipient and number had an attempt left when this call was placed. */
export function judgeBudget({ campaign, numbers, event, data, violate }: JudgedLine, recipientId: string): void {
  const { maxAttempts, maxAttemptsPerNumber, resetAfterMs } = campaign.rules.retry;
  const inForce = (at: number): boolean => resetAfterMs === null || at > event.at - resetAfterMs;
  const own = countedOf(campaign, recipientId).filter(({ call, postedAt }) => inForce(call?.at ?? postedAt ?? 0));
  const toNumber = numbers.placedTo('number', String(data['e164']));
  const shared = toNumber.filter(({ counted, at }) => counted && inForce(at));
  if (own.length >= maxAttempts || shared.length >= (maxAttemptsPerNumber ?? Infinity))
    violate('budget_exceeded', `call ${event.attemptId} was placed although all attempts were used up`);
}

/** Whether the number that calls had made fewer calls than it may, in the last hour and in the last day, for whatever campaign. */
export function judgeCaller({ campaign, numbers, event, violate }: JudgedLine, caller: string): void {
  const limits = [campaign.rules.callers.limits, numbers.house?.callerLimits ?? null].flatMap((one) => one ?? []);
  if (limits.length === 0) return;
  const dayMs = 24 * 60 * minuteMs;
  const hour = Math.min(...limits.map(({ perHour }) => perHour ?? Infinity));
  const day = Math.min(...limits.map(({ perDay }) => perDay ?? Infinity));
  const spread = Math.max(...limits.map(({ spreadMs }) => spreadMs ?? 0));
  let [inHour, inDay, tooSoon] = [0, 0, false];
  const calls = numbers.placedFrom(caller);
  for (let index = calls.length - 1; index >= 0; index -= 1) {
    const { rangBy = 0, at = 0 } = calls[index] ?? {};
    if (at < event.at - 2 * dayMs) break;
    if (rangBy > event.at - dayMs) inDay += 1;
    if (rangBy > event.at - 60 * minuteMs) inHour += 1;
    if (spread > 0 && rangBy > event.at - spread) tooSoon = true;
  }
  if (tooSoon) violate('caller_limit_exceeded', `call ${event.attemptId} was placed from ${caller} sooner after another than it may be`);
  if (inHour >= hour || inDay >= day)
    violate('caller_limit_exceeded', `call ${event.attemptId} was placed from ${caller} after ${inHour} in an hour and ${inDay} in a day`);
}

/** A call that ends without using up the budget has to be one that nobody picked up, or one that a person gives back. */
export function judgeCounted({ campaign, data, violate }: JudgedLine, attempt: AttemptBook, recipientId: string): void {
  const { disposition, counted, by } = data;
  if (counted === true) return;
  const what = `call ${attempt.attemptId} ended as ${String(disposition)} and uses up no budget`;
  if (counted !== false) return violate('miscounted', `${what}: the log does not tell`);
  if (disposition === 'unknown' && by === 'person') return;
  if (disposition !== 'failed') return violate('miscounted', what);
  const ofBudget = callsOf(campaign, recipientId).filter(({ state, budget }) => state === 'settled' && budget === attempt.budget);
  const before = ofBudget.filter((one) => one !== attempt && nthOf(one) < nthOf(attempt)).toReversed();
  const inRow = before.findIndex((one) => one.counted);
  const { maxUncounted } = campaign.rules.retry;
  if ((inRow < 0 ? before.length : inRow) >= maxUncounted)
    violate('miscounted', `${what}, and neither did ${maxUncounted} before it in a row`);
}

/** Notes when the recipient of a call that has ended, or was corrected, may be called again: jitter only adds to it. */
export function noteDelay({ campaign, event, data }: JudgedLine, attempt: AttemptBook, recipientId: string): void {
  attempt.retryFrom = null;
  if (data['by'] === 'person') return;
  const outcome = campaign.outcomes.get(recipientId);
  // Late records of rows that are over change nothing about when a person may have them called again.
  if (outcome === 'cancelled') return;
  if (outcome !== undefined && (campaign.state === 'completed' || campaign.state === 'cancelled')) return;
  const disposition = String(data['disposition']);
  const delays = campaign.rules.retry.delays[disposition] ?? 'never';
  // Nothing is to follow: then there is an outcome, and a call after that is named by it.
  if (delays === 'never') return;
  const budget = campaign.budgets.get(recipientId) ?? 0;
  const before = callsOf(campaign, recipientId).filter(
    (one) => one.disposition === disposition && one.budget === budget && nthOf(one) < nthOf(attempt),
  );
  const delay = delays[Math.min(before.length + 1, delays.length) - 1] ?? 0;
  attempt.retryFrom = delay === 'next_day' ? nextDay(attempt, event.at) : event.at + delay;
}

function nextDay({ zones }: AttemptBook, at: number): number {
  const mornings = (zones ?? []).flatMap((zone) => nextMidnight(zone, at) ?? []);
  return mornings.length === 0 ? at : Math.max(...mornings);
}

/** The clock of the machine that sends may be so much behind that of the one that has planned. */
const clocksApartMs = 1_000;

/** Whether the delay after the last call to the recipient was over when another was planned, and when it was placed. */
export function judgeDelay({ campaign, event, violate }: JudgedLine, recipientId: string): void {
  const calls = callsOf(campaign, recipientId);
  const own = calls.findIndex(({ attemptId }) => attemptId === event.attemptId);
  const last = calls.slice(0, own < 0 ? calls.length : own).findLast(({ state }) => state === 'settled');
  const at = Math.min(campaign.lastAt, event.at + clocksApartMs);
  if (last?.retryFrom == null || at >= last.retryFrom) return;
  const done = event.type === 'attempt.planned' ? 'planned' : 'placed';
  const what = `call ${event.attemptId} was ${done} ${last.retryFrom - event.at} ms too early after ${last.attemptId}`;
  violate('retry_too_early', `${what}, which ended as ${last.disposition}`);
}

/** What a person changed holds from here on: delays for calls that end from now on, hours and attempts for calls that are placed. */
export function adjustLimits(campaign: CampaignBook, to: Record<string, unknown>): void {
  const { maxConcurrentCalls: lines, startsPerMinute: pace, hours, maxAttempts, batchSize: _size, priority: _weight, ...delays } = to;
  const { calendar, retry } = campaign.rules;
  campaign.rules = {
    ...campaign.rules,
    calendar: { ...calendar, ...(hours === undefined ? {} : { hours: hours as typeof calendar.hours }) },
    retry: {
      ...retry,
      maxAttempts: numberOf(maxAttempts) ?? retry.maxAttempts,
      delays: { ...retry.delays, ...(delays as typeof retry.delays) },
    },
  };
  campaign.limits = {
    maxConcurrentCalls: numberOf(lines) ?? campaign.limits.maxConcurrentCalls,
    startsPerMinute: pace === undefined ? campaign.limits.startsPerMinute : numberOf(pace),
  };
}

/** The limits for a batch that is planned now: halves of one that was refused have the place that it had. */
export function limitsOf({ limits, split }: CampaignBook, at: number): Limits {
  if (split?.at !== at) return limits;
  const most = (a: number | null, b: number | null) => (a === null || b === null ? null : Math.max(a, b));
  return {
    maxConcurrentCalls: Math.max(limits.maxConcurrentCalls, split.limits.maxConcurrentCalls),
    startsPerMinute: most(limits.startsPerMinute, split.limits.startsPerMinute),
  };
}

/** Calls whose phone may be in use: planned, on their way, or open, and no record that shows that they are over. */
export function countOnLine({ open }: CampaignBook, at: number): number {
  let count = 0;
  for (const { overAt } of open) if (overAt === null || overAt > at) count += 1;
  return count;
}

/** By how many the calls of a batch that were planned so far go beyond the lines of their campaign. */
export function linesBeyond({ onLine, planned, limits }: BatchBook): number {
  return onLine + planned - limits.maxConcurrentCalls;
}

/** Notes that a call begins, and whether too many have begun in the minute before. */
export function judgePace({ campaign, event: { at }, violate }: JudgedLine, attempt: AttemptBook, batch: BatchBook): void {
  const { startsPerMinute: most } = batch.limits;
  if (most === null) {
    campaign.starts = [];
    return;
  }
  if ((campaign.starts[0]?.at ?? at) <= at - minuteMs) campaign.starts = campaign.starts.filter((start) => start.at > at - minuteMs);
  campaign.starts.push({ at, attempt });
  if (campaign.starts.length === most + 1)
    violate('pace_exceeded', `call ${attempt.attemptId} is one more than the ${most} that may begin in a minute`);
}

/** Calls that were never sent did not begin. */
export function takeBackStarts(campaign: CampaignBook, attempts: ReadonlySet<AttemptBook>): void {
  campaign.starts = campaign.starts.filter(({ attempt }) => !attempts.has(attempt));
}

import { Attempt, Batch, isIdle, type Campaign } from './book.ts';
import { textOf, type Limits } from './judged-rules.ts';
import type { AttemptLine, BatchLine, Line } from './line.ts';
import { nextMidnight } from './local-time.ts';

export function takeBack({ campaign, batch, book }: BatchLine): void {
  const calls = new Set(batch.calls);
  for (const { call } of calls) if (call !== null) book.numbers.unplace(call);
  campaign.starts = campaign.starts.filter(({ attempt }) => !calls.has(attempt));
}

export function planBatch({ campaign, place, event: { batchId = '', at }, data }: Line): void {
  campaign.batches.set(batchId, new Batch(batchId, Number(data['size']), limitsOf(campaign, at), countOnLine(campaign, at)));
  if (place !== null) campaign.batchesOf.set(place.round, place.number);
}

export function moveBatch(line: BatchLine): void {
  const { campaign, batch, book, event, data } = line;
  const to = String(data['state']);
  const isDenied = isIdle(batch.verdicts[batch.k - 1]);
  batch.state = to;
  batch.owes = null;
  batch.serviceId ??= textOf(data['service_batch_id']);
  if (batch.serviceId !== null) book.serviceBatches.set(batch.serviceId, batch.batchId);
  if (to === 'confirmed') {
    // The line of the proving record comes later.
    if (data['by'] === 'evidence') batch.lacksMatch = !batch.calls.some(({ conversation }) => conversation !== null);
    Object.assign(batch, { calls: [], posted: 0 });
  } else if (to === 'refused') campaign.split = { at: event.at, limits: batch.limits };
  else if (to === 'not_sent' && data['by'] === 'look_up') {
    // No call of it was placed, unless a record still names one.
    batch.denied = true;
    takeBack(line);
  } else if (to === 'unknown' && isDenied) {
    // A record outranks the claim that nothing was queued.
    for (const { call } of batch.calls) if (call !== null) book.numbers.place(call);
    batch.verdicts[batch.k - 1] = 'unknown';
  }
}

export function planAttempt({ campaign, batch, recipientId, calls, event: { attemptId = '', batchId = '' } }: Line): void {
  // Its calls share one id string: there may be a million.
  const attempt = new Attempt(attemptId, batch?.batchId ?? batchId, campaign.budgetOf(recipientId));
  campaign.calls.set(recipientId, [...calls, attempt]);
  campaign.open.add(attempt);
  if (batch !== undefined) batch.planned += 1;
}

export function dial({ campaign, attempt, batch, book: { numbers }, event: { at }, number, person, data, facts }: AttemptLine): void {
  const { attemptId } = attempt;
  const latest = at + campaign.rules.timing.dispatchMarginMs;
  attempt.postedAt ??= at;
  attempt.overAt = facts?.overAt ?? null;
  attempt.zones = numbers.sameZones(data['zones']);
  attempt.call = {
    attemptId,
    number,
    person,
    caller: batch?.caller ?? '',
    at,
    rangBy: Math.min(facts?.rangAt ?? latest, latest),
    talked: false,
    counted: false,
  };
  numbers.open.set(number, attemptId);
  numbers.place(attempt.call);
  if (batch === undefined) return;
  batch.calls.push(attempt);
  if (batch.limits.startsPerMinute === null) campaign.starts = [];
  else (campaign.starts = campaign.startsBefore(at)).push({ at, attempt });
}

export function settle(line: AttemptLine): void {
  const { campaign, attempt, batch, book, event, data } = line;
  const { call } = attempt;
  if (batch !== undefined) batch.owes = null;
  if (line.wasMade) {
    attempt.endedAt = event.at;
    if (call !== null) book.numbers.place(call);
  }
  if (data['by'] === 'report') attempt.evidence = 'report';
  countGoal(campaign, attempt, -1);
  attempt.state = 'settled';
  attempt.endedAt ??= event.at;
  attempt.disposition = textOf(data['disposition']);
  attempt.detail = textOf(data['detail']);
  attempt.counted = data['counted'] === true;
  attempt.result = null;
  attempt.asks = null;
  attempt.retryFrom = retryFrom(line);
  campaign.open.delete(attempt);
  if (call === null) return;
  call.counted = attempt.counted;
  call.talked = attempt.isTalk;
  book.numbers.closeCall(call);
  if (attempt.disposition === 'opted_out') book.unlisted.set(call.number, [...(book.unlisted.get(call.number) ?? []), event]);
}

/** Earliest retry; jitter only adds to it. */
function retryFrom({ campaign, attempt, recipientId, outcome, calls, event: { at }, data }: AttemptLine): number | null {
  // Late records of finished rows do not delay an operator's retry.
  if (data['by'] === 'person' || outcome === 'cancelled' || (outcome !== undefined && campaign.hasEnded)) return null;
  const disposition = String(data['disposition']);
  const delays = campaign.rules.retry.delays[disposition] ?? 'never';
  // No retry follows: the row gets an outcome, which a further call would violate.
  if (delays === 'never') return null;
  const own = campaign.budgetOf(recipientId);
  const before = calls.filter(({ nth, disposition: end, budget }) => end === disposition && budget === own && nth < attempt.nth);
  const delay = delays[Math.min(before.length + 1, delays.length) - 1] ?? 0;
  if (delay !== 'next_day') return at + delay;
  const mornings = (attempt.zones ?? []).flatMap((zone) => nextMidnight(zone, at) ?? []);
  return mornings.length === 0 ? at : Math.max(...mornings);
}

/** `by` -1: its end was corrected. */
export function countGoal({ goals, rules, rounds }: Campaign, { result }: Attempt, by: 1 | -1): void {
  if (!rules.results.some(({ result: name, goal }) => name === result && goal === true)) return;
  goals.count += by;
  if (rules.stopAt !== null && goals.count >= rules.stopAt.goal) goals.round ??= rounds;
}

/** Halves of a refused batch keep its capacity. */
function limitsOf({ limits, split }: Campaign, at: number): Limits {
  if (split?.at !== at) return limits;
  const [own, other] = [limits.startsPerMinute, split.limits.startsPerMinute];
  return {
    maxConcurrentCalls: Math.max(limits.maxConcurrentCalls, split.limits.maxConcurrentCalls),
    startsPerMinute: own === null || other === null ? null : Math.max(own, other),
  };
}

/** Calls that may occupy a line: planned, sent or open, and not shown as over by a record. */
function countOnLine({ open }: Campaign, at: number): number {
  let count = 0;
  for (const { overAt } of open) if (overAt === null || overAt > at) count += 1;
  return count;
}

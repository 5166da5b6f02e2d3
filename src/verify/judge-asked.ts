import { callsOf, findAttempt, renewBudget, type JudgedLine } from './campaign-book.ts';
import { countGoal } from './judge-goal.ts';
import { numberOf, textOf } from './judged-rules.ts';
import type { Violate } from './log-rules.ts';
import type { PromiseBook } from './number-book.ts';

/** What a talk came to, and whether a rule lets it ask for another call. */
export function noteResult({ campaign, event, data, violate }: JudgedLine): void {
  const attempt = findAttempt(campaign, event.attemptId);
  if (attempt === undefined) return violate('log_incomplete', `call ${event.attemptId} came to something and was never planned`);
  const result = textOf(data['result']);
  if (attempt.result !== null) violate('log_incomplete', `call ${event.attemptId} came to ${attempt.result}, and then to ${result}`);
  if (attempt.disposition !== 'answered') violate('cause_missing', `call ${event.attemptId} came to ${result}, and nobody had answered it`);
  attempt.result = result;
  countGoal(campaign, attempt, 1);
  attempt.asks = textOf(data['asks']);
  if (attempt.asks === null) return;
  const { results, callback } = campaign.rules;
  const asking = results.flatMap(({ result: name, next }) => (name === result && next !== undefined ? [next] : []));
  const delays = asking.flatMap(({ kind, afterMs = 0 }) => {
    if (kind === attempt.asks) return [afterMs];
    // Of whom nobody can tell when to call them back.
    return kind === 'callback' && attempt.asks === 'retry' && callback?.unclear === 'retry' ? [0] : [];
  });
  if (delays.length === 0 || attempt.conversation === null)
    return violate('cause_missing', `call ${event.attemptId} asks for another (${attempt.asks}), and no rule or record says so`);
  // When somebody is called back, the promise says.
  attempt.retryFrom = attempt.asks === 'callback' ? Infinity : event.at + Math.min(...delays);
}

/** Outcomes in which nobody may be called back, whoever says so. */
const final: readonly string[] = ['opted_out', 'suppressed', 'rejected'];

export function notePromise(line: JudgedLine): void {
  const { campaign, numbers, event, data, violate } = line;
  const { recipientId = '' } = event;
  const promiseId = String(data['promise']);
  const [dueAt, until] = [numberOf(data['dueAt']), numberOf(data['until'])];
  if (dueAt === null || until === null || until <= dueAt) return violate('log_incomplete', `promise ${promiseId} tells no time`);
  const calls = callsOf(campaign, recipientId);
  if (event.type === 'callback.moved') {
    const known = campaign.promises.get(promiseId);
    if (known === undefined || known.ended !== null) return violate('illegal_change', `promise ${promiseId} was moved, and is not open`);
    Object.assign(known, { dueAt, until });
  } else {
    if (campaign.promises.has(promiseId)) return violate('illegal_change', `promise ${promiseId} was made twice`);
    const number = calls.findLast(({ call }) => call !== null)?.call?.number ?? null;
    const promise: PromiseBook = { recipientId, number, dueAt, until, ended: null };
    campaign.promises.set(promiseId, promise);
    if (number !== null) numbers.promise(number, promise);
    if (data['by'] === 'person') takeWord(line, recipientId);
    else if (calls.at(-1)?.asks !== 'callback') violate('cause_missing', `promise ${promiseId} was made, and no call asks for it`);
    renewBudget(campaign, recipientId);
  }
  const last = calls.at(-1);
  if (last !== undefined) last.retryFrom = dueAt;
}

/** Nobody can tell when: a person decides. */
export function noteUnclear({ campaign, event: { recipientId = '' }, data, violate }: JudgedLine): void {
  const promiseId = String(data['promise']);
  if (campaign.promises.has(promiseId)) return violate('illegal_change', `promise ${promiseId} was made twice`);
  campaign.promises.set(promiseId, { recipientId, number: null, dueAt: Infinity, until: Infinity, ended: null });
}

/** A person has somebody called back: that is as good as if their record asked for it. */
function takeWord({ campaign, violate }: JudgedLine, recipientId: string): void {
  const outcome = campaign.outcomes.get(recipientId);
  if (outcome !== undefined && final.includes(outcome))
    violate('reached_dialled', `${recipientId} is to be called back although the outcome was ${outcome}`);
  for (const attempt of callsOf(campaign, recipientId)) if (attempt.disposition === 'answered') attempt.asks ??= 'person';
  campaign.outcomes.delete(recipientId);
  campaign.requeued.add(recipientId);
}

export function endPromise({ campaign, event, data, violate }: JudgedLine): void {
  const promiseId = String(data['promise']);
  const promise = campaign.promises.get(promiseId);
  const state = textOf(data['state']);
  if (promise === undefined || promise.ended !== null) return violate('illegal_change', `promise ${promiseId} ended, and is not open`);
  promise.ended = state;
  const keptBy = callsOf(campaign, promise.recipientId).find(({ attemptId }) => attemptId === event.attemptId);
  const postedAt = keptBy?.postedAt ?? null;
  const isInTime = postedAt !== null && promise.dueAt <= postedAt && postedAt < promise.until;
  if ((state === 'kept' || state === 'late') && !isInTime)
    violate('promise_lost', `promise ${promiseId} counts as ${state}, and no call to its row was requested in its time`);
  if (state === 'missed' && event.attemptId === undefined && event.at < promise.until)
    violate('promise_lost', `promise ${promiseId} counts as missed before its time had passed`);
}

/** No number is called before what was promised to it, in whatever campaign; by another row not before the promise is over. */
export function judgePromised({ numbers, event, data, violate }: JudgedLine, recipientId: string): void {
  const promise = numbers.promisedTo(String(data['e164']));
  if (promise === undefined || promise.ended !== null) return;
  const from = promise.recipientId === recipientId ? promise.dueAt : promise.until;
  if (event.at < from)
    violate('promise_broken_early', `call ${event.attemptId} was placed ${from - event.at} ms before what was promised to its number`);
}

/** Promises that nobody has told the end of, though their campaign has ended. */
export function judgeLost({ campaign, violate }: { campaign: JudgedLine['campaign']; violate: Violate }): void {
  if (campaign.state !== 'completed' && campaign.state !== 'cancelled') return;
  for (const [promiseId, { ended, dueAt }] of campaign.promises)
    if (ended === null && dueAt < Infinity)
      violate('promise_lost', `the campaign has ended, and promise ${promiseId} was neither kept nor given up`);
}

import { isReached, type Campaign } from '../book.ts';
import type { AttemptLine, Line } from '../line.ts';
import { textOf } from '../judged-rules.ts';
import { dialled, type Finding, type Rule } from './rule.ts';

/** Outcomes that a correction may take back: the recipient was never called, or only at an invalid number. */
const correctable: readonly string[] = ['rejected', 'undialable', 'cancelled'];
/** Outcomes after which an operator may retry a recipient. */
const retriable: readonly string[] = ['exhausted', 'unresolved', 'expired', 'cancelled', 'undialable'];
/** Outcomes after which no callback is allowed, even by an operator. */
const final: readonly string[] = ['opted_out', 'suppressed', 'rejected'];

/** How far the sender's clock may be behind the planner's. */
const clocksApartMs = 1_000;

export const recipientRules = {
  budget_exceeded: {
    promise: 'nobody is called more often than the campaign allows',
    on: dialled(({ book, campaign, recipientId, event, number }) => {
      const { maxAttempts, maxAttemptsPerNumber, resetAfterMs } = campaign.rules.retry;
      const inForce = (at: number): boolean => resetAfterMs === null || at > event.at - resetAfterMs;
      const own = campaign.countedOf(recipientId).filter(({ call, postedAt }) => inForce(call?.at ?? postedAt ?? 0));
      const shared = book.numbers.placed('number', number).filter(({ counted, at }) => counted && inForce(at));
      const isOver = own.length >= maxAttempts || shared.length >= (maxAttemptsPerNumber ?? Infinity);
      return isOver && 'was placed although all attempts were used up';
    }),
  },
  miscounted: {
    promise: 'a call uses up the budget unless it is proven that nobody picked up',
    on: { 'attempt.settled': uncounted, 'attempt.corrected': uncounted },
  },
  retry_too_early: {
    promise: 'nobody is planned or called again before the delay that the end of the last call asks for',
    on: { 'attempt.planned': tooEarly, 'attempt.posted': tooEarly },
  },
  reached_dialled: {
    promise: 'nobody is called again who was reached or opted out',
    on: {
      ...dialled(({ outcome, calls }) => {
        if (isReached(outcome)) return `was placed although the outcome was ${outcome} already`;
        const talk = calls.find((call) => call.isLastWord)?.disposition;
        return talk != null && `was placed although a call before it ended as ${talk}`;
      }),
      'recipient.retried': ({ outcome, recipientId }) => {
        const mayRetry = outcome !== undefined && retriable.includes(outcome);
        return !mayRetry && `${recipientId} was put back in line although the outcome was ${outcome}`;
      },
      'recipient.corrected': ({ outcome = 'rejected', recipientId }) =>
        !correctable.includes(outcome) && `${recipientId} was put back in line although the outcome was ${outcome}`,
      'callback.promised': ({ outcome = '', recipientId, data }) =>
        data['by'] === 'person' && final.includes(outcome) && `${recipientId} is to be called back although the outcome was ${outcome}`,
    },
  },
  promise_broken_early: {
    promise: 'no number is called before the instant that was promised to it, in whatever campaign',
    on: dialled(({ book, recipientId, event: { at }, number }) => {
      const callback = book.numbers.promises.get(number);
      if (callback === undefined || callback.ended !== null) return null;
      // Another row may call the number only when the callback is over.
      const from = callback.recipientId === recipientId ? callback.dueAt : callback.until;
      return at < from && `was placed ${from - at} ms before what was promised to its number`;
    }),
  },
  promise_lost: {
    promise: 'every promise to call somebody back is kept in its time, or told as one that was not',
    on: {
      'callback.ended': ({ campaign, promise, promiseId, event, data }) => {
        if (promise === undefined) return null;
        const state = textOf(data['state']);
        const { dueAt, until, recipientId } = promise;
        const postedAt = campaign.callsOf(recipientId).find(({ attemptId }) => attemptId === event.attemptId)?.postedAt ?? null;
        if ((state === 'kept' || state === 'late') && !(postedAt !== null && dueAt <= postedAt && postedAt < until))
          return `promise ${promiseId} counts as ${state}, and no call to its row was requested in its time`;
        const isMissed = state !== 'missed' || event.attemptId !== undefined || event.at >= until;
        return !isMissed && `promise ${promiseId} counts as missed before its time had passed`;
      },
    },
    atEnd: (campaign) =>
      [...(campaign.hasEnded ? campaign.promises : [])].map(
        ([callbackId, { ended, dueAt }]) =>
          ended === null && dueAt < Infinity && `the campaign has ended, and promise ${callbackId} was neither kept nor given up`,
      ),
  },
  pilot_exceeded: {
    promise: 'before a pilot has been decided about, nobody is called but the rows of its sample, once',
    on: dialled(({ campaign, recipientId, row, calls }) => {
      const { pilot } = campaign;
      if (pilot === null || pilot.state === 'passed') return null;
      if (pilot.state === 'over') return 'was placed, and nobody had decided about the pilot';
      const wasCalled = calls.some(({ state, counted }) => state === 'settled' && counted);
      if (wasCalled && hasOpenCallback(campaign, recipientId)) return null;
      if (row === null || !pilot.rows.has(row)) return 'was placed, and is not in the pilot';
      return wasCalled && 'is a second one of the pilot, before anybody had decided about it';
    }),
  },
  goal_exceeded: {
    promise: 'nobody is called after the campaign has reached its goal, unless a call back was promised',
    on: dialled(
      ({ campaign, recipientId }) =>
        campaign.hasGoal && !hasOpenCallback(campaign, recipientId) && 'was placed after the goal was reached, and nobody had promised it',
    ),
  },
  withdrawn_dialled: {
    promise: 'nobody is called whom a person withdrew and did not put back',
    on: dialled(({ campaign, recipientId }) => campaign.withdrawn.has(recipientId) && `was placed although ${recipientId} was withdrawn`),
  },
  open_changed: {
    promise: 'no row is changed while a call to its recipient is planned or open, or withdrawn unless its service gives calls back',
    on: {
      'recipient.corrected': (line) => changedOpen(line, 'changed'),
      'recipient.withdrawn': (line) => {
        if (line.data['callOpen'] !== true) return changedOpen(line, 'withdrawn');
        return !line.campaign.looksUp && `${line.recipientId} was withdrawn while a call was open that its service gives not back`;
      },
    },
  },
} satisfies Record<string, Rule>;

/** A call that uses up no budget must be one that was not picked up, or one that an operator gave up. */
function uncounted({ campaign, attempt, calls, data }: AttemptLine): Finding {
  const { disposition, counted, by } = data;
  if (counted === true) return null;
  const what = `call ${attempt.attemptId} ended as ${String(disposition)} and uses up no budget`;
  if (counted !== false) return `${what}: the log does not tell`;
  if (disposition === 'unknown' && by === 'person') return null;
  if (disposition !== 'failed') return what;
  const { budget } = attempt;
  const before = calls.filter((one) => one.state === 'settled' && one.budget === budget && one.nth < attempt.nth).toReversed();
  const inRow = before.findIndex((one) => one.counted);
  const { maxUncounted } = campaign.rules.retry;
  return (inRow < 0 ? before.length : inRow) >= maxUncounted && `${what}, and neither did ${maxUncounted} before it in a row`;
}

function tooEarly({ campaign, calls, event: { type, at, attemptId } }: Line): Finding {
  const own = calls.findIndex((one) => one.attemptId === attemptId);
  const last = calls.slice(0, own < 0 ? calls.length : own).findLast(({ state }) => state === 'settled');
  if (last?.retryFrom == null || Math.min(campaign.lastAt, at + clocksApartMs) >= last.retryFrom) return null;
  const done = type === 'attempt.planned' ? 'planned' : 'placed';
  const what = `call ${attemptId} was ${done} ${last.retryFrom - at} ms too early after ${last.attemptId}`;
  return `${what}, which ended as ${last.disposition}`;
}

function hasOpenCallback({ promises }: Campaign, recipientId: string): boolean {
  for (const callback of promises.values()) if (callback.recipientId === recipientId && callback.ended === null) return true;
  return false;
}

function changedOpen({ calls, event: { recipientId } }: Line, what: 'withdrawn' | 'changed'): Finding {
  return calls.at(-1)?.state === null && `${recipientId} was ${what} while a call to them was planned or open`;
}

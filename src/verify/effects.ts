import type { Campaign, EventType } from './book.ts';
import { countGoal, dial, moveBatch, planAttempt, planBatch, settle, takeBack } from './call-effects.ts';
import { numberOf, textOf } from './judged-rules.ts';
import type { Line, LineOf } from './line.ts';
import type { Callback } from './number-book.ts';

/** Line types that are not audited here, or belong to no campaign. */
type Silent =
  | `${'account' | 'schedule' | 'suppression' | 'hook' | 'webhook' | 'house' | 'clock' | 'gate' | 'operator'}.${string}`
  | 'recipient.deferred'
  | 'campaign.imported';

export const effects: { readonly [Type in Exclude<EventType, Silent>]: (line: LineOf<Type>) => void } = {
  'campaign.rows': ({ campaign, data }) => {
    const from = Number(data['from']);
    campaign.rowBook.take(from, String(data['hashes']), Number(data['version'] ?? 1));
    if (typeof data['cells'] === 'string') campaign.cellBook.take(from, data['cells']);
  },
  'campaign.state': ({ campaign, data }) => {
    campaign.state = String(data['to']);
    campaign.owesRoundEnd = campaign.hasEnded && campaign.rounds > 0;
    campaign.requeued.clear();
  },
  'campaign.adjusted': ({ campaign, data }) => adjustLimits(campaign, (data['to'] ?? {}) as Record<string, unknown>),
  'campaign.edited': ({ campaign }) => {
    campaign.edits = { added: 0, corrected: 0, withdrawn: 0 };
  },
  'round.started': ({ campaign }) => {
    campaign.rounds += 1;
  },
  'round.ended': ({ campaign }) => {
    campaign.owesRoundEnd = false;
  },
  'batch.planned': planBatch,
  'batch.screened': ({ campaign, event: { batchId = '', at }, data: { eligible } }) =>
    campaign.screened.set(batchId, { at, eligible: new Set(Array.isArray(eligible) ? eligible : []) }),
  'batch.posting': ({ campaign, batch, k, event, data }) => {
    campaign.speed = Math.max(campaign.speed, numberOf(data['speed']) ?? 1);
    batch.firstPostedAt ??= event.at;
    batch.verdicts[k - 1] = null;
    batch.logged[k - 1] = null;
    Object.assign(batch, { k, state: 'posting', owes: null, calls: [] });
    batch.caller = textOf(data['caller']) ?? '';
    batch.posted = numberOf(data['size']) ?? 0;
  },
  'batch.withdrawing': ({ batch }) => {
    batch.askedBack = true;
  },
  'batch.state': moveBatch,
  'post.verdict': (line) => {
    const { batch, k, isIdle, data } = line;
    const verdict = String(data['verdict']);
    batch.verdicts[k - 1] = verdict;
    batch.logged[k - 1] = verdict;
    if (isIdle && numberOf(data['status']) !== null) batch.denied = true;
    if (k !== batch.k) return;
    if (broughtBy[verdict]?.includes(batch.state) === true) batch.owes = verdict;
    if (isIdle) takeBack(line);
  },
  'attempt.planned': planAttempt,
  'attempt.posted': dial,
  'attempt.matched': ({ attempt, batch, data }) => {
    attempt.conversation = textOf(data['conversation']);
    attempt.evidence = textOf(data['evidence']);
    if (batch !== undefined) batch.lacksMatch = false;
  },
  'attempt.settled': settle,
  'attempt.corrected': settle,
  'attempt.result': ({ campaign, attempt, delayAsked, event, data }) => {
    attempt.result = textOf(data['result']);
    countGoal(campaign, attempt, 1);
    attempt.asks = textOf(data['asks']);
    if (attempt.asks === null || delayAsked === null) return;
    // The callback line sets the time.
    attempt.retryFrom = attempt.asks === 'callback' ? Infinity : event.at + delayAsked;
  },
  'attempt.released': ({ campaign, attempt, book, event, data }) => {
    if (data['by'] === 'report') attempt.evidence = 'report';
    attempt.state = 'released';
    attempt.endedAt ??= event.at;
    campaign.open.delete(attempt);
    if (attempt.call === null) return;
    book.numbers.unplace(attempt.call);
    book.numbers.closeCall(attempt.call);
  },
  'pilot.drawn': ({ campaign, data }) => {
    const rows = Array.isArray(data['rows']) ? data['rows'].map(Number) : [];
    campaign.pilot = { sample: Number(data['sample']), rows: new Set(rows), state: rows.length === 0 ? 'passed' : 'calling' };
  },
  'pilot.ended': ({ campaign, data }) => movePilot(campaign, data['passed'] === true ? 'passed' : 'over'),
  'pilot.voided': ({ campaign }) => movePilot(campaign, 'over'),
  'pilot.decided': ({ campaign }) => movePilot(campaign, 'passed'),
  'goal.reached': ({ campaign }) => {
    campaign.goals.logged = true;
  },
  'callback.promised': (line) => {
    const { campaign, book, recipientId, promiseId, times, calls } = line;
    const number = calls.findLast(({ call }) => call !== null)?.call?.number ?? null;
    const callback: Callback = { recipientId, dueAt: 0, until: 0, ended: null, ...times };
    campaign.promises.set(promiseId, callback);
    if (number !== null) book.numbers.promises.set(number, callback);
    if (line.data['by'] === 'person') {
      // Counts as if their records had requested it.
      for (const attempt of calls) if (attempt.disposition === 'answered') attempt.asks ??= 'person';
      waitAgain(line);
    }
    renewBudget(line);
    delayNext(line);
  },
  'callback.moved': (line) => {
    Object.assign(line.promise ?? {}, line.times);
    delayNext(line);
  },
  'callback.unclear': ({ campaign, recipientId, promiseId }) =>
    campaign.promises.set(promiseId, { recipientId, dueAt: Infinity, until: Infinity, ended: null }),
  'callback.ended': ({ promise, data }) => {
    if (promise !== undefined) promise.ended = textOf(data['state']);
  },
  'caller.out': ({ campaign, data }) => campaign.callersOut.add(String(data['phoneNumberId'])),
  'caller.in': ({ campaign, data }) => campaign.callersOut.delete(String(data['phoneNumberId'])),
  'recipient.outcome': (line) => {
    const { campaign, recipientId, data } = line;
    const { outcome } = data;
    // Null takes the outcome back. If a call caused that, its own line follows and sets the delay.
    if (typeof outcome !== 'string') {
      waitAgain(line);
      return forgetDelays(line);
    }
    campaign.outcomes.set(recipientId, outcome);
    campaign.reasons.set(recipientId, textOf(data['reason']));
    campaign.requeued.delete(recipientId);
  },
  'recipient.decided': ({ campaign, event, data }) => {
    if (data['decision'] === 'theirs') campaign.given.add(`${event.attemptId} ${String(data['conversation'])}`);
  },
  'recipient.retried': (line) => {
    waitAgain(line);
    renewBudget(line);
  },
  'recipient.added': (line) => {
    line.campaign.rows += 1;
    line.campaign.edits.added += 1;
    changeRow(line);
  },
  'recipient.corrected': (line) => {
    const { campaign, recipientId, data } = line;
    const outcome = textOf(data['outcome']);
    changeRow(line);
    campaign.edits.corrected += 1;
    // The zones used for a next-day delay may have changed.
    for (const attempt of line.calls) attempt.zones = null;
    if (outcome === 'rejected') campaign.rejected -= 1;
    // A new number has a budget of its own; a refused one has no delay to wait for.
    if (outcome === 'undialable') (data['numberChanged'] === true ? renewBudget : forgetDelays)(line);
    campaign.outcomes.delete(recipientId);
    campaign.withdrawn.delete(recipientId);
  },
  'recipient.withdrawn': ({ campaign, recipientId }) => {
    campaign.edits.withdrawn += 1;
    campaign.withdrawn.add(recipientId);
  },
};

/** By verdict: the states in which it applies. */
const broughtBy: Readonly<Record<string, readonly string[]>> = {
  confirmed: ['posting', 'unknown', 'held'],
  refused: ['posting', 'unknown'],
  not_sent: ['posting'],
  unknown: ['posting'],
};

function movePilot(campaign: Campaign, state: 'passed' | 'over'): void {
  if (campaign.pilot !== null) campaign.pilot = { ...campaign.pilot, state };
}

/** Delays apply to calls ending from now on, hours and attempts to calls placed from now on. */
function adjustLimits(campaign: Campaign, to: Record<string, unknown>): void {
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

function changeRow({ campaign, row, data }: Line): void {
  if (row === null) return;
  campaign.rowBook.change(row, String(data['hash']), Number(data['version'] ?? 1));
  campaign.cellBook.change(row, textOf(data['cells']));
}

function waitAgain({ campaign, recipientId }: Line): void {
  campaign.outcomes.delete(recipientId);
  campaign.requeued.add(recipientId);
}

function renewBudget(line: Line): void {
  const { campaign, recipientId } = line;
  campaign.budgets.set(recipientId, campaign.budgetOf(recipientId) + 1);
  forgetDelays(line);
}

function forgetDelays({ calls }: Line): void {
  for (const attempt of calls) attempt.retryFrom = null;
}

/** Delays the next call until the callback is due. */
function delayNext({ calls, data }: Line): void {
  const last = calls.at(-1);
  if (last !== undefined) last.retryFrom = numberOf(data['dueAt']);
}

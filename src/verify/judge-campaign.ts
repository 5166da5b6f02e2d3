import type { CampaignBook, JudgedLine } from './campaign-book.ts';
import type { LogViolation, Violate } from './log-rules.ts';
import { settleDebt } from './judge-batch.ts';
import { judgeUntoldGoal } from './judge-goal.ts';

/** Follows the times of each campaign, which never fall by more than the clocks of several machines may be apart. */
export class TimeBook {
  /** Times that are a little lower than one before them, as clocks of two processes may be: how many, and by how much at most. */
  readonly falls = { count: 0, mostMs: 0 };
  readonly #reversals: { campaign: CampaignBook; violation: LogViolation; byMs: number }[] = [];

  /** Notes the time of a line. `violate`: names it as one that fell by too much. */
  note({ campaign, event, data }: JudgedLine, violate: (what: string) => LogViolation): void {
    const { at } = event;
    campaign.lastSeq = event.seq;
    // Whoever gives a campaign up need not have reached the service, whose clock it is. A step of that clock is told.
    if (event.type === 'campaign.state' && data['to'] === 'failed') return;
    const fall = event.type.startsWith('clock.') ? 0 : campaign.lastAt - at;
    const isReversal = fall > campaign.rules.timing.clockToleranceMs;
    if (isReversal) {
      const [from, to] = [new Date(campaign.lastAt), new Date(at)];
      const violation = violate(`${event.type} is told of ${to.toISOString()}, after ${from.toISOString()}`);
      this.#reversals.push({ campaign, violation, byMs: fall });
    } else if (fall > 0) this.#noteFall(fall);
    campaign.lastAt = isReversal || event.type.startsWith('clock.') ? at : Math.max(campaign.lastAt, at);
  }

  /**
   * Reversals that are none at the speed at which their campaign ran, which may be told after them: the tolerance is real time, and a
   * sandbox that is killed loses seconds of it.
   */
  excused(): ReadonlySet<LogViolation> {
    const excused = this.#reversals.filter(({ campaign: { rules, speed }, byMs }) => byMs <= rules.timing.clockToleranceMs * speed);
    for (const { byMs } of excused) this.#noteFall(byMs);
    return new Set(excused.map(({ violation }) => violation));
  }

  #noteFall(byMs: number): void {
    this.falls.count += 1;
    this.falls.mostMs = Math.max(this.falls.mostMs, byMs);
  }
}

/** How a campaign may change. Written down anew, as that of a batch. */
const campaignMoves: Readonly<Record<string, readonly string[]>> = {
  draft: ['scheduled', 'running'],
  scheduled: ['running', 'paused', 'draining', 'failed'],
  running: ['paused', 'draining', 'completed', 'failed'],
  paused: ['scheduled', 'running', 'draining', 'completed', 'failed'],
  draining: ['completed', 'cancelled', 'failed'],
  completed: ['scheduled', 'running'],
  cancelled: ['scheduled', 'running'],
  failed: ['scheduled', 'running'],
};

/** A campaign changes its state; `from`: null where the log does not tell. */
export function moveCampaign({ campaign, event, violate }: JudgedLine, to: string, from: string | null): void {
  if (from !== null && from !== campaign.state)
    violate('cause_missing', `the campaign left ${from}, and the log has it as ${campaign.state}`);
  else if (campaignMoves[campaign.state]?.includes(to) !== true)
    violate('illegal_change', `the campaign went from ${campaign.state} to ${to}`);
  if (campaign.owesRoundEnd !== null) violate('cause_missing', `the campaign is ${to} again, and the end of its round is not told`);
  const ended = to === 'completed' || to === 'cancelled';
  campaign.owesRoundEnd = ended && campaign.rounds > 0 ? event : null;
  campaign.state = to;
  campaign.requeued.clear();
}

/** States in which nobody knows yet what became of a batch. */
const undecided: readonly string[] = ['intent', 'posting', 'not_sent', 'unknown'];

/** What is owed where the log ends, ended or not. */
export function judgeDebts(campaign: CampaignBook, violate: Violate): void {
  judgeUntoldGoal(campaign, violate);
  for (const [batchId, batch] of campaign.batches) {
    settleDebt(batch, violate);
    if (batch.lacksMatch !== null) violate('cause_missing', `batch ${batchId} was confirmed by a record, and no call of it has one`);
  }
  if (campaign.owesRoundEnd !== null) violate('cause_missing', `the campaign is ${campaign.state}, and the end of its round is not told`);
}

/** What a campaign that has ended is lacking at the end of the log. */
export function judgeEnd(campaign: CampaignBook, violate: Violate): void {
  if (campaign.state !== 'completed' && campaign.state !== 'cancelled') return;
  const { rows, rejected, outcomes, requeued, edits } = campaign;
  const missing = [...campaign.calls.keys()].filter((rowId) => !outcomes.has(rowId) && !requeued.has(rowId));
  for (const rowId of missing) violate('outcome_missing', `${rowId} was to be called and has no outcome`);
  // Whom a person put back in line waits for the next round. Of those who were never to be called the log knows the number alone.
  const accounted = outcomes.size + rejected + requeued.size;
  if (accounted !== rows && accounted + missing.length !== rows)
    violate('outcome_missing', `${rows} rows were imported, and ${accounted} have an outcome or wait again`);
  for (const { attemptId } of campaign.open) violate('log_incomplete', `call ${attemptId} has no end in the log`);
  for (const [batchId, { state }] of campaign.batches)
    if (undecided.includes(state)) violate('cause_missing', `the campaign is ${campaign.state}, and batch ${batchId} is ${state}`);
  if (edits.added + edits.corrected + edits.withdrawn > 0) violate('log_incomplete', 'rows were changed, and their number was never told');
}

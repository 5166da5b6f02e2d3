import { completeRules } from '../domain/campaign-rules.ts';
import { batchTransitions, type BatchState } from '../domain/ledger.ts';
import type { CampaignEvent } from '../store/events.ts';
import { openBook, type BatchBook, type CampaignBook } from './campaign-book.ts';
import { countAttempt, judgeBudget } from './judge-budget.ts';
import { calleeOf, judgeCall } from './judge-call.ts';
import { judgeEdit, judgeRetry, judgeWithdrawn } from './judge-edit.ts';
import { judgeEnd } from './judge-end.ts';
import { isTalk, judgeOutcome, judgeReached, noteOutcome, takePending } from './judge-outcome.ts';
import { planAttempt, planBatch } from './judge-plan.ts';
import { judgeScreened, noteScreening } from './judge-screening.ts';
import { mayMove, type LogRule, type LogViolation } from './log-rules.ts';
import { NumberBook } from './number-book.ts';
import { accountScope } from '../store/suppressions.ts';

/**
 * Proves the promises from the event log alone: fed every event of a database in the order of the log, it keeps what it needs to know
 * and notes what should not be. It asks no table and trusts no state but the one that it builds itself.
 */
export class LogJudge {
  readonly #campaigns = new Map<string, CampaignBook>();
  readonly #numbers = new NumberBook();
  readonly #violations: LogViolation[] = [];
  /** Of each number whose person opted out in a call: the lines that tell so, until the number stands on the do-not-call list. */
  readonly #unlisted = new Map<string, CampaignEvent[]>();
  #lastSeq = 0;
  #events = 0;
  #calls = 0;

  take(event: CampaignEvent): void {
    this.#events += 1;
    if (event.seq <= this.#lastSeq)
      this.#violate(event, 'log_incomplete', `event ${event.seq} stands after ${this.#lastSeq}`);
    this.#lastSeq = event.seq;
    const data = event.data ?? {};
    if (event.type === 'suppression.added') {
      const [number, scope, expiresAt] = [String(data['e164']), String(data['scope']), readInstant(data['expiresAt'])];
      this.#numbers.suppress(number, scope, expiresAt);
      if (scope === accountScope && expiresAt === null) this.#unlisted.delete(number);
      return;
    }
    if (event.type === 'suppression.removed') {
      this.#numbers.allow(String(data['e164']), String(data['scope']));
      return;
    }
    // A schedule is no campaign: each of its firings that came about is one, with an import of its own.
    if (event.type === 'schedule.fired' || event.type === 'schedule.failed') return;
    if (event.type === 'campaign.imported') {
      this.#open(event, data);
      return;
    }
    const campaign = this.#campaigns.get(event.campaignId);
    if (campaign === undefined)
      this.#violate(event, 'log_incomplete', `${event.type} of a campaign that was never imported`);
    else this.#follow(campaign, event, data);
  }

  /** What is wrong, in the order of the log, and how much there was to judge. */
  finish(): { violations: LogViolation[]; events: number; calls: number; campaigns: string[] } {
    for (const [campaignId, campaign] of this.#campaigns) {
      for (const pending of campaign.pending.values())
        this.#violateAll(pending.event, judgeOutcome(campaign, pending, false));
      for (const [rule, what] of judgeEnd(campaign))
        this.#violations.push({ rule, campaignId, seq: null, at: null, what });
    }
    for (const event of [...this.#unlisted.values()].flat()) {
      const what = `somebody opted out in call ${event.attemptId}, and the number was not put on the do-not-call list`;
      this.#violate(event, 'opt_out_unlisted', what);
    }
    const last = Number.MAX_SAFE_INTEGER;
    const violations = this.#violations.toSorted((a, b) => (a.seq ?? last) - (b.seq ?? last));
    return { violations, events: this.#events, calls: this.#calls, campaigns: [...this.#campaigns.keys()] };
  }

  #open(event: CampaignEvent, data: Record<string, unknown>): void {
    const rules = data['rules'];
    if (typeof rules !== 'object' || rules === null) {
      this.#violate(event, 'log_incomplete', 'the import does not tell the rules of its campaign');
      return;
    }
    const count = (name: string, missing: number) => Number(data[name] ?? missing);
    const book = { rows: count('rows', NaN), firstRow: count('firstRow', 1), rejected: count('rejected', NaN) };
    this.#campaigns.set(event.campaignId, openBook(completeRules(rules), book));
  }

  #follow(campaign: CampaignBook, event: CampaignEvent, data: Record<string, unknown>): void {
    const rowId = event.recipientId ?? campaign.attempts.get(event.attemptId ?? '')?.recipientId;
    const told = rowId === undefined ? null : takePending(campaign, rowId, event);
    if (told?.brought === false) this.#violateAll(told.pending.event, judgeOutcome(campaign, told.pending, false));
    this.#step(campaign, event, data);
    if (told?.brought === true) this.#violateAll(told.pending.event, judgeOutcome(campaign, told.pending, true));
  }

  #step(campaign: CampaignBook, event: CampaignEvent, data: Record<string, unknown>): void {
    switch (event.type) {
      case 'campaign.state':
        this.#moveCampaign(campaign, event, String(data['to']));
        break;
      case 'batch.planned':
        this.#violateAll(event, planBatch(campaign, event));
        break;
      case 'batch.screened':
        noteScreening(campaign, event);
        break;
      case 'batch.posting':
        this.#beginPost(campaign, event, Number(data['k']));
        if (campaign.callersOut.has(String(data['caller'])))
          this.#violate(event, 'caller_out_dialled', `batch ${event.batchId} was sent from ${String(data['caller'])}`);
        break;
      case 'post.verdict':
        this.#judgePost(campaign, event, data);
        break;
      case 'batch.state':
        this.#moveBatch(campaign, event, data['state'] as BatchState);
        break;
      case 'attempt.planned':
        this.#violateAll(event, planAttempt(campaign, event));
        break;
      case 'attempt.posted':
        this.#dial(campaign, event);
        break;
      case 'attempt.settled':
      case 'attempt.corrected':
        this.#settle(campaign, event, data);
        break;
      case 'attempt.released':
        this.#release(campaign, event);
        break;
      case 'caller.out':
        campaign.callersOut.add(String(data['phoneNumberId']));
        break;
      case 'caller.in':
        campaign.callersOut.delete(String(data['phoneNumberId']));
        break;
      case 'recipient.outcome':
        this.#violateAll(event, noteOutcome(campaign, event));
        break;
      case 'recipient.retried':
        this.#violateAll(event, judgeRetry(campaign, event));
        break;
      case 'recipient.added':
      case 'recipient.corrected':
      case 'recipient.withdrawn':
      case 'campaign.edited':
        this.#violateAll(event, judgeEdit(campaign, event));
        break;
      case 'attempt.matched':
      case 'recipient.deferred':
      case 'campaign.adjusted':
      case 'account.adjusted':
      case 'account.pace':
      case 'round.started':
      case 'round.ended':
      case 'campaign.imported':
      case 'suppression.added':
      case 'suppression.removed':
      case 'hook.delivered':
      case 'hook.failed':
      case 'schedule.fired':
      case 'schedule.failed':
        break;
    }
  }

  #moveCampaign(campaign: CampaignBook, event: CampaignEvent, to: string): void {
    if (!mayMove(campaign.state, to))
      this.#violate(event, 'illegal_change', `the campaign went from ${campaign.state} to ${to}`);
    campaign.state = to;
    campaign.requeued.clear();
  }

  #moveBatch(campaign: CampaignBook, event: CampaignEvent, to: BatchState): void {
    const batch = this.#batchOf(campaign, event);
    if (batch === undefined) return;
    if (!batchTransitions[batch.state].includes(to))
      this.#violate(event, 'illegal_change', `batch ${event.batchId} went from ${batch.state} to ${to}`);
    batch.state = to;
  }

  #batchOf(campaign: CampaignBook, event: CampaignEvent): BatchBook | undefined {
    const batch = campaign.batches.get(event.batchId ?? '');
    if (batch === undefined) this.#violate(event, 'log_incomplete', `${event.type} of a batch that was never planned`);
    return batch;
  }

  #beginPost(campaign: CampaignBook, event: CampaignEvent, k: number): void {
    const batch = this.#batchOf(campaign, event);
    if (batch === undefined) return;
    if (!batch.provenIdle)
      this.#violate(
        event,
        'dialled_twice',
        `request ${k} of batch ${event.batchId} began although request ${batch.k} may have been carried out`,
      );
    if (campaign.state !== 'running')
      this.#violate(
        event,
        'dialled_while_stopped',
        `batch ${event.batchId} was sent while the campaign was ${campaign.state}`,
      );
    this.#moveBatch(campaign, event, 'posting');
    batch.k = k;
    batch.provenIdle = false;
  }

  #judgePost(campaign: CampaignBook, event: CampaignEvent, data: Record<string, unknown>): void {
    const batch = this.#batchOf(campaign, event);
    if (batch === undefined) return;
    const k = Number(data['k']);
    if (k > batch.k)
      this.#violate(
        event,
        'log_incomplete',
        `request ${k} of batch ${event.batchId} has a verdict and was never begun`,
      );
    if (k !== batch.k || (data['verdict'] !== 'not_sent' && data['verdict'] !== 'refused')) return;
    batch.provenIdle = true;
    for (const attemptId of batch.calls.splice(0)) this.#numbers.unplace(attemptId);
  }

  #dial(campaign: CampaignBook, event: CampaignEvent): void {
    this.#calls += 1;
    const attemptId = event.attemptId ?? '';
    const attempt = campaign.attempts.get(attemptId);
    if (attempt === undefined) {
      this.#violate(event, 'log_incomplete', `call ${attemptId} was placed and never planned`);
      return;
    }
    if (attempt.ended) this.#violate(event, 'dialled_twice', `call ${attemptId} was placed again after its end`);
    const { recipientId } = attempt;
    this.#violateAll(event, [
      ...judgeCall(campaign.rules, this.#numbers, event),
      ...judgeBudget(campaign, this.#numbers, attempt, event),
      ...judgeWithdrawn(campaign, event),
      ...judgeScreened(campaign, event),
      ...judgeReached(campaign, recipientId, event),
    ]);
    attempt.postedAt ??= event.at;
    const callee = calleeOf(event);
    attempt.number = callee.number;
    this.#numbers.openCallTo(callee.number, attemptId);
    this.#numbers.place(attemptId, event.at, callee);
    campaign.batches.get(event.batchId ?? '')?.calls.push(attemptId);
  }

  #settle(campaign: CampaignBook, event: CampaignEvent, data: Record<string, unknown>): void {
    const counts = data['counted'] === true;
    const attempt = campaign.attempts.get(event.attemptId ?? '');
    if (attempt === undefined || attempt.postedAt === null) {
      this.#violate(event, 'log_incomplete', `call ${event.attemptId} ended and was never placed`);
      return;
    }
    countAttempt(campaign, attempt, counts);
    this.#numbers.setCounted(event.attemptId ?? '', counts);
    const { disposition } = data;
    attempt.disposition = typeof disposition === 'string' ? disposition : null;
    if (isTalk(attempt)) this.#numbers.noteTalk(event.attemptId ?? '');
    if (disposition === 'opted_out' && attempt.number !== null)
      this.#unlisted.set(attempt.number, [...(this.#unlisted.get(attempt.number) ?? []), event]);
    attempt.ended = true;
    this.#numbers.closeCall(event.attemptId ?? '');
  }

  #release(campaign: CampaignBook, event: CampaignEvent): void {
    const attempt = campaign.attempts.get(event.attemptId ?? '');
    if (attempt === undefined) {
      this.#violate(event, 'log_incomplete', `call ${event.attemptId} was given back and never planned`);
      return;
    }
    attempt.ended = true;
    this.#numbers.unplace(event.attemptId ?? '');
    this.#numbers.closeCall(event.attemptId ?? '');
  }

  #violateAll(event: CampaignEvent, found: readonly [LogRule, string][]): void {
    for (const [rule, what] of found) this.#violate(event, rule, what);
  }

  #violate({ campaignId, seq, at }: CampaignEvent, rule: LogRule, what: string): void {
    this.#violations.push({ rule, campaignId, seq, at, what });
  }
}

function readInstant(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

import { completeRules } from '../domain/campaign-rules.ts';
import { batchTransitions, type BatchState } from '../domain/ledger.ts';
import type { CampaignEvent } from '../store/events.ts';
import { openBook, type BatchBook, type CampaignBook } from './campaign-book.ts';
import { countAttempt, judgeBudget } from './judge-budget.ts';
import { calleeOf, judgeCall } from './judge-call.ts';
import { judgeEdit, judgeWithdrawn } from './judge-edit.ts';
import { judgeScreened, noteScreening } from './judge-screening.ts';
import { mayMove, type LogRule, type LogViolation } from './log-rules.ts';
import { NumberBook } from './number-book.ts';
import { retriableOutcomes } from '../store/retry-ended.ts';

/**
 * Proves the promises from the event log alone: fed every event of a database in the order of the log, it keeps what it needs to know
 * and notes what should not be. It asks no table and trusts no state but the one that it builds itself.
 */
export class LogJudge {
  readonly #campaigns = new Map<string, CampaignBook>();
  readonly #numbers = new NumberBook();
  readonly #violations: LogViolation[] = [];
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
      this.#numbers.suppress(String(data['e164']), String(data['scope']), readInstant(data['expiresAt']));
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
    for (const [campaignId, campaign] of this.#campaigns) this.#judgeEnd(campaignId, campaign);
    const campaigns = [...this.#campaigns.keys()];
    return { violations: this.#violations, events: this.#events, calls: this.#calls, campaigns };
  }

  #open(event: CampaignEvent, data: Record<string, unknown>): void {
    const rules = data['rules'];
    if (typeof rules !== 'object' || rules === null) {
      this.#violate(event, 'log_incomplete', 'the import does not tell the rules of its campaign');
      return;
    }
    this.#campaigns.set(
      event.campaignId,
      openBook(completeRules(rules), Number(data['rows']), Number(data['rejected'])),
    );
  }

  #follow(campaign: CampaignBook, event: CampaignEvent, data: Record<string, unknown>): void {
    switch (event.type) {
      case 'campaign.state':
        this.#moveCampaign(campaign, event, String(data['to']));
        break;
      case 'batch.planned':
        campaign.batches.set(event.batchId ?? '', { state: 'intent', k: 0, provenIdle: true, calls: [] });
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
        this.#plan(campaign, event);
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
        // Null: it is taken back, and the recipient waits again.
        if (typeof data['outcome'] === 'string') campaign.outcomes.set(event.recipientId ?? '', data['outcome']);
        else campaign.outcomes.delete(event.recipientId ?? '');
        break;
      case 'recipient.retried':
        this.#retry(campaign, event);
        break;
      case 'recipient.added':
      case 'recipient.corrected':
      case 'recipient.withdrawn':
      case 'campaign.edited':
        for (const [rule, what] of judgeEdit(campaign, event)) this.#violate(event, rule, what);
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

  #plan(campaign: CampaignBook, { attemptId = '', recipientId = '' }: CampaignEvent): void {
    const budget = campaign.budgets.get(recipientId) ?? 0;
    const attempt = { recipientId, postedAt: null, ended: false, counted: false, budget };
    campaign.attempts.set(attemptId, attempt);
    campaign.latest.set(recipientId, attempt);
  }

  #moveCampaign(campaign: CampaignBook, event: CampaignEvent, to: string): void {
    if (!mayMove(campaign.state, to))
      this.#violate(event, 'illegal_change', `the campaign went from ${campaign.state} to ${to}`);
    campaign.state = to;
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
    const wrong = [
      ...judgeCall(campaign.rules, this.#numbers, event),
      ...judgeBudget(campaign, this.#numbers, attempt, event),
      ...judgeWithdrawn(campaign, event),
      ...judgeScreened(campaign, event),
    ];
    for (const [rule, what] of wrong) this.#violate(event, rule, what);
    const outcome = campaign.outcomes.get(recipientId);
    if (outcome === 'completed' || outcome === 'opted_out')
      this.#violate(
        event,
        'reached_dialled',
        `call ${attemptId} was placed although the outcome was ${outcome} already`,
      );
    attempt.postedAt ??= event.at;
    const callee = calleeOf(event);
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
    if (data['disposition'] === 'answered' || data['disposition'] === 'opted_out')
      this.#numbers.noteTalk(event.attemptId ?? '');
    attempt.ended = true;
    this.#numbers.closeCall(event.attemptId ?? '');
  }

  /** A person gave the row a budget anew, which only somebody who was not reached may get. */
  #retry(campaign: CampaignBook, event: CampaignEvent): void {
    const recipientId = event.recipientId ?? '';
    const outcome = campaign.outcomes.get(recipientId);
    if (outcome === undefined || !(retriableOutcomes as readonly string[]).includes(outcome))
      this.#violate(
        event,
        'reached_dialled',
        `${recipientId} was put back in line although the outcome was ${outcome}`,
      );
    campaign.outcomes.delete(recipientId);
    campaign.counted.delete(recipientId);
    campaign.budgets.set(recipientId, (campaign.budgets.get(recipientId) ?? 0) + 1);
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

  #judgeEnd(campaignId: string, campaign: CampaignBook): void {
    if (campaign.state !== 'completed' && campaign.state !== 'cancelled') return;
    const missing = (rule: LogRule, what: string): void =>
      void this.#violations.push({ rule, campaignId, seq: null, at: null, what });
    const answered = campaign.outcomes.size + campaign.rejected;
    if (answered !== campaign.rows)
      missing('outcome_missing', `${campaign.rows} rows were imported, and ${answered} have an outcome`);
    for (const [attemptId, attempt] of campaign.attempts) {
      if (!attempt.ended) missing('log_incomplete', `call ${attemptId} has no end in the log`);
    }
    const { added, corrected, withdrawn } = campaign.edits;
    if (added + corrected + withdrawn > 0)
      missing('log_incomplete', 'rows were changed, and their number was never told');
  }

  #violate({ campaignId, seq, at }: CampaignEvent, rule: LogRule, what: string): void {
    this.#violations.push({ rule, campaignId, seq, at, what });
  }
}

function readInstant(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

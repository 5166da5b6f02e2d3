import { ApplicationFailure } from '@temporalio/common';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import type { Activities } from '../../activities/index.ts';
import type { PlanActivityResult } from '../../activities/plan.ts';
import type { NotedPost } from '../../activities/request-notes.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { batchNumberOf } from '../../src/rules/ids.ts';
import { undecidedStates } from '../../src/rules/ledger.ts';
import { nextStep } from '../../src/rules/pacing/next-step.ts';
import type { StrikePoint } from './strikes.ts';
import type { WaitableClock } from './clock.ts';

/** What Temporal hears of an activity: its answer, or when it is tried again. */
export type Answer<Result> = { result: Result } | { retryAt: number };

export interface Worker {
  deps: ActivityDependencies;
  activities: Activities;
}

export interface Submitting {
  batchId: string;
  /** The last POST noted with Temporal, in any try. */
  noted: NotedPost | null;
  at: number;
  tries: number;
}

export interface Collected {
  outstanding: boolean;
  /** Whether the planner is asked again. */
  isOver: boolean;
  nextAt: number;
}

export interface Stage {
  readonly clock: WaitableClock;
  attempt<Result>(operation: string, work: (worker: Worker) => Promise<Result>, tries?: number): Promise<Answer<Result>>;
  /** Whether Temporal loses this answer and runs the activity again. */
  isLost(point: StrikePoint): boolean;
  note(text: string): void;
  /** Before each try of a submit. */
  submits?(submitting: Submitting): void;
  /** For how many more batches a submit went on. */
  wentOn?(batches: number): void;
  /** From sending a batch to the first look at the service; 0: as soon as it is planned. */
  readonly collectAfterMs: number;
  collect(loop: CampaignLoop): Promise<Answer<Collected>>;
}

/** In how long Temporal tries again after the error of the nth try, from 0; `forGood`: never. */
export function retryOf(error: unknown, tries: number): { afterMs: number; forGood: string | null } {
  const failure = error instanceof ApplicationFailure ? error : null;
  const afterMs = Number(failure?.nextRetryDelay ?? Math.min(1_000 * 2 ** tries, minuteMs));
  return { afterMs, forGood: failure?.nonRetryable === true ? `failed for good: ${failure.type} ${failure.message}` : null };
}

/** Drives one campaign as its workflow does, by the answers of the activities alone. */
export class CampaignLoop {
  readonly campaignId: string;
  readonly #stage: Stage;
  round: number;
  /** Number of the last batch sent. */
  submitted = 0;
  submitting: Submitting | null = null;
  /** When the planner is asked again; null: when something has changed. */
  planAt: number | null;
  plannedAt = 0;
  collecting = false;
  collectAt = 0;
  verified = false;
  dialled = false;
  ended = false;

  constructor(campaignId: string, round: number, stage: Stage) {
    [this.campaignId, this.round, this.#stage] = [campaignId, round, stage];
    this.planAt = this.#now;
  }

  get #now(): number {
    return this.#stage.clock.now();
  }

  beginRound(round: number): void {
    Object.assign(this, { round, submitted: 0, submitting: null, dialled: false, planAt: this.#now });
  }

  planBy(instant: number): void {
    this.planAt = Math.min(this.planAt ?? Infinity, instant);
  }

  get isPlanDue(): boolean {
    return this.submitting === null && !this.dialled && this.planAt !== null && this.planAt <= this.#now;
  }

  get isSubmitDue(): boolean {
    return this.submitting !== null && this.submitting.at <= this.#now;
  }

  get isCollectDue(): boolean {
    return this.collecting && this.collectAt <= this.#now;
  }

  /** Answers when to check again. */
  async check(): Promise<number> {
    const { campaignId } = this;
    const answer = await this.#stage.attempt('check callers', ({ activities }) => activities.checkCallers({ campaignId }));
    this.verified = 'result' in answer && answer.result.ok;
    return 'retryAt' in answer ? answer.retryAt : this.#now + 60_000;
  }

  async plan(): Promise<void> {
    if (!this.isPlanDue) return;
    const input = { campaignId: this.campaignId, round: this.round, batchNumber: this.submitted + 1 };
    // The planner may not have seen what changes from here on.
    this.planAt = null;
    const answer = await this.#stage.attempt('plan', async ({ activities }) => {
      const planned = await activities.plan(input);
      return planned.kind === 'batch' && this.#stage.isLost('plan result: unheard') ? activities.plan(input) : planned;
    });
    if ('retryAt' in answer) this.planAt = answer.retryAt;
    else this.#follow(answer.result);
  }

  /** Acts on the planner's word, from a plan or from a submit that went on. */
  #follow(planned: PlanActivityResult): void {
    this.plannedAt = this.#now;
    const next = nextStep(planned);
    if (next.kind === 'dial') {
      this.#stage.note(`planned ${next.batchId} (${next.size})`);
      this.planAt = null;
      // What was sent must not wait for a submit that goes on sending.
      if (this.#stage.collectAfterMs === 0) this.#beginCollect();
      this.#beginSubmit(next.batchId);
    } else if (next.kind === 'done') this.dialled = true;
    else {
      if (next.outstanding) this.#beginCollect();
      if (next.forMs !== null) this.planBy(this.#now + next.forMs);
    }
  }

  #beginCollect(afterMs = 0): void {
    if (this.collecting) return;
    this.collecting = true;
    this.collectAt = this.#now + afterMs;
  }

  #beginSubmit(batchId: string): void {
    this.submitting = { batchId, noted: null, at: this.#now, tries: 0 };
  }

  async submit(): Promise<void> {
    const { submitting } = this;
    if (submitting === null || !this.isSubmitDue) return;
    const { batchId } = submitting;
    const thenPlan = { campaignId: this.campaignId, round: this.round, batchNumber: batchNumberOf(batchId) + 1 };
    this.#stage.submits?.(submitting);
    const send = async ({ activities }: Worker) => {
      const result = await activities.submit({ batchId, thenPlan });
      return this.#stage.isLost('submit result: unheard') ? activities.submit({ batchId, thenPlan }) : result;
    };
    const answer = await this.#stage.attempt('submit', send, submitting.tries);
    if ('retryAt' in answer) {
      submitting.at = answer.retryAt;
      submitting.tries += 1;
      return;
    }
    const { result } = answer;
    if (result.kind === 'unrecorded') return this.#recordVerdict(result.verdict);
    this.#stage.note(`submitted ${batchId}, up to ${result.batchId}: ${result.state}`);
    this.#stage.wentOn?.(batchNumberOf(result.batchId) - batchNumberOf(batchId));
    this.#endSubmit(result.batchId);
    if (result.planned === undefined) this.planAt = this.#now;
    else this.#follow(result.planned);
  }

  async #recordVerdict(verdict: Parameters<Activities['recordPostVerdict']>[0]): Promise<void> {
    const { batchId } = verdict;
    for (let tries = 0; ; tries += 1) {
      const recorded = await this.#stage.attempt('record verdict', ({ activities }) => activities.recordPostVerdict(verdict), tries);
      if ('result' in recorded) {
        this.#stage.note(`recorded ${batchId}: ${recorded.result.state}`);
        if (undecidedStates.includes(recorded.result.state)) return this.#beginSubmit(batchId);
        break;
      }
      await this.#stage.clock.pass(Math.max(1, recorded.retryAt - this.#now));
    }
    this.#endSubmit(batchId);
    this.planAt = this.#now;
  }

  #endSubmit(lastBatchId: string): void {
    this.submitting = null;
    this.submitted = batchNumberOf(lastBatchId);
    this.#beginCollect(this.#stage.collectAfterMs);
  }

  async collect(): Promise<void> {
    if (!this.isCollectDue) return;
    const answer = await this.#stage.collect(this);
    if ('retryAt' in answer) return;
    const { outstanding, isOver, nextAt } = answer.result;
    this.collectAt = nextAt;
    this.collecting = outstanding;
    if (isOver || !outstanding) this.planBy(this.#now);
  }

  async close() {
    const input = { campaignId: this.campaignId, round: this.round };
    const answer = await this.#stage.attempt('close round', ({ activities }) => activities.closeRound(input));
    if ('retryAt' in answer || answer.result.closed) return answer;
    this.dialled = false;
    this.planAt = this.#now;
    return { retryAt: this.#now };
  }
}

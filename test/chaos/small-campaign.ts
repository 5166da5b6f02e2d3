import { ApplicationFailure } from '@temporalio/common';
import type { Activities } from '../../activities/index.ts';
import type { PlanActivityResult } from '../../activities/plan.ts';
import { batchNumberOf } from '../../src/rules/ids.ts';
import { undecidedStates } from '../../src/rules/ledger.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { nextStep } from '../../src/rules/pacing/next-step.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import type { VerdictInput } from '../../src/ledger/dial/posts.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import type { RunningSandbox } from '../../src/sandbox/start.ts';
import { ProcessDied } from '../activities/mixes/chaos.ts';
import type { WaitableClock } from '../activities/service-world.ts';
import { readLedger, type Ledger } from '../judge/ledger.ts';
import { asActivity } from '../support/activity-context.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { notePlayed } from '../support/played.ts';
import { wish, type Standing } from './acts.ts';
import { Crew, type Worker } from './crew.ts';
import type { Person } from './console/person.ts';
import { stands, type Effect } from './effect-log.ts';
import type { Intervention, Plan } from './intervention.ts';
import type { Place } from './places.ts';
import { campaignId, importSmall } from './import-small.ts';
import { rowOf, type Order, type Scenario } from './scenarios.ts';

export interface Ending {
  api: ServiceApi;
  scenario: Scenario;
  sandbox: RunningSandbox;
  effects: readonly Effect[];
  ledger: Ledger;
  standing: Standing;
  /** Whoever acted through the API. */
  person: Person;
  /** What was done, in order. */
  done: readonly Intervention[];
  /** What the campaign itself could not cope with. */
  faults: string[];
}

const mostSteps = 200;
const collectMs = 5 * minuteMs;

/** One campaign of a few people, driven as its workflow does, by one worker after the other. */
export class SmallCampaign {
  readonly #place: Place;
  readonly #scenario: Scenario;
  readonly #plan: Plan;
  #sandbox!: RunningSandbox;
  #clock!: WaitableClock;
  #crew!: Crew;
  #worker!: Worker;
  #standing!: Standing;
  #step = 0;
  #phase: 'checking' | 'dialling' | 'closing' | 'ended' = 'checking';
  #submitAt: number | null = null;
  #unrecorded: VerdictInput | null = null;
  #planAt: number | null = 0;
  #plannedAt = 0;
  #collectAt: number | null = null;
  #tries = 0;
  readonly #orders: Order[];

  constructor(place: Place, scenario: Scenario, plan: Plan = () => null) {
    this.#place = place;
    this.#scenario = scenario;
    this.#plan = plan;
    this.#orders = [...(scenario.orders ?? [])];
  }

  async run(): Promise<Ending> {
    const { sandbox, clock } = await this.#place.begin(this.#scenario);
    [this.#sandbox, this.#clock] = [sandbox, clock];
    const rows = this.#scenario.people.map((manner, index) => rowOf(index, manner));
    this.#standing = {
      campaignId, rows, round: 1, submitted: 0, submitting: null, stopped: new Map(), withdrawn: new Set(),
      added: new Map(), houseSince: null, pilotDecided: null, tried: new Set(), wishes: 0, pausing: null, paused: null, pauses: [], wentOnAt: 0, ended: null, redials: 0, presses: [], doubted: new Set(),
    }; // prettier-ignore
    const campaign = { place: this.#place, scenario: this.#scenario, plan: this.#plan, standing: this.#standing };
    this.#crew = new Crew(campaign, { sandbox, clock });
    try {
      await importSmall(this.#place.stores[0], this.#scenario, {
        rows,
        service: { accountId: sandbox.url, api: this.#place.api },
        now: clock.now(),
      });
      await this.#crew.beginLog(this.#place.stores[0]);
      this.#worker = this.#crew.startWorker();
      while (this.#phase !== 'ended') {
        if (this.#step >= mostSteps) {
          this.#crew.faults.push('it never ends');
          break;
        }
        await this.#crew.sendAgain(this.#step);
        await this.#resumeIfPaused();
        await this.#carryOutOrders();
        await this.#advance();
      }
      await this.#crew.endRequests(this.#step);
      notePlayed({ campaigns: 1, calls: sandbox.calls().length });
      return {
        api: this.#place.api,
        scenario: this.#scenario,
        sandbox,
        effects: this.#crew.log.effects,
        ledger: await readLedger(this.#place.stores[0].db),
        standing: this.#standing,
        person: this.#crew.person,
        done: this.#crew.done,
        faults: this.#crew.faults,
      };
    } finally {
      await this.#crew.close();
    }
  }

  /** One operation as Temporal would run it: an answer, or the time of the next try. */
  async #operate<Result>(operation: string, work: (worker: Worker) => Promise<Result>): Promise<{ result: Result } | { retryAt: number }> {
    this.#step += 1;
    try {
      const result = await this.#worker.woven.run(this.#step, operation, () => work(this.#worker));
      this.#tries = 0;
      return { result };
    } catch (error) {
      this.#tries += 1;
      if (error instanceof ProcessDied) {
        this.#worker = this.#crew.startWorker();
        await this.#clock.pass(2_000);
        return { retryAt: this.#clock.now() };
      }
      if (error instanceof ApplicationFailure && error.nonRetryable === true) {
        this.#crew.faults.push(`${operation} failed for good: ${error.type} ${error.message}`);
        this.#phase = 'ended';
      }
      const delay = error instanceof ApplicationFailure ? error.nextRetryDelay : undefined;
      return { retryAt: this.#clock.now() + Number(delay ?? Math.min(1_000 * 2 ** this.#tries, 60_000)) };
    } finally {
      await this.#crew.letGo();
      await this.#clock.pass(500);
    }
  }

  async #advance(): Promise<void> {
    const now = this.#clock.now();
    if (this.#phase === 'closing') return this.#close();
    if (this.#unrecorded !== null) return this.#record(this.#unrecorded);
    if (this.#submitAt !== null && this.#submitAt <= now) return this.#submit();
    if (this.#submitAt === null && this.#planAt !== null && this.#planAt <= now)
      return this.#phase === 'checking' ? this.#check() : this.#planNext();
    if (this.#collectAt !== null && this.#collectAt <= now) return this.#collect();
    const { resumeAt = Infinity } = this.#standing.paused ?? {};
    const next = Math.min(this.#submitAt ?? this.#planAt ?? Infinity, this.#collectAt ?? Infinity, resumeAt);
    if (next === Infinity) {
      this.#crew.faults.push('nothing wakes it any more');
      this.#phase = 'ended';
      return;
    }
    await this.#clock.pass(Math.max(1, Math.round(next - now)));
  }

  /** What persons do once a change of state stands. One that does not come about is done again. */
  async #carryOutOrders(): Promise<void> {
    const { effects } = this.#crew.log;
    const isDue = ({ after }: Order) => effects.some((effect) => stands(effect) && effect.transitions.includes(after));
    for (const order of this.#orders.filter(isDue)) {
      const answer = await this.#operate(order.act, (worker) => this.#crew.act(worker, order.act));
      if (!('retryAt' in answer)) this.#orders.splice(this.#orders.indexOf(order), 1);
    }
  }

  async #check(): Promise<void> {
    const answer = await this.#operate('check callers', ({ activities }) => activities.checkCallers({ campaignId }));
    if ('retryAt' in answer) this.#planAt = answer.retryAt;
    else if (answer.result.ok) this.#phase = 'dialling';
    else this.#planAt = this.#clock.now() + 60_000;
  }

  async #planNext(): Promise<void> {
    const answer = await this.#operate('plan', (worker) => this.#crew.act(worker, 'plan') as ReturnType<Activities['plan']>);
    if ('retryAt' in answer) this.#planAt = answer.retryAt;
    else this.#goOn(answer.result);
  }

  /** As the planner says. */
  #goOn(planned: PlanActivityResult): void {
    this.#plannedAt = this.#clock.now();
    const next = nextStep(planned);
    if (next.kind === 'dial') {
      this.#standing.submitting = next.batchId;
      this.#submitAt = this.#clock.now();
    } else if (next.kind === 'done') this.#phase = 'closing';
    else {
      if (next.outstanding) this.#collectAt ??= this.#clock.now();
      this.#planAt = next.forMs === null ? null : this.#clock.now() + next.forMs;
    }
  }

  async #submit(): Promise<void> {
    const batchId = this.#standing.submitting ?? '';
    const thenPlan = { campaignId, round: this.#standing.round, batchNumber: batchNumberOf(batchId) + 1 };
    const answer = await this.#operate('submit', ({ activities }) => activities.submit({ batchId, thenPlan }));
    if ('retryAt' in answer) this.#submitAt = answer.retryAt;
    else if (answer.result.kind === 'unrecorded') this.#unrecorded = answer.result.verdict;
    else this.#submitted(answer.result);
  }

  async #record(verdict: VerdictInput): Promise<void> {
    const answer = await this.#operate('record verdict', ({ activities }) => activities.recordPostVerdict(verdict));
    if ('retryAt' in answer) {
      await this.#clock.pass(Math.max(1, answer.retryAt - this.#clock.now()));
      return;
    }
    this.#unrecorded = null;
    if (!undecidedStates.includes(answer.result.state)) return this.#submitted(verdict);
    this.#standing.submitting = verdict.batchId;
    this.#submitAt = this.#clock.now();
  }

  #submitted({ batchId, planned }: { batchId: string; planned?: PlanActivityResult }): void {
    this.#standing.submitting = null;
    this.#standing.submitted = batchNumberOf(batchId);
    this.#submitAt = null;
    this.#planAt = this.#clock.now();
    this.#collectAt ??= this.#clock.now() + 15_000;
    if (planned !== undefined) this.#goOn(planned);
  }

  async #collect(): Promise<void> {
    const answer = await this.#operate('collect', ({ activities }) => asActivity(() => activities.collect({ campaignId })));
    if ('retryAt' in answer) {
      this.#collectAt = answer.retryAt;
      return;
    }
    const { outstanding, reason } = answer.result;
    // While only deadlines are waited for nobody needs to look often; further apart, time would not count as watched.
    const running = this.#sandbox.calls().some((call) => call.endedAt === null);
    this.#collectAt = outstanding ? this.#clock.now() + (running ? 41_000 : 119_000) : null;
    // A collect that nothing ends goes on for five minutes; the planner is asked after each.
    const isOver = reason !== 'time' || this.#clock.now() >= this.#plannedAt + collectMs;
    if (isOver || !outstanding) this.#planAt = Math.min(this.#planAt ?? Infinity, this.#clock.now());
  }

  async #close(): Promise<void> {
    const answer = await this.#operate(
      'close round',
      (worker) => this.#crew.act(worker, 'close round') as ReturnType<Activities['closeRound']>,
    );
    if ('retryAt' in answer) {
      await this.#clock.pass(Math.max(1, answer.retryAt - this.#clock.now()));
      return;
    }
    if (!answer.result.closed) {
      this.#phase = 'dialling';
      this.#planAt = this.#clock.now();
      return;
    }
    // A pause is over with its round.
    this.#endPause();
    if (answer.result.progress.unresolved === 0) {
      this.#phase = 'ended';
      return;
    }
    for (;;) {
      const said = await this.#operate('resolve', async (worker) => {
        await this.#crew.act(worker, 'resolve');
        return openRound(worker.deps.store, campaignId, this.#clock.now());
      });
      if ('retryAt' in said) continue;
      const round = said.result;
      if (round === undefined || round.round === this.#standing.round) this.#phase = 'ended';
      else {
        Object.assign(this.#standing, { round: round.round, submitted: 0, submitting: null });
        this.#phase = 'dialling';
        this.#planAt = this.#clock.now();
      }
      return;
    }
  }

  /** Whoever paused it lets it go on after a while; a campaign that has paused by itself needs a hand, which is counted. */
  async #resumeIfPaused(): Promise<void> {
    const standing = this.#standing;
    if (standing.paused !== null && this.#clock.now() < standing.paused.resumeAt) return;
    const stored = await findCampaign(this.#place.stores[0].db, campaignId);
    if (stored?.state === 'paused') {
      const { person } = this.#crew;
      // A person decides about a pilot, and is to.
      const asksForPilot = stored.stateReason?.startsWith('The pilot is over') === true;
      if (standing.paused === null && !person.mayHavePaused && !asksForPilot) standing.presses.push(stored.stateReason ?? 'no reason');
      if (asksForPilot) standing.pilotDecided ??= this.#crew.log.effects.length;
      if (person.asked.length > 0) await this.#crew.resumeByConsole(this.#step);
      else await this.#resume();
      this.#planAt = Math.min(this.#planAt ?? Infinity, this.#clock.now());
    }
    this.#endPause();
  }

  /** As the workflow grants it. */
  async #resume(): Promise<void> {
    const worker = this.#crew.startUndisturbed();
    this.#standing.wishes += 1;
    const resume = { change: 'resume', number: this.#standing.wishes } as const;
    await worker.woven.run(this.#step, 'resume', () => wish(worker.activities, this.#standing, resume));
  }

  #endPause(): void {
    const { paused, pauses } = this.#standing;
    if (paused === null) return;
    pauses.push({ from: paused.from, to: this.#crew.log.effects.length - 1 });
    this.#standing.paused = null;
  }
}

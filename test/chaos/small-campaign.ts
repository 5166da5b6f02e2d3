import { ApplicationFailure } from '@temporalio/common';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { createActivities, type Activities } from '../../activities/index.ts';
import { createConvaiClient } from '../../src/convai/client.ts';
import { undecidedStates } from '../../src/domain/ledger.ts';
import { nextStep } from '../../src/domain/next-step.ts';
import type { Store } from '../../src/ledger/open-ledger.ts';
import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import type { VerdictInput } from '../../src/ledger/dial/posts.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import type { RunningSandbox } from '../../src/sandbox/start.ts';
import { ProcessDied } from '../activities/mixes/chaos.ts';
import type { WaitableClock } from '../activities/service-world.ts';
import { readLedger, type Ledger } from '../judge/ledger.ts';
import { asActivity } from '../support/activity-context.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { overtake } from './overtake.ts';
import { EffectLog, WovenProcess, type BeforeCommit, type Disturb, type Effect, type Strike } from './effects.ts';
import { actOf, type Act, type ActContext, type Standing } from './acts.ts';
import type { Place } from './places.ts';
import { rowOf, rulesOf, type Scenario } from './scenarios.ts';

export const campaignId = 'small';

/** What is done to a campaign at one effect of one of its operations. */
export interface Intervention {
  /** Which operation of the campaign, from 1. */
  step: number;
  /** Which effect of it, from 0. */
  nth: number;
  /** What befalls the process. */
  strike?: Strike;
  /** What a second process does first, from beginning to end. */
  beside?: {
    act: Act;
    /** For how long the first one has stood still by then. */
    lateMs?: number;
    /** It comes when the first one has all but committed, and holds its locks. */
    inside?: boolean;
    /** What befalls the second one, at which of its effects; somebody then begins again. */
    struck?: { nth: number; strike: Strike };
  };
}

/** Says what happens at an effect. */
export type Plan = (at: { step: number; operation: string; nth: number }) => Intervention | null;

export interface Ending {
  scenario: Scenario;
  sandbox: RunningSandbox;
  effects: readonly Effect[];
  ledger: Ledger;
  standing: Standing;
  /** What was done, in order. */
  done: readonly Intervention[];
  /** How many effects the process beside had, where one came. */
  besideEffects: number;
  /** What the campaign itself could not cope with. */
  faults: string[];
}

interface Worker {
  woven: WovenProcess;
  deps: ActivityDependencies;
  activities: Activities;
}

const mostSteps = 200;
/** Of whoever comes beside. */
const mostTries = 3;

/** One campaign of a few people, driven as its workflow does, by one worker after the other. */
export class SmallCampaign {
  readonly #place: Place;
  readonly #scenario: Scenario;
  readonly #plan: Plan;
  #sandbox!: RunningSandbox;
  #clock!: WaitableClock;
  #log!: EffectLog;
  #worker!: Worker;
  readonly #closing: (() => Promise<void>)[] = [];
  readonly #done: Intervention[] = [];
  readonly #faults: string[] = [];
  #standing!: Standing;
  #processes = 0;
  #step = 0;
  #besideEffects = 0;
  #phase: 'checking' | 'dialling' | 'closing' | 'ended' = 'checking';
  #submitAt: number | null = null;
  #unrecorded: VerdictInput | null = null;
  #planAt: number | null = 0;
  #collectAt: number | null = null;
  #tries = 0;

  constructor(place: Place, scenario: Scenario, plan: Plan = () => null) {
    this.#place = place;
    this.#scenario = scenario;
    this.#plan = plan;
  }

  async run(): Promise<Ending> {
    const { sandbox, clock } = await this.#place.begin(this.#scenario);
    [this.#sandbox, this.#clock] = [sandbox, clock];
    this.#log = new EffectLog(() => clock.now());
    const rows = this.#scenario.people.map((manner, index) => rowOf(index, manner));
    this.#standing = {
      campaignId, rows, round: 1, submitted: 0, submitting: null, stopped: new Map(), paused: null, pauses: [], redials: 0,
      presses: [],
    }; // prettier-ignore
    try {
      await this.#import(rows);
      this.#worker = this.#startWorker();
      while (this.#phase !== 'ended') {
        if (this.#step >= mostSteps) {
          this.#faults.push('it never ends');
          break;
        }
        await this.#resumeIfPaused();
        await this.#advance();
      }
      return {
        scenario: this.#scenario,
        sandbox,
        effects: this.#log.effects,
        ledger: await readLedger(this.#place.stores[0].db),
        standing: this.#standing,
        done: this.#done,
        besideEffects: this.#besideEffects,
        faults: this.#faults,
      };
    } finally {
      for (const close of this.#closing) await close();
    }
  }

  async #import(rows: ReturnType<typeof rowOf>[]): Promise<void> {
    const [store] = this.#place.stores;
    const campaign = {
      campaignId,
      name: null,
      fileHash: 'hash',
      rules: rulesOf(this.#scenario),
      accountId: this.#sandbox.url,
    };
    const chunks = (async function* () {
      yield rows;
    })();
    await importCampaign(store, campaign, { chunks, now: this.#clock.now() });
    await openRound(store, campaignId, this.#clock.now());
  }

  #startWorker(): Worker {
    const beforeCommit: BeforeCommit = async (at) => {
      const found = this.#plan(at);
      if (found?.beside?.inside !== true) return undefined;
      return overtake(this.#place.stores[1], () => this.#comeBeside(found));
    };
    return this.#start(this.#place.stores[0], (at) => this.#disturb(at), beforeCommit);
  }

  #start(store: Store, disturb: Disturb, beforeCommit?: BeforeCommit): Worker {
    this.#processes += 1;
    const who = `process ${this.#processes}`;
    const now = () => this.#clock.now();
    const woven = new WovenProcess(who, {
      log: this.#log,
      disturb,
      ...(beforeCommit === undefined ? {} : { beforeCommit }),
    });
    const client = createConvaiClient({
      baseUrl: this.#sandbox.url,
      apiKey: 'sk_sandbox_ok',
      timeouts: { connectMs: 20_000, headersMs: 20_000, bodyMs: 20_000 },
      readsPerSecond: 1_000_000,
      nowReal: now,
      monotonicMs: now,
    });
    this.#closing.push(() => client.close());
    const deps = buildDependencies({
      store: woven.store({ ...store, now: async () => now() }),
      client: woven.client(client),
      now,
      serviceClock: { dialect: this.#scenario.dialect },
      accountId: this.#sandbox.url,
      workerId: who,
      limits: { collectMaxMs: 0, heartbeatEveryMs: 600_000 },
    });
    return { woven, deps, activities: createActivities(deps) };
  }

  async #disturb(at: Parameters<Disturb>[0]): Promise<Strike | null> {
    const found = this.#plan(at);
    if (found === null) return null;
    this.#done.push(found);
    if (found.beside !== undefined && found.beside.inside !== true) await this.#comeBeside(found);
    return found.strike ?? null;
  }

  /** A second process does its work from beginning to end; where it is struck, somebody does it again. */
  async #comeBeside({ step, beside }: Intervention): Promise<void> {
    if (beside === undefined) return;
    if (beside.lateMs !== undefined) await this.#clock.pass(beside.lateMs);
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const { struck } = beside;
      const strikes: Disturb = async ({ nth }) => (tries === 1 && struck?.nth === nth ? struck.strike : null);
      const worker = this.#start(this.#place.stores[1], strikes);
      try {
        await worker.woven.run(step, `${beside.act} (beside)`, () => this.#act(worker, beside.act));
        this.#besideEffects = Math.max(this.#besideEffects, worker.woven.count);
        return;
      } catch (error) {
        this.#besideEffects = Math.max(this.#besideEffects, worker.woven.count);
        if (error instanceof ApplicationFailure && error.nonRetryable === true)
          this.#faults.push(`${beside.act} beside failed for good: ${error.type} ${error.message}`);
        // What was asked for a second time and cannot be done now, waits.
        if (error instanceof ApplicationFailure && struck === undefined) return;
        if (tries === mostTries) this.#faults.push(`${beside.act} beside: ${String(error)}`);
        await this.#clock.pass(1_000);
      }
    }
  }

  #act(worker: Worker, act: Act): Promise<unknown> {
    return actOf(act, this.#contextOf(worker));
  }

  #contextOf({ deps, activities }: Worker): ActContext {
    const { effects } = this.#log;
    return {
      deps,
      activities,
      sandbox: this.#sandbox,
      standing: this.#standing,
      scenario: this.#scenario,
      mark: () => effects.length,
    };
  }

  /** One operation as Temporal would run it: an answer, or the time of the next try. */
  async #operate<Result>(
    operation: string,
    work: (worker: Worker) => Promise<Result>,
  ): Promise<{ result: Result } | { retryAt: number }> {
    this.#step += 1;
    try {
      const result = await this.#worker.woven.run(this.#step, operation, () => work(this.#worker));
      this.#tries = 0;
      return { result };
    } catch (error) {
      this.#tries += 1;
      if (error instanceof ProcessDied) {
        this.#worker = this.#startWorker();
        await this.#clock.pass(2_000);
        return { retryAt: this.#clock.now() };
      }
      if (error instanceof ApplicationFailure && error.nonRetryable === true) {
        this.#faults.push(`${operation} failed for good: ${error.type} ${error.message}`);
        this.#phase = 'ended';
      }
      const delay = error instanceof ApplicationFailure ? error.nextRetryDelay : undefined;
      return { retryAt: this.#clock.now() + Number(delay ?? Math.min(1_000 * 2 ** this.#tries, 60_000)) };
    } finally {
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
    const next = Math.min(this.#submitAt ?? this.#planAt ?? Infinity, this.#collectAt ?? Infinity);
    if (next === Infinity) {
      this.#faults.push('nothing wakes it any more');
      this.#phase = 'ended';
      return;
    }
    await this.#clock.pass(Math.max(1, Math.round(next - now)));
  }

  async #check(): Promise<void> {
    const answer = await this.#operate('check callers', ({ activities }) => activities.checkCallers({ campaignId }));
    if ('retryAt' in answer) this.#planAt = answer.retryAt;
    else if (answer.result.ok) this.#phase = 'dialling';
    else this.#planAt = this.#clock.now() + 60_000;
  }

  async #planNext(): Promise<void> {
    const answer = await this.#operate('plan', (worker) => this.#act(worker, 'plan') as ReturnType<Activities['plan']>);
    if ('retryAt' in answer) {
      this.#planAt = answer.retryAt;
      return;
    }
    const next = nextStep(answer.result);
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
    const answer = await this.#operate(
      'submit',
      (worker) => this.#act(worker, 'submit') as ReturnType<Activities['submit']>,
    );
    if ('retryAt' in answer) this.#submitAt = answer.retryAt;
    else if (answer.result.kind === 'unrecorded') this.#unrecorded = answer.result.verdict;
    else this.#submitted();
  }

  async #record(verdict: VerdictInput): Promise<void> {
    const answer = await this.#operate('record verdict', ({ activities }) => activities.recordPostVerdict(verdict));
    if ('retryAt' in answer) {
      await this.#clock.pass(Math.max(1, answer.retryAt - this.#clock.now()));
      return;
    }
    this.#unrecorded = null;
    if (undecidedStates.includes(answer.result.state)) this.#submitAt = this.#clock.now();
    else this.#submitted();
  }

  #submitted(): void {
    this.#standing.submitting = null;
    this.#standing.submitted += 1;
    this.#submitAt = null;
    this.#planAt = this.#clock.now();
    this.#collectAt ??= this.#clock.now() + 15_000;
  }

  async #collect(): Promise<void> {
    const answer = await this.#operate('collect', ({ activities }) =>
      asActivity(() => activities.collect({ campaignId })),
    );
    if ('retryAt' in answer) {
      this.#collectAt = answer.retryAt;
      return;
    }
    const { outstanding, reason } = answer.result;
    // While only deadlines are waited for nobody needs to look often; further apart, time would not count as watched.
    const running = this.#sandbox.calls().some((call) => call.endedAt === null);
    this.#collectAt = outstanding ? this.#clock.now() + (running ? 41_000 : 119_000) : null;
    if (reason !== 'time') this.#planAt = Math.min(this.#planAt ?? Infinity, this.#clock.now());
    else this.#planAt ??= outstanding ? null : this.#clock.now();
  }

  async #close(): Promise<void> {
    const answer = await this.#operate(
      'close round',
      (worker) => this.#act(worker, 'close round') as ReturnType<Activities['closeRound']>,
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
    if (answer.result.progress.unresolved === 0) {
      this.#phase = 'ended';
      return;
    }
    for (;;) {
      const said = await this.#operate('resolve', async (worker) => {
        await this.#act(worker, 'resolve');
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

  /** Whoever paused it lets it go on; a campaign that has paused by itself needs a hand, which is counted. */
  async #resumeIfPaused(): Promise<void> {
    const stored = await findCampaign(this.#place.stores[0].db, campaignId);
    if (stored?.state !== 'paused') return;
    const standing = this.#standing;
    if (standing.paused === null) standing.presses.push(stored.stateReason ?? 'no reason');
    const worker = this.#start(this.#place.stores[1], async () => null);
    await worker.woven.run(this.#step, 'resume', () => worker.activities.changeState({ campaignId, change: 'resume' }));
    if (standing.paused !== null) standing.pauses.push({ from: standing.paused, to: this.#log.effects.length - 1 });
    standing.paused = null;
    this.#planAt = Math.min(this.#planAt ?? Infinity, this.#clock.now());
  }
}

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { fetch } from 'undici';
import type { ActivityDependencies } from '../../../activities/dependencies.ts';
import { createActivities, type Activities } from '../../../activities/index.ts';
import type { PlanActivityResult } from '../../../activities/plan.ts';
import { sweepAgent } from '../../../activities/sweep.ts';
import type { NotedPost, RequestNotes } from '../../../activities/request-notes.ts';
import { connectService } from '../../../src/service/registry.ts';
import type { CallService } from '../../../src/service/port/call-service.ts';
import { reportsRecipients, type ServiceApi } from '../../../src/rules/service-api.ts';
import { storeLookUpProof } from '../../../src/ledger/campaign/lookup-proof.ts';
import type { CampaignRules } from '../../../src/rules/campaign-rules.ts';
import { batchNumberOf } from '../../../src/rules/ids.ts';
import { undecidedStates } from '../../../src/rules/ledger.ts';
import { nextStep } from '../../../src/rules/pacing/next-step.ts';
import type { FaultRuleInput } from '../../../src/sandbox/faults/rule.ts';
import type { BatchPointInfo } from '../../../src/sandbox/core/gates.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import type { SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { startSandbox, type RunningSandbox } from '../../../src/sandbox/start.ts';
import { resumeCampaign, findCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { countOutstanding, isOutstanding } from '../../../src/ledger/limits/counters.ts';
import { importCampaign } from '../../../src/ledger/campaign/import-campaign.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { isPlanReady } from '../../../src/ledger/plan/planning.ts';
import { addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { RecipientEditor, type EditResult } from '../../../src/ledger/people/edit-recipients.ts';
import type { EditRow } from '../../../src/ledger/people/edit-verdict.ts';
import { RedialRefusedError, resolveUnresolved } from '../../../src/ledger/people/resolve.ts';
import { openRound } from '../../../src/ledger/campaign/rounds.ts';
import type { LogViolation } from '../../../src/verify/log-rules.ts';
import { verifyLog } from '../../../src/verify/log.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { isTakenBack } from '../../judge/judge-calls.ts';
import { readLedger } from '../../judge/ledger.ts';
import { judge, type Trial, type Violation } from '../../judge/judge.ts';
import { Chaos, createMortality, mortalService, ProcessDied, shakyStore, type ChaosPoint, type ChaosStrike } from './chaos.ts';
import { goOnFromPilot } from '../../../src/ledger/limits/pilot.ts';
import { createWaitableClock, letRun, type WaitableClock } from '../service-world.ts';
import { buildDependencies } from '../../support/activity-dependencies.ts';
import { notePlayed } from '../../support/played.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import type { ImportRow } from '../../../src/ledger/campaign/import-row.ts';

/** Memory where the machine has such a folder: what these runs lose is a process, never the power. */
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A batch request that the service keeps waiting past the client's patience. */
export interface Hang {
  /** Which batch request, from 1. */
  nth: number;
  /** Whether the calls are queued before the wait or after it. */
  work: 'first' | 'last';
  /** Service milliseconds until the service goes on. */
  forMs: number;
}

export interface CampaignPlan {
  campaignId: string;
  rules: CampaignRules;
  rows: ImportRow[];
}

export interface Mix {
  seed: number | string;
  /** By which API the service is asked; the contract's when left out. */
  api?: ServiceApi;
  /** How long the service's list lags, as somebody has proven of its look-up; left out: nobody has. */
  provenLagMs?: number;
  /** What stands between the campaign and the service, and may not tell the truth. */
  wrapService?: (service: CallService) => CallService;
  sandbox: SandboxOptions;
  campaigns: CampaignPlan[];
  /** Added when the run begins. */
  faults: FaultRuleInput[];
  hangs: Hang[];
  strikes: ChaosStrike[];
  /** Batch requests, by nth, during whose work a sweep runs. */
  sweepDuring: number[];
  /** Every read fails from that many service milliseconds after the beginning, for so long. */
  readOutage: { afterMs: number; forMs: number } | null;
  /** Somebody calls in, after that many ticks of the driver. */
  inbound: { tick: number; from: string }[];
  /** A person's wishes, after that many ticks. */
  wishes: { tick: number; campaign: number; change: 'pause' | 'cancel' }[];
  /** Recipients left to a person are dialled again once. */
  redial: boolean;
  wrapStore?: (store: Store) => Store;
  /** A PostgreSQL database in place of a SQLite file. */
  databaseUrl?: string;
  /** One per worker on the database: how far its wall clock is off after so many service milliseconds. One right clock when left out. */
  workers?: readonly ((passedMs: number) => number)[];
  /** How long the operator leaves a campaign paused, in service time; a few turns of the driver when left out. */
  resumeAfterMs?: number;
  /** What happens around the service, and when. */
  events?: readonly WorldEvent[];
  /** Nobody resumes a paused campaign but by an event. */
  leavesPaused?: boolean;
  /** So many turns of the driver at most. */
  mostTicks?: number;
  /** Called when all is over, while the service still answers. */
  atEnd?: (sandbox: RunningSandbox) => Promise<void>;
}

export interface WorldEvent {
  /** Service milliseconds after the beginning. */
  afterMs: number;
  happen: (sandbox: RunningSandbox, hands: Hands) => Promise<unknown>;
}

/** What a person can do to the campaigns. */
export interface Hands {
  change: (campaign: number, change: Deed['change']) => Promise<void>;
  /** Has another sample called before anybody else. */
  callSample: (campaign: number) => Promise<void>;
  /** `scope`: default the whole account. */
  suppress: (e164: string, scope?: string) => Promise<void>;
  /** Adds rows by request, as a web form does; whoever takes them has the right clock. */
  add: (campaign: number, rows: readonly EditRow[]) => Promise<EditResult[]>;
}

/** What a person did: to a campaign, or for a number (`suppress`). */
export interface Deed {
  at: number;
  of: string;
  change: 'pause' | 'resume' | 'cancel' | 'drain' | 'suppress';
}

export interface Outcome {
  violations: Violation[];
  /** What the log of the run itself proves to be broken. */
  proven: LogViolation[];
  /** What the driver itself could not make sense of: it never ended, an activity failed for good. */
  faults: string[];
  trial: Trial;
  /** Where the run's processes died or lost their word. */
  struck: ChaosPoint[];
  /** For how many more batches submits went on, and where they were taken up. */
  submits: string[];
  ticks: number;
  deeds: Deed[];
  /** How often the operator resumed a campaign that had paused by itself. */
  resumes: number;
  serviceMs: number;
  log: string[];
}

interface Process {
  skewMs: (passedMs: number) => number;
  store: Store;
  deps: ActivityDependencies;
  activities: Activities;
  died: Promise<never>;
  service: CallService;
}

/** A submit under way, as the workflow and Temporal know it. */
interface Submitting {
  batchId: string;
  /** The last POST that was noted with Temporal, in any of its tries. */
  noted: NotedPost | null;
  at: number;
  tries: number;
}

interface Running {
  plan: CampaignPlan;
  round: number;
  submitted: number;
  verified: boolean;
  ended: boolean;
  submitting: Submitting | null;
  /** The planner is asked again at this instant, or (null) when something has changed. */
  planAt: number | null;
  collecting: boolean;
  collectFrom: number;
  /** The service asked to be left alone until then. */
  sweepAt: number;
  stateSeen: string | null;
  dialled: boolean;
  redialled: boolean;
  resumes: number;
}

const mostTicks = 2500;
const collectMaxMs = 5 * minuteMs;

type Beside = NonNullable<NonNullable<Parameters<typeof resumeCampaign>[2]>['beside']>;

export class Drive {
  readonly clock: WaitableClock = createWaitableClock();
  readonly #mix: Mix;
  readonly #random: Random;
  /** How far each try of a submit goes on. */
  readonly #chains: Random;
  readonly #chaos: Chaos;
  readonly #folder = mkdtempSync(join(scratch, 'carillon-mix-'));
  readonly #lostReplies = new Set<string>();
  readonly #closing: Promise<unknown>[] = [];
  readonly #hung = new Map<string, () => void>();
  readonly log: string[] = [];
  readonly faults: string[] = [];
  #sandbox!: RunningSandbox;
  readonly #workers: Process[] = [];
  /** Which worker has the turn. */
  #turn = 0;
  #processes = 0;
  /** Counts the tries of activities: Temporal hears of the last one alone. */
  #tries = 0;
  #submitting: Submitting | null = null;
  readonly #submits: string[] = [];
  #begunAt = 0;
  #events: WorldEvent[] = [];
  readonly #deeds: Deed[] = [];
  #campaigns: Running[] = [];
  #ticks = 0;

  constructor(mix: Mix) {
    this.#mix = mix;
    this.#random = new Random('drive', mix.seed);
    this.#chains = new Random('chains', mix.seed);
    this.#chaos = new Chaos(mix.strikes);
  }

  get #process(): Process {
    const process = this.#workers[this.#turn];
    if (process === undefined) throw new Error('No worker runs.');
    return process;
  }

  get #api(): ServiceApi {
    return this.#mix.api ?? 'contract';
  }

  get #passedMs(): number {
    return this.clock.now() - this.#begunAt;
  }

  #note(text: string): void {
    this.log.push(`${((this.clock.now() - this.clock.anchorServiceMs) / 1000).toFixed(0)}s ${text}`);
  }

  async run(): Promise<Outcome> {
    try {
      this.#begunAt = this.clock.now();
      await this.#start();
      let outage: 'to come' | 'on' | 'over' = this.#mix.readOutage === null ? 'over' : 'to come';
      while (this.#campaigns.some((campaign) => !campaign.ended)) {
        this.#ticks += 1;
        if (this.#ticks > (this.#mix.mostTicks ?? mostTicks)) {
          this.faults.push('it never ends');
          break;
        }
        const passedMs = this.#passedMs;
        const { afterMs = Infinity, forMs = 0 } = this.#mix.readOutage ?? {};
        if (outage === 'to come' && passedMs >= afterMs) outage = await this.#setOutage(true);
        if (outage === 'on' && passedMs >= afterMs + forMs) outage = await this.#setOutage(false);
        await this.#happen();
        await this.#actOfPersons();
        for (const campaign of this.#campaigns) await this.#advance(campaign);
        await this.#passTime(outage === 'on');
      }
      await this.#mix.atEnd?.(this.#sandbox);
      notePlayed({ campaigns: this.#campaigns.length, calls: this.#sandbox.calls().length });
      return await this.#judge();
    } finally {
      await this.#sandbox?.close();
      for (const { service, store } of this.#workers) {
        await service.close();
        await store.close();
      }
      await Promise.all(this.#closing);
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  async #start(): Promise<void> {
    const { sandbox, faults, campaigns } = this.#mix;
    this.#sandbox = await startSandbox({
      seed: this.#mix.seed,
      ...sandbox,
      clock: this.clock,
      hooks: {
        onBatchReceived: (info) => this.#hangOn(info, 'last'),
        onBatchWorkDone: async (info) => {
          if (this.#mix.sweepDuring.includes(info.nth)) await this.#sweepMeanwhile();
          await this.#hangOn(info, 'first');
        },
      },
    });
    if (faults.length > 0) this.#sandbox.addFaults(faults);
    this.#events = [...(this.#mix.events ?? [])].sort((a, b) => a.afterMs - b.afterMs);
    for (const skewMs of this.#mix.workers ?? [() => 0]) this.#workers.push(await this.#startProcess(skewMs));
    if (this.#mix.provenLagMs !== undefined) await this.#proveLookUp(this.#mix.provenLagMs);
    for (const plan of campaigns) await this.#startCampaign(plan);
  }

  async #proveLookUp(lagMs: number): Promise<void> {
    const seen = this.#api === 'campaigns' ? { order: null, keyBehaviour: 'first_answer' as const } : { order: null, keyBehaviour: null };
    const proof = { api: this.#api, provenAt: this.clock.now(), listLagMs: lagMs, ...seen };
    await storeLookUpProof(this.#process.store, this.#sandbox.url, proof);
  }

  async #hangOn(info: BatchPointInfo, work: Hang['work']): Promise<void> {
    const hang = this.#mix.hangs.find((entry) => entry.nth === info.nth && entry.work === work);
    if (hang === undefined) return;
    // A look-up is never given up: it dials nobody.
    const giveUp = this.#hung.get(info.requestId ?? '');
    if (giveUp === undefined) return;
    this.#note(`batch request ${info.requestId} hangs, work ${work}`);
    giveUp();
    await this.clock.until(this.clock.now() + hang.forMs);
  }

  async #sweepMeanwhile(): Promise<void> {
    const { deps, died } = this.#process;
    const agentId = this.#mix.campaigns[0]?.rules.agentId ?? '';
    const { timing } = this.#mix.campaigns[0]?.rules ?? {};
    if (timing === undefined) return;
    const sweep = sweepAgent(deps, await deps.serviceClock(), { agentId, timing, onProgress: () => {} });
    await Promise.race([sweep, died]).catch(() => {});
  }

  async #startProcess(skewMs: Process['skewMs']): Promise<Process> {
    const { databaseUrl } = this.#mix;
    const sqlitePath = join(this.#folder, 'carillon.db');
    const opened = await openStore(databaseUrl === undefined ? { sqlitePath } : { databaseUrl, sqlitePath });
    const wallClock = () => this.clock.now() + skewMs(this.#passedMs);
    const mortality = createMortality();
    const service = connectService({
      api: this.#api,
      baseUrl: this.#sandbox.url,
      apiKey: 'sk_sandbox_ok',
      timeouts: { connectMs: 20_000, headersMs: 20_000, bodyMs: 20_000 },
      readsPerSecond: 1_000_000,
      retriesAfter429: { reads: 0 },
      nowReal: wallClock,
      monotonicMs: () => this.clock.now(),
    });
    const timed = { ...opened, now: async () => this.clock.now() };
    const store = shakyStore(this.#mix.wrapStore?.(timed) ?? timed, this.#chaos);
    this.#processes += 1;
    const deps = buildDependencies({
      store,
      api: this.#api,
      service: mortalService(
        this.#mix.wrapService?.(service) ?? service,
        this.#chaos,
        mortality,
        this.#lostReplies,
        (requestId) => new Promise((resolve) => this.#hung.set(requestId, resolve)),
      ),
      now: wallClock,
      serviceClock: { dialect: this.#mix.sandbox.dialect ?? 'extended' },
      monotonicMs: () => this.clock.now(),
      accountId: this.#sandbox.url,
      workerId: `process-${this.#processes}`,
      openRequestNotes: () => this.#openRequestNotes(),
      limits: { collectMaxMs },
    });
    return { skewMs, store: opened, deps, activities: createActivities(deps), died: mortality.died, service };
  }

  /**
   * What Temporal keeps of the submit under way, from one of its tries to the next. A try that is over is told that it is no task any
   * more.
   */
  #openRequestNotes(): RequestNotes {
    const [submitting, entry] = [this.#submitting, this.#tries];
    if (submitting === null) throw new Error('No submit is under way.');
    let last = submitting.noted;
    if (last !== null && last.batchId !== submitting.batchId) this.#submits.push('taken up at a later batch');
    let more = Math.floor(this.#chains.between(0, 5));
    return {
      get last() {
        return last;
      },
      get mayGoOn() {
        return more >= 0;
      },
      note: async (post) => {
        last = post;
        if (entry !== this.#tries) throw new Error('no such task');
        submitting.noted = post;
      },
      answered: () => {
        more -= 1;
      },
      beat: () => {},
      close: () => {},
    };
  }

  async #restart(): Promise<void> {
    this.#note('the process died');
    const { service, store, skewMs } = this.#process;
    this.#closing.push(service.close());
    await letRun();
    await store.close();
    this.#workers[this.#turn] = await this.#startProcess(skewMs);
    // The lease of the dead process runs out first.
    await this.clock.pass(Math.round(this.#random.between(1_000, 90_000)));
  }

  async #startCampaign(plan: CampaignPlan): Promise<void> {
    const { store } = this.#process;
    const { campaignId, rules } = plan;
    await importCampaign(
      store,
      { campaignId, name: null, fileHash: campaignId, rules, accountId: this.#sandbox.url, api: this.#api },
      {
        chunks: (async function* () {
          yield plan.rows;
        })(),
        now: this.clock.now(),
      },
    );
    const round = await openRound(store, campaignId, this.clock.now());
    this.#campaigns.push({
      plan,
      round: round?.round ?? 0,
      submitted: 0,
      verified: false,
      ended: false,
      submitting: null,
      planAt: this.clock.now(),
      collecting: false,
      collectFrom: 0,
      sweepAt: 0,
      stateSeen: null,
      dialled: false,
      redialled: false,
      resumes: 0,
    });
  }

  /** Runs an activity as Temporal would see it: an answer, a failure with the time of the next try, or the death of its process. */
  async #attempt<Result>(work: (process: Process) => Promise<Result>, tries: number): Promise<{ result: Result } | { retryAt: number }> {
    if (this.#workers.length > 1) this.#turn = Math.floor(this.#random.between(0, this.#workers.length));
    this.#tries += 1;
    try {
      return { result: await Promise.race([work(this.#process), this.#process.died]) };
    } catch (error) {
      this.#tries += 1;
      if (error instanceof ProcessDied) {
        await this.#restart();
        return { retryAt: this.clock.now() };
      }
      if (error instanceof ApplicationFailure && error.nonRetryable === true)
        this.faults.push(`an activity failed for good: ${error.type} ${error.message}`);
      if (!(error instanceof ApplicationFailure)) this.faults.push(`an activity threw ${String(error)}`);
      const failure = error as ApplicationFailure;
      this.#note(`failure ${failure.type}: ${failure.message}`);
      const backoffMs = Math.min(1_000 * 2 ** Math.min(tries, 10), minuteMs);
      return { retryAt: this.clock.now() + Number(failure.nextRetryDelay ?? backoffMs) };
    }
  }

  async #advance(campaign: Running): Promise<void> {
    if (campaign.ended) return;
    const { campaignId } = campaign.plan;
    if (!campaign.verified) {
      const answer = await this.#attempt(({ activities }) => activities.checkCallers({ campaignId }), 0);
      campaign.verified = 'result' in answer && answer.result.ok;
      return;
    }
    await this.#dial(campaign);
    await this.#collect(campaign);
    if (campaign.dialled && !campaign.collecting) await this.#closeRound(campaign);
  }

  async #dial(campaign: Running): Promise<void> {
    const { campaignId } = campaign.plan;
    if (campaign.submitting !== null) return this.#submit(campaign, campaign.submitting);
    if (campaign.dialled || campaign.planAt === null || campaign.planAt > this.clock.now()) return;
    const input = { campaignId, round: campaign.round, batchNumber: campaign.submitted + 1 };
    // What changes from here on may not have been seen by the planner.
    campaign.planAt = null;
    const answer = await this.#attempt(async ({ activities }) => {
      const planned = await activities.plan(input);
      if (planned.kind !== 'batch' || !this.#chaos.strikes('plan_result_lost')) return planned;
      return activities.plan(input);
    }, 0);
    if ('retryAt' in answer) {
      campaign.planAt = answer.retryAt;
      return;
    }
    this.#follow(campaign, answer.result);
    if (campaign.submitting !== null) return this.#submit(campaign, campaign.submitting);
  }

  /** What the dial loop of the workflow makes of the planner's word, whoever brings it. */
  #follow(campaign: Running, planned: PlanActivityResult): void {
    const next = nextStep(planned);
    if (next.kind === 'dial') {
      this.#note(`planned ${next.batchId} (${next.size})`);
      campaign.planAt = null;
      // Whoever sends goes on sending, and what has been sent is not to wait for its end.
      campaign.collecting = true;
      this.#beginSubmit(campaign, next.batchId);
    } else if (next.kind === 'done') {
      campaign.dialled = true;
    } else {
      campaign.collecting ||= next.outstanding;
      if (next.forMs !== null) this.#planBy(campaign, this.clock.now() + next.forMs);
    }
  }

  #beginSubmit(campaign: Running, batchId: string): void {
    campaign.submitting = { batchId, noted: null, at: this.clock.now(), tries: 0 };
  }

  /** The planner is asked again at this instant at the latest. */
  #planBy(campaign: Running, instant: number): void {
    campaign.planAt = Math.min(campaign.planAt ?? Infinity, instant);
  }

  async #submit(campaign: Running, submitting: Submitting): Promise<void> {
    if (submitting.at > this.clock.now()) return;
    const { batchId } = submitting;
    const { campaignId } = campaign.plan;
    const thenPlan = { campaignId, round: campaign.round, batchNumber: batchNumberOf(batchId) + 1 };
    this.#submitting = submitting;
    const answer = await this.#attempt(async ({ activities }) => {
      const result = await activities.submit({ batchId, thenPlan });
      if (!this.#chaos.strikes('submit_result_lost')) return result;
      this.#tries += 1;
      return activities.submit({ batchId, thenPlan });
    }, submitting.tries);
    if ('retryAt' in answer) {
      submitting.at = answer.retryAt;
      submitting.tries += 1;
      return;
    }
    const { result } = answer;
    if (result.kind === 'unrecorded') return this.#recordVerdict(campaign, result.verdict);
    this.#note(`submitted ${batchId}, up to ${result.batchId}: ${result.state}`);
    this.#submits.push(`went on for ${batchNumberOf(result.batchId) - batchNumberOf(batchId)}`);
    this.#endSubmit(campaign, result.batchId);
    if (result.planned === undefined) campaign.planAt = this.clock.now();
    else this.#follow(campaign, result.planned);
  }

  async #recordVerdict(campaign: Running, verdict: Parameters<Activities['recordPostVerdict']>[0]): Promise<void> {
    const { batchId } = verdict;
    for (let tries = 0; ; tries += 1) {
      const recorded = await this.#attempt(({ activities }) => activities.recordPostVerdict(verdict), tries);
      if ('result' in recorded) {
        this.#note(`recorded ${batchId}: ${recorded.result.state}`);
        // The batch is still to be submitted.
        if (undecidedStates.includes(recorded.result.state)) return this.#beginSubmit(campaign, batchId);
        break;
      }
      await this.clock.pass(Math.max(1, recorded.retryAt - this.clock.now()));
    }
    this.#endSubmit(campaign, batchId);
    campaign.planAt = this.clock.now();
  }

  #endSubmit(campaign: Running, lastBatchId: string): void {
    campaign.submitting = null;
    campaign.submitted = batchNumberOf(lastBatchId);
    campaign.collecting = true;
  }

  /** One turn of the loop that the collect activity runs, and what its end means for the dial loop. */
  async #collect(campaign: Running): Promise<void> {
    if (!campaign.collecting || campaign.sweepAt > this.clock.now()) return;
    const { campaignId, rules } = campaign.plan;
    if (campaign.collectFrom === 0) campaign.collectFrom = this.clock.now();
    const answer = await this.#attempt(async ({ deps }) => {
      const state = (await findCampaign(deps.store.db, campaignId))?.state ?? 'gone';
      const clock = await deps.serviceClock();
      const sweep = await sweepAgent(deps, clock, {
        agentId: rules.agentId,
        timing: rules.timing,
        onProgress: () => {},
      }).catch((error: unknown) => {
        this.#note(`sweep failed: ${String(error)}`);
        return { kind: 'failed' as const, waitMs: 0 };
      });
      const outstanding = isOutstanding(await countOutstanding(deps.store.db, campaignId));
      const ready = await isPlanReady(deps.store, campaignId, Math.round(clock.now()));
      return { state, sweep, outstanding, ready };
    }, 0);
    if ('retryAt' in answer) return;
    const { state, sweep, outstanding, ready } = answer.result;
    campaign.sweepAt = this.clock.now() + sweep.waitMs;
    const over = this.clock.now() - campaign.collectFrom >= collectMaxMs;
    const changed = campaign.stateSeen !== null && campaign.stateSeen !== state;
    campaign.stateSeen = state;
    if (!outstanding) campaign.collecting = false;
    if (outstanding && !ready && !over && !changed) return;
    campaign.collectFrom = 0;
    campaign.sweepAt = 0;
    campaign.stateSeen = null;
    this.#planBy(campaign, this.clock.now());
  }

  async #closeRound(campaign: Running): Promise<void> {
    const { campaignId } = campaign.plan;
    const answer = await this.#attempt(({ activities }) => activities.closeRound({ campaignId, round: campaign.round }), 0);
    if ('retryAt' in answer) return;
    if (!answer.result.closed) {
      campaign.dialled = false;
      campaign.planAt = this.clock.now();
      return;
    }
    this.#note(`${campaignId} closed its round ${campaign.round}`);
    const { store } = this.#process;
    if (this.#mix.redial && !campaign.redialled) {
      campaign.redialled = true;
      await this.clock.pass(Math.round(this.#random.between(0, hourMs)));
      // After the campaign's end nobody is called again, and the rows stay as they are.
      await resolveUnresolved(store, { campaignId, now: this.clock.now() }, 'redial').catch((error: unknown) => {
        if (!(error instanceof RedialRefusedError)) throw error;
      });
      const round = await openRound(store, campaignId, this.clock.now());
      if (round !== undefined) {
        Object.assign(campaign, { round: round.round, submitted: 0, dialled: false, planAt: this.clock.now() });
        return;
      }
    }
    campaign.ended = true;
  }

  async #happen(): Promise<void> {
    for (let [next] = this.#events; next !== undefined && next.afterMs <= this.#passedMs; [next] = this.#events) {
      this.#events.shift();
      await next.happen(this.#sandbox, this.#hands);
    }
  }

  readonly #hands: Hands = {
    change: async (index, change) => {
      const campaign = this.#campaigns[index];
      if (campaign !== undefined && change !== 'suppress') await this.#change(campaign, change);
    },
    callSample: async (index) => {
      const campaign = this.#campaigns[index];
      if (campaign === undefined) return;
      const { campaignId } = campaign.plan;
      const now = this.clock.now();
      const beside: Beside = (tx, stored) => goOnFromPilot(tx, stored, { now, again: true });
      await resumeCampaign(this.#process.store, { campaignId, now }, { beside });
      this.#planBy(campaign, this.clock.now());
    },
    add: async (index, rows) => {
      const campaign = this.#campaigns[index];
      if (campaign === undefined) throw new Error(`no campaign ${index}`);
      const { campaignId } = campaign.plan;
      const editor = new RecipientEditor(this.#process.store, { campaignId, restore: false, dryRun: false, adds: true });
      const now = this.clock.now();
      const answers = [...(await editor.apply(rows, now)), ...(await editor.finish(now))];
      this.#planBy(campaign, now);
      return answers;
    },
    suppress: async (e164, scope = 'account') => {
      const now = this.clock.now();
      if (scope === 'account') this.#deeds.push({ at: now, of: e164, change: 'suppress' });
      await addSuppressions(this.#process.store, [{ e164, scope, source: 'cli', reason: null, expiresAt: null }], now);
    },
  };

  async #actOfPersons(): Promise<void> {
    for (const { from } of this.#mix.inbound.filter(({ tick }) => tick === this.#ticks)) {
      const body = JSON.stringify({ phone_number_id: 'pn_main', from });
      await fetch(`${this.#sandbox.url}/_sandbox/inbound`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
    }
    for (const wish of this.#mix.wishes.filter(({ tick }) => tick === this.#ticks)) {
      const campaign = this.#campaigns[wish.campaign];
      if (campaign !== undefined) await this.#change(campaign, wish.change);
    }
    if (this.#mix.leavesPaused === true) return;
    for (const campaign of this.#campaigns) {
      const { campaignId } = campaign.plan;
      const stored = await findCampaign(this.#process.store.db, campaignId);
      if (stored?.state !== 'paused' || !this.#random.chance(0.3)) continue;
      const lastAt = this.#deeds.findLast(({ of, change }) => of === campaignId && change === 'pause')?.at ?? -Infinity;
      if (this.clock.now() < lastAt + (this.#mix.resumeAfterMs ?? 0)) continue;
      campaign.resumes += 1;
      this.#note(`${campaignId} is paused: ${stored.stateReason}`);
      await this.#change(campaign, campaign.resumes > 30 ? 'cancel' : 'resume');
    }
  }

  async #change(campaign: Running, change: Exclude<Deed['change'], 'suppress'>): Promise<void> {
    const { campaignId } = campaign.plan;
    const done = await this.#attempt(({ activities }) => activities.changeState({ campaignId, change }), 0);
    if ('result' in done) this.#deeds.push({ at: this.clock.now(), of: campaignId, change });
    this.#note(`${campaignId}: ${change}`);
    this.#planBy(campaign, this.clock.now());
  }

  async #setOutage(on: boolean): Promise<'on' | 'over'> {
    this.#note(on ? 'reads fail from here on' : 'reads work again');
    const rules = ['list_conversations', 'get_conversation'] as const;
    const effect = { type: 'error', status: 503, when: 'before' } as const;
    if (on) this.#sandbox.addFaults(rules.map((operation) => ({ id: `outage-${operation}`, operation, effect })));
    else for (const operation of rules) await fetch(`${this.#sandbox.url}/_sandbox/faults?id=outage-${operation}`, { method: 'DELETE' });
    return on ? 'on' : 'over';
  }

  /** While calls are open a sweep interval passes; otherwise the clock goes on to whatever comes next. */
  async #passTime(outage: boolean): Promise<void> {
    const untilEvent = Math.max(1, (this.#events[0]?.afterMs ?? Infinity) - this.#passedMs);
    const pass = (ms: number) => this.clock.pass(Math.round(Math.min(ms, untilEvent)));
    const now = this.clock.now();
    if (this.#campaigns.some((campaign) => campaign.collecting)) {
      const quiet = this.#sandbox.calls().every((call) => call.endedAt !== null);
      // While only deadlines are waited for, nobody needs to look often; further apart, time would not count as watched.
      const watched = Math.max(119_000, ...this.#campaigns.map(({ plan }) => 5 * plan.rules.timing.pollMs - 1_000));
      const [least, most] = outage ? [60_000, 300_000] : quiet ? [watched / 2, watched] : [5_000, 90_000];
      await pass(this.#random.between(least, most));
      return;
    }
    const next = Math.min(
      ...this.#campaigns.filter((campaign) => !campaign.ended).map((campaign) => campaign.submitting?.at ?? campaign.planAt ?? Infinity),
    );
    await pass(Math.max(1_000, Math.min(next - now, 6 * hourMs)));
  }

  #lost(): Set<string> {
    const lost = new Set(this.#lostReplies);
    const destroys = /^(truncate|html|reset|error)/;
    const entries = new Map(
      this.#sandbox
        .journal()
        .filter((entry) => entry.operation === 'batch_calls')
        .map((entry) => [entry.requestId, entry]),
    );
    for (const [requestId, entry] of entries) {
      if (requestId === null) continue;
      if (entry.ending !== 'sent' || entry.faults.some((id) => destroys.test(id))) lost.add(requestId);
    }
    return new Proxy(lost, {
      get: (target, key) => (key === 'has' ? (id: string) => target.has(id) || !entries.has(id) : (Reflect.get(target, key) as unknown)),
    });
  }

  /** The ledger as it stands, for whoever looks into a run that does not end. */
  get store(): Store {
    return this.#process.store;
  }

  get db() {
    return this.#process.store.db;
  }

  async #judge(): Promise<Outcome> {
    const journal = this.#sandbox.journal();
    const trial: Trial = {
      ledger: await readLedger(this.#process.store.db),
      calls: this.#sandbox.calls().filter((call) => !isTakenBack(call)),
      reports: reportsRecipients(this.#api),
      cancelHides: this.#api === 'batch-calling' && this.#mix.sandbox.batchCalling?.cancelMarks === 'all',
      dialect: this.#mix.sandbox.dialect === 'spec' ? 'spec' : 'extended',
      lists: this.#mix.campaigns.map(({ campaignId, rows }) => ({ campaignId, rows: rows.length })),
      lostReplies: this.#lost(),
      partialReplies: new Set(
        journal.flatMap((entry) =>
          entry.requestId !== null && entry.faults.some((id) => id.startsWith('partial')) ? [entry.requestId] : [],
        ),
      ),
      unreadable: new Set(
        journal.flatMap((entry) =>
          entry.operation === 'get_conversation' && entry.faults.some((id) => id.startsWith('missing'))
            ? [decodeURIComponent(entry.path.split('/').at(-1) ?? '')]
            : [],
        ),
      ),
    };
    const proof = await verifyLog(this.#process.store.db, null);
    const ledger = await this.#process.store.db.selectFrom('events').selectAll().orderBy('seq').execute();
    for (const event of ledger)
      this.log.push(
        `  ev ${(event.at - this.clock.anchorServiceMs) / 1000}s ${event.type} ${event.attempt_id ?? event.batch_id ?? event.recipient_id ?? ''} ${event.data ?? ''}`,
      );
    const kept = new Set(['double_dial', 'request_id_reuse', 'key_in_url', 'retry_after']);
    // Reads that were under way together with the one that was told to wait.
    const limitedAt = new Set(journal.filter((entry) => entry.status === 429).map((entry) => entry.at));
    // A wait that nobody lived to hear of. How long reads are to wait, only the process that was told knows.
    const unheard = journal.some((entry) => entry.status === 429 && this.#lostReplies.has(entry.requestId ?? ''));
    const isExcused = ({ at, what }: { at: number; what: string }) =>
      limitedAt.has(at) || (what.startsWith('batch_calls') ? unheard : this.#processes > 1);
    for (const { name, violations } of this.#sandbox.conduct().checks) {
      const [worst] = violations.filter((violation) => name !== 'retry_after' || !isExcused(violation));
      if (worst !== undefined && kept.has(name)) this.faults.push(`conduct ${name}: ${JSON.stringify(worst)}`);
    }
    return {
      violations: judge(trial),
      proven: proof.rules.flatMap(({ violations }) => violations),
      faults: this.faults,
      trial,
      struck: this.#chaos.struck,
      submits: this.#submits,
      deeds: this.#deeds,
      ticks: this.#ticks,
      resumes: this.#campaigns.reduce((sum, { resumes }) => sum + resumes, 0),
      serviceMs: this.#passedMs,
      log: this.log,
    };
  }
}

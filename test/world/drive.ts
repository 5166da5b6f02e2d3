import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { fetch } from 'undici';
import { sweepAgent } from '../../activities/sweep.ts';
import { storeLookUpProof } from '../../src/ledger/campaign/lookup-proof.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import { countOutstanding, isOutstanding } from '../../src/ledger/limits/counters.ts';
import { RedialRefusedError, resolveUnresolved } from '../../src/ledger/people/resolve.ts';
import { isPlanReady } from '../../src/ledger/plan/planning.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { startSandbox, type RunningSandbox } from '../../src/sandbox/start.ts';
import { writeTables } from '../ledger/clean-store.ts';
import { openCampaign } from '../ledger/scenario.ts';
import { hourMs } from '../support/campaign-rules.ts';
import { notePlayed } from '../support/played.ts';
import { CampaignLoop, retryOf, type Answer, type Collected, type Stage } from './campaign-loop.ts';
import { createWaitableClock, letRun, type WaitableClock } from './clock.ts';
import { Hangs } from './hangs.ts';
import type { CampaignPlan, Mix, WorldEvent } from './mix.ts';
import { closeBook, type Outcome } from './outcome.ts';
import { Persons } from './persons.ts';
import { collectMaxMs, startProcess, Witness, type Process } from './process.ts';
import { ProcessDied } from './faults.ts';
import { Strikes } from './strikes.ts';

/** In memory where possible: these runs lose a process, never the power. */
export const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const mostTicks = 2500;

/** Plays the campaigns of a mix on real activities, ledger, client and service, by its own clock. */
export class Drive implements Stage {
  readonly clock: WaitableClock = createWaitableClock();
  readonly collectAfterMs = 0;
  readonly #mix: Mix;
  readonly #random: Random;
  readonly #strikes: Strikes;
  readonly #witness: Witness;
  readonly #folder = mkdtempSync(join(scratch, 'carillon-mix-'));
  readonly #sqlitePath = join(this.#folder, 'carillon.db');
  readonly #closing: Promise<unknown>[] = [];
  readonly #hangs: Hangs;
  readonly #log: string[] = [];
  readonly #faults: string[] = [];
  #sandbox!: RunningSandbox;
  readonly #workers: Process[] = [];
  /** Which worker has the turn. */
  #turn = 0;
  #processes = 0;
  #begunAt = 0;
  /** Those that come by time, the next one first. */
  #events: WorldEvent[] = [];
  readonly #loops: CampaignLoop[] = [];
  readonly #redialled = new Set<CampaignLoop>();
  readonly #collects = new Map<CampaignLoop, { from: number; state: string | null }>();
  readonly #persons: Persons;
  #ticks = 0;

  constructor(mix: Mix) {
    this.#mix = mix;
    this.#random = new Random('drive', mix.seed);
    this.#strikes = new Strikes(mix.strikes ?? []);
    this.#witness = new Witness(mix.seed);
    this.#hangs = new Hangs({ mix, clock: this.clock, process: () => this.#process, note: (text) => this.note(text) });
    this.#persons = new Persons({ mix, stage: this, loops: this.#loops, random: this.#random, store: () => this.store });
  }

  get #process(): Process {
    const process = this.#workers[this.#turn];
    if (process === undefined) throw new Error('No worker runs.');
    return process;
  }

  get #passedMs(): number {
    return this.clock.now() - this.#begunAt;
  }

  /** The ledger as it stands. */
  get store(): Store {
    return this.#process.store;
  }

  note(text: string): void {
    this.#log.push(`${((this.clock.now() - this.clock.anchorServiceMs) / 1000).toFixed(0)}s ${text}`);
  }

  async run(): Promise<Outcome> {
    try {
      this.#begunAt = this.clock.now();
      await this.#start();
      let outage: 'to come' | 'on' | 'over' = 'to come';
      const { afterMs, forMs } = this.#mix.readOutage ?? { afterMs: Infinity, forMs: 0 };
      while (this.#loops.some((loop) => !loop.ended)) {
        this.#ticks += 1;
        if (this.#ticks > (this.#mix.mostTicks ?? mostTicks)) {
          this.#faults.push('it never ends');
          break;
        }
        const passedMs = this.#passedMs;
        if (outage === 'to come' && passedMs >= afterMs) outage = await this.#setOutage(true);
        if (outage === 'on' && passedMs >= afterMs + forMs) outage = await this.#setOutage(false);
        await this.#happen();
        await this.#persons.resumePaused();
        for (const loop of this.#loops) await this.#advance(loop);
        await this.#passTime(outage === 'on');
      }
      await this.#mix.atEnd?.(this.#sandbox);
      notePlayed({ campaigns: this.#loops.length, calls: this.#sandbox.calls().length });
      return await closeBook({
        mix: this.#mix,
        sandbox: this.#sandbox,
        db: this.store.db,
        lostReplies: this.#hangs.replies.lost,
        processes: this.#processes,
        faults: this.#faults,
        log: this.#log,
        struck: this.#strikes.struck,
        submits: this.#witness.submits,
        deeds: this.#persons.deeds,
        resumes: [...this.#persons.resumes.values()].reduce((sum, times) => sum + times, 0),
      });
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
    const { seed, sandbox, faults = [], events = [], campaigns, provenLagMs, api = 'contract' } = this.#mix;
    this.#sandbox = await startSandbox({ seed, ...sandbox, clock: this.clock, hooks: this.#hangs.hooks });
    if (faults.length > 0) this.#sandbox.addFaults(faults);
    this.#events = events.flatMap((event) => ('afterMs' in event ? [event] : [])).sort((a, b) => a.afterMs - b.afterMs);
    if (this.#mix.databaseUrl === undefined) await writeTables(this.#sqlitePath);
    for (const skewMs of this.#mix.workers ?? [() => 0]) this.#workers.push(await this.#startProcess(skewMs));
    if (provenLagMs !== undefined) {
      const keyBehaviour = api === 'campaigns' ? ('first_answer' as const) : null;
      const proof = { api, provenAt: this.clock.now(), listLagMs: provenLagMs, order: null, keyBehaviour };
      await storeLookUpProof(this.store, this.#sandbox.url, proof);
    }
    for (const plan of campaigns) await this.#startCampaign(plan);
  }

  async #startCampaign(plan: CampaignPlan): Promise<void> {
    const { api = 'contract' } = this.#mix;
    const round = await openCampaign(this.store, { ...plan, accountId: this.#sandbox.url, api, now: this.clock.now() });
    this.#loops.push(new CampaignLoop(plan.campaignId, round, this));
  }

  #startProcess(skewMs: Process['skewMs']): Promise<Process> {
    this.#processes += 1;
    const place = {
      mix: this.#mix,
      clock: this.clock,
      begunAt: this.#begunAt,
      serviceUrl: this.#sandbox.url,
      sqlitePath: this.#sqlitePath,
      strikes: this.#strikes,
      replies: this.#hangs.replies,
      openRequestNotes: () => this.#witness.open(),
    };
    return startProcess(place, `process-${this.#processes}`, skewMs);
  }

  async #restart(): Promise<void> {
    this.note('the process died');
    const { service, store, skewMs } = this.#process;
    this.#closing.push(service.close());
    await letRun();
    await store.close();
    this.#workers[this.#turn] = await this.#startProcess(skewMs);
    // The lease of the dead process runs out first.
    await this.clock.pass(Math.round(this.#random.between(1_000, 90_000)));
  }

  async attempt<Result>(_: string, work: (process: Process) => Promise<Result>, tries = 0): Promise<Answer<Result>> {
    if (this.#workers.length > 1) this.#turn = Math.floor(this.#random.between(0, this.#workers.length));
    this.#witness.tries += 1;
    try {
      return { result: await Promise.race([work(this.#process), this.#process.died]) };
    } catch (error) {
      this.#witness.tries += 1;
      if (error instanceof ProcessDied) {
        await this.#restart();
        return { retryAt: this.clock.now() };
      }
      const { afterMs, forGood } = retryOf(error, tries);
      if (forGood !== null) this.#faults.push(`an activity ${forGood}`);
      if (!(error instanceof ApplicationFailure)) this.#faults.push(`an activity threw ${String(error)}`);
      this.note(`failure ${(error as ApplicationFailure).type}: ${(error as Error).message}`);
      return { retryAt: this.clock.now() + afterMs };
    }
  }

  isLost(point: 'plan result: unheard' | 'submit result: unheard'): boolean {
    const isLost = this.#strikes.strike(point);
    if (isLost) this.#witness.tries += 1;
    return isLost;
  }

  submits(submitting: Witness['submitting']): void {
    this.#witness.submitting = submitting;
  }

  wentOn(batches: number): void {
    this.#witness.submits.push(`went on for ${batches}`);
  }

  async #advance(loop: CampaignLoop): Promise<void> {
    if (loop.ended) return;
    if (!loop.verified) return void (await loop.check());
    if (loop.submitting === null) await loop.plan();
    await loop.submit();
    await loop.collect();
    if (loop.dialled && !loop.collecting) await this.#close(loop);
  }

  /** One turn of the loop that the collect activity runs. */
  async collect(loop: CampaignLoop): Promise<Answer<Collected>> {
    const { campaignId } = loop;
    const collect = this.#collects.get(loop) ?? { from: this.clock.now(), state: null };
    this.#collects.set(loop, collect);
    const { agentId = '', timing } = this.#mix.campaigns.find((plan) => plan.campaignId === campaignId)?.rules ?? {};
    const answer = await this.attempt('collect', async ({ deps }) => {
      const state = (await findCampaign(deps.store.db, campaignId))?.state ?? 'gone';
      const clock = await deps.serviceClock();
      if (timing === undefined) throw new Error(`no campaign ${campaignId}`);
      const sweep = await sweepAgent(deps, clock, { agentId, timing, onProgress: () => {} }).catch((error: unknown) => {
        this.note(`sweep failed: ${String(error)}`);
        return { waitMs: 0 };
      });
      const outstanding = isOutstanding(await countOutstanding(deps.store.db, campaignId));
      const ready = await isPlanReady(deps.store, campaignId, Math.round(clock.now()));
      return { state, waitMs: sweep.waitMs, outstanding, ready };
    });
    if ('retryAt' in answer) return answer;
    const { state, waitMs, outstanding, ready } = answer.result;
    const isChanged = collect.state !== null && collect.state !== state;
    collect.state = state;
    const isOver = !outstanding || ready || isChanged || this.clock.now() - collect.from >= collectMaxMs;
    if (isOver) this.#collects.delete(loop);
    return { result: { outstanding, isOver, nextAt: isOver ? 0 : this.clock.now() + waitMs } };
  }

  async #close(loop: CampaignLoop): Promise<void> {
    const answer = await loop.close();
    if ('retryAt' in answer) return;
    const { campaignId } = loop;
    this.note(`${campaignId} closed its round ${loop.round}`);
    if (this.#mix.redial === true && !this.#redialled.has(loop)) {
      this.#redialled.add(loop);
      await this.clock.pass(Math.round(this.#random.between(0, hourMs)));
      // After the campaign's end nobody is called again, and the rows stay as they are.
      await resolveUnresolved(this.store, { campaignId, now: this.clock.now() }, 'redial').catch((error: unknown) => {
        if (!(error instanceof RedialRefusedError)) throw error;
      });
      const round = await openRound(this.store, campaignId, this.clock.now());
      if (round !== undefined) return loop.beginRound(round.round);
    }
    loop.ended = true;
  }

  async #happen(): Promise<void> {
    for (let [next] = this.#events; next !== undefined && next.afterMs <= this.#passedMs; [next] = this.#events) {
      this.#events.shift();
      await next.happen(this.#sandbox, this.#persons.hands);
    }
    for (const event of this.#mix.events ?? [])
      if ('tick' in event && event.tick === this.#ticks) await event.happen(this.#sandbox, this.#persons.hands);
  }

  async #setOutage(on: boolean): Promise<'on' | 'over'> {
    this.note(on ? 'reads fail from here on' : 'reads work again');
    const operations = ['list_conversations', 'get_conversation'] as const;
    const effect = { type: 'error', status: 503, when: 'before' } as const;
    if (on) this.#sandbox.addFaults(operations.map((operation) => ({ id: `outage-${operation}`, operation, effect })));
    else
      for (const operation of operations) await fetch(`${this.#sandbox.url}/_sandbox/faults?id=outage-${operation}`, { method: 'DELETE' });
    return on ? 'on' : 'over';
  }

  /** Passes a sweep interval while calls are open, else goes to the next event. */
  async #passTime(outage: boolean): Promise<void> {
    const untilEvent = Math.max(1, (this.#events[0]?.afterMs ?? Infinity) - this.#passedMs);
    const pass = (ms: number) => this.clock.pass(Math.round(Math.min(ms, untilEvent)));
    if (this.#loops.some((loop) => loop.collecting)) {
      const quiet = this.#sandbox.calls().every((call) => call.endedAt !== null);
      // While only deadlines are waited for, looks are seldom; further apart, time would not count as watched.
      const watched = Math.max(119_000, ...this.#mix.campaigns.map(({ rules }) => 5 * rules.timing.pollMs - 1_000));
      const [least, most] = outage ? [60_000, 300_000] : quiet ? [watched / 2, watched] : [5_000, 90_000];
      return pass(this.#random.between(least, most));
    }
    const open = this.#loops.filter((loop) => !loop.ended);
    const next = Math.min(...open.map((loop) => loop.submitting?.at ?? loop.planAt ?? Infinity));
    await pass(Math.max(1_000, Math.min(next - this.clock.now(), 6 * hourMs)));
  }
}

import type { ServiceApi } from '../../src/rules/service-api.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import type { RunningSandbox } from '../../src/sandbox/start.ts';
import type { WaitableClock } from '../world/clock.ts';
import { readLedger, type Ledger } from '../world/gather.ts';
import { asActivity } from '../support/activity-context.ts';
import { CampaignLoop, retryOf, type Answer, type Collected, type Stage } from '../world/campaign-loop.ts';
import { collectMaxMs } from '../world/process.ts';
import { openCampaign } from '../ledger/scenario.ts';
import { notePlayed } from '../support/played.ts';
import { wish, type Standing, type Intervention, type Plan } from './acts.ts';
import { Crew, type Worker as WovenWorker } from './crew.ts';
import type { Person } from './console/person.ts';
import { stands, type Effect } from './effect-log.ts';
import type { Place } from './places.ts';
import { campaignId, rowOf, rulesOf, type Order, type Scenario } from './scenarios.ts';
import { ProcessDied } from '../world/faults.ts';

export interface Ending {
  api: ServiceApi;
  scenario: Scenario;
  sandbox: RunningSandbox;
  effects: readonly Effect[];
  ledger: Ledger;
  standing: Standing;
  person: Person;
  done: readonly Intervention[];
  faults: string[];
}

const mostSteps = 200;

export class SmallCampaign implements Stage {
  readonly #place: Place;
  readonly #scenario: Scenario;
  readonly #plan: Plan;
  readonly collectAfterMs = 15_000;
  clock!: WaitableClock;
  #sandbox!: RunningSandbox;
  #crew!: Crew;
  #worker!: WovenWorker;
  #standing!: Standing;
  #loop!: CampaignLoop;
  #step = 0;
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
    [this.#sandbox, this.clock] = [sandbox, clock];
    const [scenario, [store]] = [this.#scenario, this.#place.stores];
    const rows = scenario.people.map((manner, index) => rowOf(index, manner));
    const loop = new CampaignLoop(campaignId, 1, this);
    this.#loop = loop;
    this.#standing = {
      loop, campaignId, rows, stopped: new Map(), withdrawn: new Set(), added: new Map(), houseSince: null, pilotDecided: null,
      tried: new Set(), wishes: 0, pausing: null, paused: null, pauses: [], wentOnAt: 0, ended: null, redials: 0, presses: [], doubted: new Set(),
    }; // prettier-ignore
    const campaign = { place: this.#place, scenario, plan: this.#plan, standing: this.#standing };
    const crew = new Crew(campaign, { sandbox, clock });
    this.#crew = crew;
    try {
      const now = clock.now();
      await openCampaign(store, { campaignId, rules: rulesOf(scenario, now), rows, accountId: sandbox.url, api: this.#place.api, now });
      await crew.beginLog(store);
      this.#worker = crew.startWorker();
      while (!loop.ended) {
        if (this.#step >= mostSteps) {
          crew.faults.push('it never ends');
          break;
        }
        await crew.sendAgain(this.#step);
        await this.#resumeIfPaused();
        await this.#carryOutOrders();
        await this.#advance();
      }
      await crew.endRequests(this.#step);
      notePlayed({ campaigns: 1, calls: sandbox.calls().length });
      const { person, done, faults, log } = crew;
      const ledger = await readLedger(store.db);
      return { api: this.#place.api, scenario, sandbox, effects: log.effects, ledger, standing: this.#standing, person, done, faults };
    } finally {
      await crew.close();
    }
  }

  /** As Temporal runs it: an answer, or the time of the next try. */
  async attempt<Result>(operation: string, work: (worker: WovenWorker) => Promise<Result>): Promise<Answer<Result>> {
    this.#step += 1;
    try {
      const result = await this.#worker.woven.run(this.#step, operation, () => work(this.#worker));
      this.#tries = 0;
      return { result };
    } catch (error) {
      this.#tries += 1;
      if (error instanceof ProcessDied) {
        this.#worker = this.#crew.startWorker();
        await this.clock.pass(2_000);
        return { retryAt: this.clock.now() };
      }
      const { afterMs, forGood } = retryOf(error, this.#tries);
      if (forGood !== null) this.#crew.faults.push(`${operation} ${forGood}`);
      this.#loop.ended ||= forGood !== null;
      return { retryAt: this.clock.now() + afterMs };
    } finally {
      await this.#crew.letGo();
      await this.clock.pass(500);
    }
  }

  note(): void {}

  isLost(): boolean {
    return false;
  }

  async #advance(): Promise<void> {
    const loop = this.#loop;
    if (loop.dialled) return this.#close();
    if (loop.isSubmitDue) return loop.submit();
    if (loop.isPlanDue) return loop.verified ? loop.plan() : this.#check();
    if (loop.isCollectDue) return loop.collect();
    const { resumeAt = Infinity } = this.#standing.paused ?? {};
    const next = Math.min(loop.submitting?.at ?? loop.planAt ?? Infinity, loop.collecting ? loop.collectAt : Infinity, resumeAt);
    if (next === Infinity) {
      this.#crew.faults.push('nothing wakes it any more');
      loop.ended = true;
      return;
    }
    await this.clock.pass(Math.max(1, Math.round(next - this.clock.now())));
  }

  /** Operators' acts after a state change; repeated until it comes about. */
  async #carryOutOrders(): Promise<void> {
    const { effects } = this.#crew.log;
    const isDue = ({ after }: Order) => effects.some((effect) => stands(effect) && effect.transitions.includes(after));
    for (const order of this.#orders.filter(isDue)) {
      const answer = await this.attempt(order.act, (worker) => this.#crew.act(worker, order.act));
      if (!('retryAt' in answer)) this.#orders.splice(this.#orders.indexOf(order), 1);
    }
  }

  async #check(): Promise<void> {
    const againAt = await this.#loop.check();
    if (!this.#loop.verified) this.#loop.planAt = againAt;
  }

  async collect(loop: CampaignLoop): Promise<Answer<Collected>> {
    const answer = await this.attempt('collect', ({ activities }) => asActivity(() => activities.collect({ campaignId })));
    if ('retryAt' in answer) {
      loop.collectAt = answer.retryAt;
      return answer;
    }
    const { outstanding, reason } = answer.result;
    // Checks are rare while only deadlines are pending; rarer ones would not count as watched time.
    const running = this.#sandbox.calls().some((call) => call.endedAt === null);
    const nextAt = this.clock.now() + (running ? 41_000 : 119_000);
    // A collect that nothing ends runs for five minutes, then the planner decides.
    return { result: { outstanding, isOver: reason !== 'time' || this.clock.now() >= loop.plannedAt + collectMaxMs, nextAt } };
  }

  async #close(): Promise<void> {
    const loop = this.#loop;
    const answer = await loop.close();
    if ('retryAt' in answer) {
      if (loop.dialled) await this.clock.pass(Math.max(1, answer.retryAt - this.clock.now()));
      return;
    }
    // A pause is over with its round.
    this.#endPause();
    loop.ended = answer.result.progress.unresolved === 0;
    while (!loop.ended) {
      const said = await this.attempt('resolve', async (worker) => {
        await this.#crew.act(worker, 'resolve');
        return openRound(worker.deps.store, campaignId, this.clock.now());
      });
      if ('retryAt' in said) continue;
      const round = said.result;
      if (round !== undefined && round.round !== loop.round) return loop.beginRound(round.round);
      loop.ended = true;
    }
  }

  /** The process that paused it resumes it; resuming a self-pause counts as an operator's act. */
  async #resumeIfPaused(): Promise<void> {
    const standing = this.#standing;
    if (standing.paused !== null && this.clock.now() < standing.paused.resumeAt) return;
    const stored = await findCampaign(this.#place.stores[0].db, campaignId);
    if (stored?.state === 'paused') {
      const { person } = this.#crew;
      const asksForPilot = stored.stateReason?.startsWith('The pilot is over') === true;
      if (standing.paused === null && !person.mayHavePaused && !asksForPilot) standing.presses.push(stored.stateReason ?? 'no reason');
      if (asksForPilot) standing.pilotDecided ??= this.#crew.log.effects.length;
      if (person.asked.length > 0) await this.#crew.resumeByConsole(this.#step);
      else await this.#resume();
      this.#loop.planBy(this.clock.now());
    }
    this.#endPause();
  }

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

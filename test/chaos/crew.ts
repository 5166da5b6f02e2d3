import { sql } from 'kysely';
import { until } from '../support/until.ts';
import { ApplicationFailure } from '@temporalio/common';
import { createActivities } from '../../activities/index.ts';
import type { NotedPost } from '../../activities/request-notes.ts';
import { keyHeaders } from '../../src/rules/service-api.ts';
import { openConnection } from '../../src/service/convai/connection.ts';
import { serviceOver } from '../../src/service/registry.ts';
import type { RunningSandbox } from '../../src/sandbox/start.ts';
import { retryOf, type Worker as DrivingWorker } from '../world/campaign-loop.ts';
import type { WaitableClock } from '../world/clock.ts';
import { buildDependencies, connectionTo } from '../support/activity-dependencies.ts';
import { actOf, batchOf, type Act, type ActContext, type Standing, type Intervention, type Plan } from './acts.ts';
import { Person, type Sending } from './console/person.ts';
import { EffectLog } from './effect-log.ts';
import { WovenProcess, type BeforeCommit, type Disturb } from './woven-process.ts';
import type { Place } from './places.ts';
import { dialectOf, type Scenario } from './scenarios.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { type Blow, ProcessDied, wrongForMs } from '../world/faults.ts';

export interface Worker extends DrivingWorker {
  woven: WovenProcess;
}

interface CampaignAsDriven {
  place: Place;
  scenario: Scenario;
  plan: Plan;
  standing: Standing;
}

/** Tries of a second process. */
const mostTries = 3;
/** A key is free ten minutes after its user died. */
const mostMinutes = 30;

/** The processes of one campaign: one drives it, others join as the plan says. */
export class Crew {
  readonly log: EffectLog;
  readonly person: Person;
  readonly done: Intervention[] = [];
  readonly faults: string[] = [];
  readonly #campaign: CampaignAsDriven;
  readonly #sandbox: RunningSandbox;
  readonly #clock: WaitableClock;
  readonly #closing: (() => Promise<void>)[] = [];
  readonly #noted = new Map<string, NotedPost>();
  /** Each resumes a stalled process and waits for its end. */
  readonly #stalled: (() => Promise<void>)[] = [];
  #processes = 0;
  #hasComeBeside = false;
  #wrong = { byMs: 0, until: 0 };

  constructor(campaign: CampaignAsDriven, { sandbox, clock }: { sandbox: RunningSandbox; clock: WaitableClock }) {
    this.#campaign = campaign;
    [this.#sandbox, this.#clock] = [sandbox, clock];
    this.log = new EffectLog(() => clock.now());
    this.person = new Person(() => campaign.place.console(clock.now()), sandbox.url);
  }

  startWorker(): Worker {
    const { place, plan } = this.#campaign;
    const beforeCommit: BeforeCommit = async (at) => {
      const found = plan(at);
      if (found?.beside?.inside !== true) return undefined;
      return overtake(place.stores[1], () => this.#actBeside(found));
    };
    return this.#start(place.stores[0], (at) => this.#disturb(at), { now: () => this.#wrongNow(), beforeCommit });
  }

  startUndisturbed(): Worker {
    return this.#start(this.#campaign.place.stores[1], async () => null);
  }

  act(worker: Worker, act: Act, sending?: Sending): Promise<unknown> {
    const context = this.#contextOf(worker);
    if (act === 'webhook') return this.person.handOn(context);
    return sending === undefined ? actOf(act, context) : this.person.act(context, { act, sending });
  }

  #contextOf({ deps, activities, woven: { who } }: Worker): ActContext {
    const { scenario, standing } = this.#campaign;
    const { effects } = this.log;
    return { deps, activities, sandbox: this.#sandbox, standing, scenario, who, mark: () => effects.length };
  }

  /** Earlier log entries belong to no effect. */
  async beginLog(store: Store): Promise<void> {
    await store.transaction(async (tx) => (await this.log.look(tx)).keep());
  }

  async sendAgain(step: number): Promise<void> {
    if (!this.person.waits) return;
    const worker = this.startUndisturbed();
    await worker.woven.run(step, 'sent again (beside)', () => this.person.sendAgain(this.#contextOf(worker)));
  }

  /** Waits for the last answers, then resends everything once. */
  async endRequests(step: number): Promise<void> {
    const { person } = this;
    if (person.asked.length === 0) return;
    for (let minutes = 0; person.waits && minutes < mostMinutes; minutes += 1) {
      await this.#clock.pass(60_000);
      await this.sendAgain(step);
    }
    const worker = this.startUndisturbed();
    await worker.woven.run(step, 'repeated (beside)', () => person.repeatAnswered(this.#contextOf(worker)));
  }

  /** First by a page from before the pause. */
  async resumeByConsole(step: number): Promise<void> {
    const worker = this.startUndisturbed();
    await worker.woven.run(step, 'resume', () => this.person.resume(this.#contextOf(worker)));
  }

  async letGo(): Promise<void> {
    for (const goOn of this.#stalled.splice(0)) await goOn();
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
  }

  #start(store: Store, disturb: Disturb, { now, beforeCommit }: { now?: () => number; beforeCommit?: BeforeCommit } = {}): Worker {
    this.#processes += 1;
    const who = `process ${this.#processes}`;
    const monotonicMs = () => this.#clock.now();
    const nowReal = now ?? monotonicMs;
    const { api } = this.#campaign.place;
    const woven = new WovenProcess(who, {
      api,
      log: this.log,
      disturb,
      ...(beforeCommit === undefined ? {} : { beforeCommit }),
    });
    const connection = openConnection({ keyHeader: keyHeaders[api], ...connectionTo(this.#sandbox.url, nowReal, monotonicMs) });
    this.#closing.push(() => connection.close());
    const deps = buildDependencies({
      // SQLite uses the process's clock; PostgreSQL has its own.
      store: woven.store({ ...store, now: async () => (store.dialect === 'sqlite' ? nowReal() : monotonicMs()) }),
      service: serviceOver(woven.transport(connection), api),
      api,
      now: nowReal,
      monotonicMs,
      serviceClock: { dialect: dialectOf(this.#campaign.scenario, api) },
      accountId: this.#sandbox.url,
      workerId: who,
      openRequestNotes: () => woven.witness(this.#noted, batchOf(this.#campaign.standing) ?? ''),
      limits: { collectMaxMs: 0, heartbeatEveryMs: 600_000 },
    });
    return { woven, deps, activities: createActivities(deps) };
  }

  async #disturb(at: Parameters<Disturb>[0]): Promise<Blow | null> {
    await this.#comeAsWritten(at);
    const found = this.#campaign.plan(at);
    if (found === null) return null;
    this.done.push(found);
    if (found.beside !== undefined && found.beside.inside !== true) await this.#comeBeside(found);
    if (found.clockByMs !== undefined) this.#wrong = { byMs: found.clockByMs, until: this.#clock.now() + wrongForMs };
    const { strike, statement } = found;
    return strike === undefined ? null : { strike, ...(statement === undefined ? {} : { statement }) };
  }

  #wrongNow(): number {
    const now = this.#clock.now();
    return now < this.#wrong.until ? now + this.#wrong.byMs : now;
  }

  async #comeAsWritten({ step, operation, nth }: Parameters<Disturb>[0]): Promise<void> {
    const { beside } = this.#campaign.scenario;
    if (this.#hasComeBeside || beside?.operation !== operation || beside.nth !== nth) return;
    this.#hasComeBeside = true;
    await this.#actBeside({ step, nth, beside });
  }

  async #comeBeside(found: Intervention): Promise<void> {
    const { lateMs, stallsAt } = found.beside ?? {};
    if (lateMs !== undefined) await this.#clock.pass(lateMs);
    if (stallsAt === undefined) return this.#actBeside(found);
    let goOn = (): void => {};
    const released = new Promise<void>((resolve) => (goOn = resolve));
    let stand = (): void => {};
    const stands = new Promise<void>((resolve) => (stand = resolve));
    const over = this.#actBeside(found, async (nth) => {
      if (nth !== stallsAt) return;
      stand();
      await released;
    });
    this.#stalled.push(async () => {
      goOn();
      await over;
    });
    await Promise.race([stands, over]);
  }

  /** Where the second process is struck, another repeats its work. */
  async #actBeside({ step, beside }: Intervention, at?: (nth: number) => Promise<void>): Promise<void> {
    if (beside === undefined) return;
    const { act, sending, struck } = beside;
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const disturb: Disturb = async ({ nth }) => {
        if (tries === 1) await at?.(nth);
        return tries === 1 && struck?.nth === nth ? struck : null;
      };
      const worker = this.#start(this.#campaign.place.stores[1], disturb);
      try {
        await worker.woven.run(step, `${act} (beside)`, () => this.act(worker, act, sending));
        return;
      } catch (error) {
        if (sending !== undefined && error instanceof ProcessDied && this.person.waits) return;
        const { forGood } = retryOf(error, 0);
        if (forGood !== null) this.faults.push(`${act} beside ${forGood}`);
        // Only struck work is repeated; what cannot be done yet waits.
        const isStruck = tries === 1 && struck !== undefined;
        if (error instanceof ApplicationFailure && !isStruck) return;
        if (tries === mostTries) this.faults.push(`${act} beside: ${String(error)}`);
        await this.#clock.pass(1_000);
      }
    }
  }
}

/** Begins `work` beside a transaction that holds its locks; resolves when it waits for one, or ends. PostgreSQL only. */
async function overtake({ db }: Store, work: () => Promise<void>): Promise<() => Promise<void>> {
  let over = false;
  const done = work().finally(() => (over = true));
  const isWaiting = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return (rows[0]?.count ?? 0) > 0;
  };
  await until('the second process waits or is done', async () => over || (await isWaiting()), { everyMs: 2 });
  return () => done;
}

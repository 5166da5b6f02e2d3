import { onTestFinished } from 'vitest';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { createActivities } from '../../activities/index.ts';
import type { PlanActivityResult } from '../../activities/plan.ts';
import { sweepAgent, type SweepResult } from '../../activities/sweep.ts';
import { createConvaiClient } from '../../src/service/convai/client.ts';
import type { ServiceClock } from '../../src/service/port/service-clock.ts';
import type { Clock } from '../../src/sandbox/core/clock/clock.ts';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import { startSandbox, type RunningSandbox } from '../../src/sandbox/start.ts';
import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import { noteCallerProven, openRound } from '../../src/ledger/campaign/rounds.ts';
import { noon, numbers } from '../ledger/scenario.ts';
import { buildRows, buildRules, type RulesChanges } from '../support/campaign-rules.ts';
import { openNoWitness } from '../support/activity-context.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import type { Store } from '../../src/ledger/tx.ts';

export const campaignId = 'spring';

/** Real time, and a service whose clock runs by it but shows what it likes. */
export class ClockWorld {
  /** True real time. */
  real = noon;
  /** What the service's clock shows beyond what it should. */
  serviceOffMs = 0;
  readonly speed: number;
  #sandbox: RunningSandbox | null = null;
  #port = 0;
  url = '';

  constructor(speed = 1) {
    this.speed = speed;
  }

  serviceNow(): number {
    return noon + (this.real - noon) * this.speed + this.serviceOffMs;
  }

  get sandbox(): RunningSandbox {
    if (this.#sandbox === null) throw new Error('the service is down');
    return this.#sandbox;
  }

  /** Starts the service, at its old address when it had one. */
  async start(options: SandboxOptions = {}): Promise<void> {
    const clock: Clock = {
      speed: this.speed,
      anchorRealMs: noon,
      anchorServiceMs: noon,
      now: () => this.serviceNow(),
      realNow: () => this.real,
      toRealMs: () => Infinity,
    };
    const outcomeMix = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };
    this.#sandbox = await startSandbox({ seed: 'clocks', port: this.#port, clock, outcomeMix, ...options });
    this.#port = this.#sandbox.port;
    this.url = this.#sandbox.url;
  }

  async stop(): Promise<void> {
    await this.#sandbox?.close();
    this.#sandbox = null;
  }

  async import(store: Store, rules: RulesChanges = {}, rows = 4): Promise<void> {
    const input = { campaignId, name: null, fileHash: 'hash', rules: buildRules(rules), accountId: this.url };
    const list = buildRows(numbers(rows), (index) => `Guest ${index}`);
    const chunks = (async function* () {
      yield list;
    })();
    await importCampaign(store, input, { chunks, now: noon });
    await openRound(store, campaignId, noon);
    await noteCallerProven(store, campaignId);
  }

  /** `baseUrl`: of something that stands before the service. */
  worker(store: Store, aheadMs = 0, baseUrl = this.url): ClockWorker {
    return new ClockWorker(this, store, aheadMs, baseUrl);
  }
}

/** A world whose service is up. */
export async function startWorld(options: SandboxOptions = {}, speed = 1): Promise<ClockWorld> {
  const world = new ClockWorld(speed);
  await world.start(options);
  onTestFinished(() => world.stop());
  return world;
}

/** A process with a wall clock of its own, and one that never jumps. */
export class ClockWorker {
  /** What its wall clock shows beyond real time. */
  aheadMs: number;
  /** What happens between a dial transaction and its request: before the body is built, and once it is. */
  beforePost = (): void => {};
  bodyBuilt = (): void => {};
  readonly #deps: ActivityDependencies;
  readonly #activities: ReturnType<typeof createActivities>;

  constructor(world: ClockWorld, store: Store, aheadMs: number, baseUrl: string) {
    this.aheadMs = aheadMs;
    const nowReal = () => world.real + this.aheadMs;
    const begunAt = world.real;
    const monotonicMs = () => world.real - begunAt;
    const client = createConvaiClient({
      baseUrl,
      apiKey: 'sk_sandbox_ok',
      readsPerSecond: 1_000_000,
      retriesAfter429: { reads: 0 },
      nowReal,
      monotonicMs,
    });
    onTestFinished(() => client.close());
    const { speed } = world;
    const serviceClock: Partial<ServiceClock> = {
      speed,
      now: () => noon + (nowReal() - noon) * speed,
      atReal: (instant) => noon + (instant - noon) / speed,
    };
    this.#deps = buildDependencies({
      store,
      client: {
        ...client,
        placeBatchCalls: (body, options) => {
          this.bodyBuilt();
          return client.placeBatchCalls(body, options);
        },
      },
      serviceClock,
      nowReal,
      monotonicMs,
      accountId: world.url,
      workerId: `worker ${aheadMs}`,
      openRequestNotes: () => ({ ...openNoWitness(), note: async () => this.beforePost() }),
    });
    this.#activities = createActivities(this.#deps);
  }

  plan(n: number): Promise<PlanActivityResult> {
    return this.#activities.plan({ campaignId, round: 1, batchNumber: n });
  }

  /** Submits batch n: its state, or the failure that says what is waited for, and for how long. */
  async submit(n: number): Promise<string | ApplicationFailure> {
    try {
      const result = await this.#activities.submit({ batchId: `${campaignId}/1/${n}` });
      return result.kind === 'verdict' ? result.state : result.kind;
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      return error;
    }
  }

  /** Plans batch n where it is not planned yet, and submits it: its state, or what is waited for. */
  async dial(n: number): Promise<string> {
    await this.plan(n);
    const said = await this.submit(n);
    return typeof said === 'string' ? said : `${said.type}: ${said.message}`;
  }

  async sweep(): Promise<SweepResult> {
    const { timing, agentId } = buildRules();
    return sweepAgent(this.#deps, await this.#deps.serviceClock(), { agentId, timing, onProgress: () => {} });
  }
}

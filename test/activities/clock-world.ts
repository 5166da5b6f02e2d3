import { onTestFinished } from 'vitest';
import type { ConvaiClient } from '../../src/service/convai/client.ts';
import type { ServiceClock } from '../../src/service/port/service-clock.ts';
import type { Clock } from '../../src/sandbox/core/clock/clock.ts';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import { startSandbox, type RunningSandbox } from '../../src/sandbox/start.ts';
import { noteCallerProven } from '../../src/ledger/campaign/rounds.ts';
import { beginCampaign, noon } from '../ledger/scenario.ts';
import type { RulesChanges } from '../support/campaign-rules.ts';
import { openNoWitness } from '../support/activity-context.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { campaignId, connectClient, everybody, Steps } from './steps.ts';
import type { Store } from '../../src/ledger/tx.ts';

/** A process with its own wall clock, and a monotonic one. */
export type ClockWorker = Steps & {
  aheadMs: number;
  /** Hooks between the dial transaction and its request, before and after the body is built. */
  beforePost: () => void;
  bodyBuilt: () => void;
};

/** Real time, and a service whose displayed clock may differ from it. */
export class ClockWorld {
  real = noon;
  /** How far the service's displayed clock is ahead. */
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

  /** Reuses its previous address. */
  async start(options: SandboxOptions = {}): Promise<void> {
    const clock: Clock = {
      speed: this.speed,
      anchorRealMs: noon,
      anchorServiceMs: noon,
      now: () => this.serviceNow(),
      realNow: () => this.real,
      toRealMs: () => Infinity,
    };
    this.#sandbox = await startSandbox({ seed: 'clocks', port: this.#port, clock, outcomeMix: everybody, ...options });
    this.#port = this.#sandbox.port;
    this.url = this.#sandbox.url;
  }

  async stop(): Promise<void> {
    await this.#sandbox?.close();
    this.#sandbox = null;
  }

  async import(store: Store, rules: RulesChanges = {}, rows = 4): Promise<void> {
    await beginCampaign(store, { rules, rows, accountId: this.url });
    await noteCallerProven(store, campaignId);
  }

  /** `baseUrl`: a proxy before the service. */
  worker(store: Store, aheadMs = 0, baseUrl = this.url): ClockWorker {
    let worker: ClockWorker | undefined;
    const { speed, real: begunAt } = this;
    const nowReal = () => this.real + (worker?.aheadMs ?? aheadMs);
    const monotonicMs = () => this.real - begunAt;
    const client = connectClient(baseUrl, nowReal, monotonicMs);
    const placeBatchCalls: ConvaiClient['placeBatchCalls'] = (body, options) => {
      worker?.bodyBuilt();
      return client.placeBatchCalls(body, options);
    };
    const serviceClock: Partial<ServiceClock> = {
      speed,
      now: () => noon + (nowReal() - noon) * speed,
      atReal: (instant) => noon + (instant - noon) / speed,
    };
    const deps = buildDependencies({
      store,
      client: { ...client, placeBatchCalls },
      serviceClock,
      nowReal,
      monotonicMs,
      accountId: this.url,
      workerId: `worker ${aheadMs}`,
      openRequestNotes: () => ({ ...openNoWitness(), note: async () => worker?.beforePost() }),
    });
    worker = Object.assign(new Steps(deps), { aheadMs, beforePost: () => {}, bodyBuilt: () => {} });
    return worker;
  }
}

export async function startWorld(options: SandboxOptions = {}, speed = 1): Promise<ClockWorld> {
  const world = new ClockWorld(speed);
  await world.start(options);
  onTestFinished(() => world.stop());
  return world;
}

import { sweepAgent } from '../../activities/sweep.ts';
import type { BatchPointInfo } from '../../src/sandbox/core/gates.ts';
import type { WaitableClock } from './clock.ts';
import type { Hang, Mix } from './mix.ts';
import type { Process } from './process.ts';
import type { Replies } from './strikes.ts';

interface Scene {
  mix: Mix;
  clock: WaitableClock;
  process: () => Process;
  note: (text: string) => void;
}

/** While a batch request is under way, the service keeps the client waiting, or a sweep runs. */
export class Hangs {
  readonly #scene: Scene;
  readonly #givingUp = new Map<string, () => void>();
  readonly replies: Replies = {
    lost: new Set(),
    givenUp: (requestId) => new Promise((resolve) => this.#givingUp.set(requestId, resolve)),
  };
  readonly hooks = {
    onBatchReceived: (info: BatchPointInfo) => this.#hangOn(info, 'last'),
    onBatchWorkDone: async (info: BatchPointInfo) => {
      if (this.#scene.mix.sweepDuring?.includes(info.nth) === true) await this.#sweep();
      await this.#hangOn(info, 'first');
    },
  };

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async #hangOn({ nth, requestId }: BatchPointInfo, work: Hang['work']): Promise<void> {
    const { mix, clock, note } = this.#scene;
    const hang = mix.hangs?.find((entry) => entry.nth === nth && entry.work === work);
    // A look-up is never given up: it dials no person.
    const giveUp = this.#givingUp.get(requestId ?? '');
    if (hang === undefined || giveUp === undefined) return;
    note(`batch request ${requestId} hangs, work ${work}`);
    giveUp();
    await clock.until(clock.now() + hang.forMs);
  }

  async #sweep(): Promise<void> {
    const { mix, process } = this.#scene;
    const { deps, died } = process();
    const { agentId, timing } = mix.campaigns[0]?.rules ?? {};
    if (agentId === undefined || timing === undefined) return;
    const sweep = sweepAgent(deps, await deps.serviceClock(), { agentId, timing, onProgress: () => {} });
    await Promise.race([sweep, died]).catch(() => {});
  }
}

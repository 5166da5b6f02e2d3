import type { ModelLimits } from '../core/settings/connection-settings.ts';

export class Patience {
  readonly #controller = new AbortController();
  readonly #limits: Pick<ModelLimits, 'firstTokenMs' | 'idleMs' | 'wholeMs'>;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  /** What was not waited for any longer; null while there is time. */
  expired: string | null = null;

  constructor(limits: Pick<ModelLimits, 'firstTokenMs' | 'idleMs' | 'wholeMs'>) {
    this.#limits = limits;
    this.#wait(limits.firstTokenMs, `no word within ${limits.firstTokenMs} ms`);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  heard(): void {
    const { idleMs, wholeMs } = this.#limits;
    const leftMs = wholeMs - this.elapsedMs;
    if (leftMs <= idleMs) this.#wait(Math.max(0, leftMs), `no end within ${wholeMs} ms`);
    else this.#wait(idleMs, `no further word within ${idleMs} ms`);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #wait(ms: number, expiry: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.expired = expiry;
      this.#controller.abort();
    }, ms);
    this.#timer.unref();
  }
}

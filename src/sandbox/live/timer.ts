import type { Scheduler } from '../core/clock/scheduler.ts';

/** Can be moved or cancelled. */
export class Timer {
  readonly #scheduler: Pick<Scheduler, 'schedule'>;
  #due: { at: number; run: (at: number) => void } | null = null;
  #entryAt = Infinity;
  #entry = 0;

  constructor(scheduler: Pick<Scheduler, 'schedule'>) {
    this.#scheduler = scheduler;
  }

  set(at: number, run: (at: number) => void): void {
    this.#due = { at, run };
    if (at < this.#entryAt) this.#enter(at);
  }

  clear(): void {
    this.#due = null;
  }

  #enter(at: number): void {
    this.#entryAt = at;
    const entry = (this.#entry += 1);
    this.#scheduler.schedule(at, (when) => {
      if (entry === this.#entry) this.#reach(when);
    });
  }

  #reach(at: number): void {
    this.#entryAt = Infinity;
    const due = this.#due;
    if (due === null) return;
    if (due.at > at) {
      this.#enter(due.at);
      return;
    }
    this.#due = null;
    due.run(at);
  }
}

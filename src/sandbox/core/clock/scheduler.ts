import type { Clock } from './clock.ts';

interface Entry {
  at: number;
  run: (at: number) => void;
}

const longestTimerMs = 2 ** 31 - 1;

/** Runs callbacks by due instant, then entry; each receives its due instant. */
export class Scheduler {
  readonly #clock: Clock;
  /** Reverse order: the earliest due, and within an instant the first entered, is last. */
  readonly #waiting: Entry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #running = false;
  #closed = false;
  #ranUntil: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#ranUntil = clock.now();
  }

  get ranUntil(): number {
    return this.#ranUntil;
  }

  get nextAt(): number {
    return this.#waiting.at(-1)?.at ?? Infinity;
  }

  get pending(): number {
    return this.#waiting.length;
  }

  schedule(at: number, run: (at: number) => void): void {
    if (this.#closed) return;
    this.#insert({ at, run });
    if (!this.#running) this.#arm();
  }

  /** Called before every request, so that reads are never behind the clock. */
  runDue(): void {
    if (this.#running) return;
    this.#running = true;
    try {
      let now = this.#clock.now();
      for (let next = this.#waiting.at(-1); next !== undefined; next = this.#waiting.at(-1)) {
        if (next.at > now && next.at > (now = this.#clock.now())) break;
        this.#waiting.pop();
        this.#ranUntil = next.at;
        next.run(next.at);
      }
      this.#ranUntil = now;
    } finally {
      this.#running = false;
    }
    this.#arm();
  }

  /** Drops all entries. `ranUntil`: instant of the replacing state; default: now. */
  clear(ranUntil = this.#clock.now()): void {
    this.#waiting.length = 0;
    this.#ranUntil = ranUntil;
    this.#disarm();
  }

  /** Call after the clock was moved or its speed changed. */
  followClock(): void {
    this.#disarm();
    if (!this.#running) this.#arm();
  }

  close(): void {
    this.#closed = true;
    this.clear();
  }

  #arm(): void {
    const next = this.#waiting.at(-1);
    if (next === undefined || this.#closed) {
      this.#disarm();
      return;
    }
    if (this.#timerAt === next.at) return;
    this.#disarm();
    this.#timerAt = next.at;
    const delayMs = Math.min(longestTimerMs, Math.max(1, Math.ceil(this.#clock.toRealMs(next.at - this.#clock.now()))));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#timerAt = Infinity;
      this.runDue();
    }, delayMs);
    this.#timer.unref();
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = Infinity;
  }

  #insert(entry: Entry): void {
    let low = 0;
    let high = this.#waiting.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#waiting[middle]?.at ?? 0) <= entry.at) high = middle;
      else low = middle + 1;
    }
    this.#waiting.splice(low, 0, entry);
  }
}

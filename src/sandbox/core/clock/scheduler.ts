import type { Clock } from './clock.ts';

interface Entry {
  at: number;
  sequence: number;
  run: (at: number) => void;
}

const longestTimerMs = 2 ** 31 - 1;

/**
 * Runs things at instants of service time, in order of time and then of entry, over one real timer however many wait.
 * A late timer does not bend the simulation: what runs is told the instant it was due, not the one at which it ran.
 */
export class Scheduler {
  readonly #clock: Clock;
  readonly #heap: Entry[] = [];
  #sequence = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #running = false;
  #closed = false;
  #ranUntil: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#ranUntil = clock.now();
  }

  /** The latest instant up to which everything due has run. */
  get ranUntil(): number {
    return this.#ranUntil;
  }

  /** When the next thing is due; Infinity when nothing waits. */
  get nextAt(): number {
    return this.#heap[0]?.at ?? Infinity;
  }

  get pending(): number {
    return this.#heap.length;
  }

  schedule(at: number, run: (at: number) => void): void {
    if (this.#closed) return;
    this.#push({ at, sequence: this.#sequence++, run });
    if (!this.#running) this.#arm();
  }

  /** Runs everything due by now. Called before every request, so that what is read is never behind the clock. */
  runDue(): void {
    if (this.#running) return;
    this.#running = true;
    try {
      let now = this.#clock.now();
      for (let next = this.#heap[0]; next !== undefined; next = this.#heap[0]) {
        if (next.at > now && next.at > (now = this.#clock.now())) break;
        this.#pop();
        this.#ranUntil = next.at;
        next.run(next.at);
      }
      this.#ranUntil = now;
    } finally {
      this.#running = false;
    }
    this.#arm();
  }

  /** Forgets everything that waits. `ranUntil` is where a state that takes the place of this one stands; now when left out. */
  clear(ranUntil = this.#clock.now()): void {
    this.#heap.length = 0;
    this.#ranUntil = ranUntil;
    this.#disarm();
  }

  /** To be called when the clock has been moved or runs at another speed. */
  followClock(): void {
    this.#disarm();
    if (!this.#running) this.#arm();
  }

  close(): void {
    this.#closed = true;
    this.clear();
  }

  #arm(): void {
    const next = this.#heap[0];
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

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, entry)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      let below = heap[child];
      if (below === undefined) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, below)) {
        child += 1;
        below = right;
      }
      if (isBefore(last, below)) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(left: Entry, right: Entry): boolean {
  return left.at < right.at || (left.at === right.at && left.sequence < right.sequence);
}

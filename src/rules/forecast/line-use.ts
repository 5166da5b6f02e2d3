import { PriorityQueue } from './priority-queue.ts';

/** Window of the starts-per-minute limit. */
export const paceMs = 60_000;

/** At most `most` calls may begin within `withinMs`. */
export interface StartLimit {
  most: number;
  withinMs: number;
}

/** Lines in use and starts left by the limits, over time. Instants never decrease. */
export class LineUse {
  readonly #ending = new PriorityQueue<{ at: number; lines: number }>((left, right) => left.at - right.at);
  /** Per limit: calls begun in its window, oldest first, and their number. */
  readonly #limits: { most: number; withinMs: number; starts: { at: number; count: number }[]; count: number }[];
  #inUse = 0;
  /** Null before the first call. */
  lastEndsAt: number | null = null;

  constructor(limits: readonly StartLimit[]) {
    this.#limits = limits.map((limit) => ({ ...limit, starts: [], count: 0 }));
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** Infinity: no line in use. */
  get nextFreeAt(): number {
    return this.#ending.peek()?.at ?? Infinity;
  }

  /** Infinity: no limits. */
  get startsLeft(): number {
    return Math.min(Infinity, ...this.#limits.map(({ most, count }) => most - count));
  }

  /** Null: no limit is full. */
  get nextStartAt(): number | null {
    const full = this.#limits.filter(({ most, count }) => count >= most);
    return full.length === 0 ? null : Math.max(...full.map(({ starts, withinMs }) => (starts[0]?.at ?? Infinity) + withinMs));
  }

  advanceTo(now: number): void {
    for (let calls = this.#ending.peek(); calls !== undefined && calls.at <= now; calls = this.#ending.peek()) {
      this.#inUse -= calls.lines;
      this.#ending.pop();
    }
    for (const limit of this.#limits) {
      const young = limit.starts.findIndex(({ at }) => at > now - limit.withinMs);
      for (const { count } of limit.starts.splice(0, young === -1 ? limit.starts.length : young)) limit.count -= count;
    }
  }

  /** Begins `count` calls of this length at once. */
  begin(now: number, count: number, lengthMs: number): void {
    if (count === 0) return;
    this.#inUse += count;
    this.#ending.push({ at: now + lengthMs, lines: count });
    this.lastEndsAt = Math.max(this.lastEndsAt ?? -Infinity, now + lengthMs);
    for (const limit of this.#limits) {
      limit.starts.push({ at: now, count });
      limit.count += count;
    }
  }
}

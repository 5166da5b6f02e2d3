import { PriorityQueue } from './priority-queue.ts';

/** The stretch of a campaign's starts per minute. */
export const paceMs = 60_000;

/** So many calls may begin in any stretch of this length. */
export interface StartLimit {
  most: number;
  withinMs: number;
}

/** Which lines are in use, and how many calls may begin by limits of starts, as time goes on. Instants never go back. */
export class LineUse {
  readonly #ending = new PriorityQueue<{ at: number; lines: number }>((left, right) => left.at - right.at);
  /** Of each limit the calls begun in its stretch, oldest first, and their number. */
  readonly #limits: { most: number; withinMs: number; starts: { at: number; count: number }[]; count: number }[];
  #inUse = 0;
  /** End of the last call so far; null before the first. */
  lastEndsAt: number | null = null;

  constructor(limits: readonly StartLimit[]) {
    this.#limits = limits.map((limit) => ({ ...limit, starts: [], count: 0 }));
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** When the next line becomes free; infinity when none is in use. */
  get nextFreeAt(): number {
    return this.#ending.peek()?.at ?? Infinity;
  }

  /** How many calls may begin by the limits; infinity when there are none. */
  get startsLeft(): number {
    return Math.min(Infinity, ...this.#limits.map(({ most, count }) => most - count));
  }

  /** When the limits that are full give way; null when none is. */
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

  /** Begins so many calls of this length at once. */
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

import { PriorityQueue } from './priority-queue.ts';

const minuteMs = 60_000;

/** Which lines are in use and how many calls began in the last minute, as time goes on. Instants never go back. */
export class LineUse {
  readonly #ending = new PriorityQueue<{ at: number; lines: number }>((left, right) => left.at - right.at);
  /** Calls begun in the last minute, oldest first. */
  #starts: { at: number; count: number }[] = [];
  #startsInMinute = 0;
  #inUse = 0;
  /** End of the last call so far; null before the first. */
  lastEndsAt: number | null = null;

  get inUse(): number {
    return this.#inUse;
  }

  get startsInMinute(): number {
    return this.#startsInMinute;
  }

  /** When the next line becomes free, and when the oldest start is a minute ago; infinity when there is none. */
  get nextFreeAt(): number {
    return this.#ending.peek()?.at ?? Infinity;
  }

  get nextStartLeavesAt(): number {
    return (this.#starts[0]?.at ?? Infinity) + minuteMs;
  }

  advanceTo(now: number): void {
    for (let calls = this.#ending.peek(); calls !== undefined && calls.at <= now; calls = this.#ending.peek()) {
      this.#inUse -= calls.lines;
      this.#ending.pop();
    }
    let old = 0;
    for (const start of this.#starts) {
      if (start.at > now - minuteMs) break;
      this.#startsInMinute -= start.count;
      old += 1;
    }
    if (old > 0) this.#starts = this.#starts.slice(old);
  }

  /** Begins so many calls of this length at once. */
  begin(now: number, count: number, lengthMs: number): void {
    if (count === 0) return;
    this.#inUse += count;
    this.#startsInMinute += count;
    this.#starts.push({ at: now, count });
    this.#ending.push({ at: now + lengthMs, lines: count });
    this.lastEndsAt = Math.max(this.lastEndsAt ?? -Infinity, now + lengthMs);
  }
}

/** So many calls may begin in any stretch of this length. */
export interface StartLimit {
  most: number;
  withinMs: number;
}

/** How many calls may begin by limits of starts, as time goes on. Instants never go back. */
export class StartLimits {
  readonly #limits: { most: number; withinMs: number; starts: { at: number; count: number }[]; count: number }[];

  constructor(limits: readonly StartLimit[] = []) {
    this.#limits = limits.map((limit) => ({ ...limit, starts: [], count: 0 }));
  }

  left(now: number): number {
    let left = Infinity;
    for (const limit of this.#limits) {
      const old = limit.starts.findIndex(({ at }) => at > now - limit.withinMs);
      for (const { count } of limit.starts.splice(0, old === -1 ? limit.starts.length : old)) limit.count -= count;
      left = Math.min(left, limit.most - limit.count);
    }
    return left;
  }

  /** When those that are full now give way; 0 when none is. */
  nextAt(now: number): number {
    if (this.left(now) > 0) return 0;
    const full = this.#limits.filter(({ most, count }) => count >= most);
    return Math.max(...full.map(({ starts, withinMs }) => (starts[0]?.at ?? now) + withinMs));
  }

  begin(now: number, count: number): void {
    if (count === 0) return;
    for (const limit of this.#limits) {
      limit.starts.push({ at: now, count });
      limit.count += count;
    }
  }
}

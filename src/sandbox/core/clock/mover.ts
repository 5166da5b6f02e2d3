import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, ServiceClock } from './clock.ts';
import type { ServiceEvents } from './service-events.ts';
import type { Scheduler } from './scheduler.ts';

/** Real ms after which other requests get a turn. */
const longestStepMs = 20;
const progressEveryMs = 200;

export interface ClockMove {
  from: number;
  to: number;
  instants: number;
}

interface MoverParts {
  clock: Clock;
  scheduler: Scheduler;
  events: ServiceEvents;
  /** Work that must finish before time advances. */
  pendingWork: ReadonlySet<Promise<unknown>>;
}

/** One move at a time; each event runs at its instant, and pending work is awaited. */
export class ClockMover {
  readonly #parts: MoverParts;
  #queue: Promise<unknown> = Promise.resolve();
  #underWay: ClockMove | null = null;
  #closed = false;

  constructor({ clock, scheduler, events, pendingWork }: MoverParts) {
    this.#parts = { clock, scheduler, events, pendingWork };
  }

  /** The clock, if movable; null for a ready-made one. */
  get clock(): ServiceClock | null {
    return this.#parts.clock instanceof ServiceClock ? this.#parts.clock : null;
  }

  get underWay(): ClockMove | null {
    return this.#underWay;
  }

  announce(): void {
    const { clock, events, scheduler } = this.#parts;
    scheduler.followClock();
    events.emit('clock', clock.now(), { speed: clock.speed, now: clock.now(), moving_to: this.#underWay?.to ?? null });
  }

  async move(clock: ServiceClock, target: (now: number) => number): Promise<ClockMove> {
    return this.inTurn(() => this.#run(clock, target(clock.now())));
  }

  /** Advances until `isOver`, until no event is left or the next lies after `latest`. */
  async moveUntil(clock: ServiceClock, isOver: () => boolean, latest: (now: number) => number): Promise<ClockMove> {
    return this.inTurn(() => this.#run(clock, latest(clock.now()), isOver));
  }

  /** Runs `work` between two moves, never during one. */
  async inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  close(): void {
    this.#closed = true;
  }

  /** With `isOver`, the clock stays at the last event. */
  async #run(clock: ServiceClock, to: number, isOver?: () => boolean): Promise<ClockMove> {
    const { scheduler } = this.#parts;
    const move: ClockMove = { from: clock.now(), to, instants: 0 };
    const goesOn = (): boolean => scheduler.nextAt <= to && !this.#closed && isOver?.() !== true;
    this.#underWay = move;
    let stepStart = performance.now();
    let reportedAt = stepStart;
    try {
      scheduler.runDue();
      await this.#settle();
      while (goesOn()) {
        clock.moveTo(scheduler.nextAt);
        scheduler.runDue();
        move.instants += 1;
        await this.#settle();
        if (performance.now() - stepStart < longestStepMs) continue;
        await nextTurn();
        stepStart = performance.now();
        if (stepStart - reportedAt < progressEveryMs) continue;
        reportedAt = stepStart;
        this.announce();
      }
      if (!this.#closed && isOver === undefined) clock.moveTo(to);
      else move.to = clock.now();
      scheduler.runDue();
    } finally {
      this.#underWay = null;
    }
    this.announce();
    return move;
  }

  async #settle(): Promise<void> {
    const { pendingWork } = this.#parts;
    while (pendingWork.size > 0 && !this.#closed) await Promise.allSettled(pendingWork);
  }
}

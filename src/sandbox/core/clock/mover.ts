import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, ServiceClock } from './clock.ts';
import type { ServiceEvents } from './service-events.ts';
import type { Scheduler } from './scheduler.ts';

/** Real milliseconds after which other requests get their turn. */
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
  /** What has to be over before time may go on. */
  pendingWork: ReadonlySet<Promise<unknown>>;
}

/** Moves service time forward, one move after the other: each thing due at its own instant, with work under way elsewhere waited for. */
export class ClockMover {
  readonly #parts: MoverParts;
  #queue: Promise<unknown> = Promise.resolve();
  #underWay: ClockMove | null = null;
  #closed = false;

  constructor({ clock, scheduler, events, pendingWork }: MoverParts) {
    this.#parts = { clock, scheduler, events, pendingWork };
  }

  /** The clock, where it can be moved: one that was handed in ready-made cannot. */
  get clock(): ServiceClock | null {
    return this.#parts.clock instanceof ServiceClock ? this.#parts.clock : null;
  }

  /** The move under way; null when there is none. */
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

  /** Moves from one due thing to the next until `isOver`, until nothing is due any more, or until what is due lies after `latest`. */
  async moveUntil(clock: ServiceClock, isOver: () => boolean, latest: (now: number) => number): Promise<ClockMove> {
    return this.inTurn(() => this.#run(clock, latest(clock.now()), isOver));
  }

  /** Does something between two moves, never in the middle of one. */
  async inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  close(): void {
    this.#closed = true;
  }

  /** With `isOver` the clock stays at the last thing that happened. */
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

import type { Scheduler } from '../core/clock/scheduler.ts';
import type { Outbox } from './outbox.ts';
import { ping } from './server-events.ts';
import type { SocketSettings } from '../core/settings/socket-settings.ts';
import { Timer } from './timer.ts';

/** Asks a client again and again whether it is there, and measures how long its answers take. Times are service time. */
export class Heartbeat {
  readonly #outbox: Outbox;
  readonly #settings: SocketSettings;
  readonly #nextEventId: () => number;
  readonly #dead: (at: number) => void;
  readonly #timer: Timer;
  readonly #unanswered = new Map<number, number>();
  #pingMs: number | null = null;
  #nextPingAt = Infinity;

  constructor(parts: {
    scheduler: Scheduler;
    outbox: Outbox;
    settings: SocketSettings;
    nextEventId: () => number;
    /** Called when an answer is overdue. */
    dead: (at: number) => void;
  }) {
    this.#outbox = parts.outbox;
    this.#settings = parts.settings;
    this.#nextEventId = parts.nextEventId;
    this.#dead = parts.dead;
    this.#timer = new Timer(parts.scheduler);
  }

  start(at: number): void {
    this.#nextPingAt = at + this.#settings.pingEveryMs;
    this.#wait();
  }

  stop(): void {
    this.#timer.clear();
  }

  /** Answers to pings that are not open, as after a second answer, are of no consequence. */
  answered(eventId: number, at: number): void {
    const sentAt = this.#unanswered.get(eventId);
    if (sentAt === undefined) return;
    this.#pingMs = at - sentAt;
    // Whoever answers a later one is there, so nothing earlier is waited for.
    for (const id of this.#unanswered.keys()) if (id <= eventId) this.#unanswered.delete(id);
  }

  #wait(): void {
    const [oldest = Infinity] = this.#unanswered.values();
    this.#timer.set(Math.min(this.#nextPingAt, oldest + this.#settings.pongWithinMs), (at) => this.#beat(at));
  }

  #beat(at: number): void {
    const [oldest = Infinity] = this.#unanswered.values();
    if (at >= oldest + this.#settings.pongWithinMs) {
      this.#dead(at);
      return;
    }
    if (at >= this.#nextPingAt) {
      const eventId = this.#nextEventId();
      this.#unanswered.set(eventId, at);
      this.#nextPingAt = at + this.#settings.pingEveryMs;
      this.#outbox.send(ping(eventId, this.#pingMs));
    }
    this.#wait();
  }
}

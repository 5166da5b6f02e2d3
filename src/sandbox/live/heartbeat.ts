import type { Scheduler } from '../core/clock/scheduler.ts';
import type { Outbox } from './outbox.ts';
import type { SocketSettings } from '../core/settings/connection-settings.ts';
import { Timer } from './timer.ts';
import { silenceLimitMs, turnTimeoutMs } from '../core/conversation/call-config.ts';
import type { ConversationConfig } from '../schemas/agent-schemas.ts';

interface HeartbeatParts {
  scheduler: Scheduler;
  outbox: Outbox;
  settings: SocketSettings;
  nextEventId: () => number;
  dead: (at: number) => void;
}

/** Pings a client and measures its response time. Times: service time. */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  readonly #timer: Timer;
  readonly #unanswered = new Map<number, number>();
  #pingMs: number | null = null;
  #nextPingAt = Infinity;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#timer = new Timer(parts.scheduler);
  }

  start(at: number): void {
    this.#nextPingAt = at + this.#parts.settings.pingEveryMs;
    this.#wait();
  }

  stop(): void {
    this.#timer.clear();
  }

  /** Ignores answers to pings that are not open, such as a second answer. */
  answered(eventId: number, at: number): void {
    const sentAt = this.#unanswered.get(eventId);
    if (sentAt === undefined) return;
    this.#pingMs = at - sentAt;
    // An answered ping also settles all earlier ones.
    for (const id of this.#unanswered.keys()) if (id <= eventId) this.#unanswered.delete(id);
  }

  get #overdueAt(): number {
    const [oldest = Infinity] = this.#unanswered.values();
    return oldest + this.#parts.settings.pongWithinMs;
  }

  #wait(): void {
    this.#timer.set(Math.min(this.#nextPingAt, this.#overdueAt), (at) => this.#beat(at));
  }

  #beat(at: number): void {
    const { outbox, settings, nextEventId, dead } = this.#parts;
    if (at >= this.#overdueAt) {
      dead(at);
      return;
    }
    if (at >= this.#nextPingAt) {
      const eventId = nextEventId();
      this.#unanswered.set(eventId, at);
      this.#nextPingAt = at + settings.pingEveryMs;
      outbox.send('ping', { event_id: eventId, ping_ms: this.#pingMs });
    }
    this.#wait();
  }
}

interface PatienceParts {
  scheduler: Scheduler;
  noInputMs: number;
  /** The client has sent nothing at all for too long. */
  deaf: (at: number) => void;
  /** The user was silent for the agent's turn timeout, for the first time or again. */
  askAgain: (at: number) => void;
  /** The user was silent up to the agent's limit, however often it asked. */
  giveUp: (at: number) => void;
}

/** Timeouts of a socket conversation. */
export class Patience {
  readonly #parts: PatienceParts;
  readonly #noInput: Timer;
  readonly #again: Timer;
  readonly #limit: Timer;
  #waiting = false;

  constructor(parts: PatienceParts) {
    this.#parts = parts;
    this.#noInput = new Timer(parts.scheduler);
    this.#again = new Timer(parts.scheduler);
    this.#limit = new Timer(parts.scheduler);
  }

  heardFrom(at: number): void {
    this.#noInput.set(at + this.#parts.noInputMs, this.#parts.deaf);
  }

  waitForUser(config: ConversationConfig, at: number): void {
    this.#again.set(at + turnTimeoutMs(config), this.#parts.askAgain);
    const limitMs = silenceLimitMs(config);
    if (limitMs !== null && !this.#waiting) this.#limit.set(at + limitMs, this.#parts.giveUp);
    this.#waiting = true;
  }

  userBegins(): void {
    this.#waiting = false;
    this.#again.clear();
    this.#limit.clear();
  }

  stop(): void {
    this.#noInput.clear();
    this.userBegins();
  }
}

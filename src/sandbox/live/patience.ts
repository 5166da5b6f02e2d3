import { silenceLimitMs, turnTimeoutMs } from '../core/conversation/call-config.ts';
import type { ConversationConfig } from '../schemas/agent-schemas.ts';
import type { Scheduler } from '../core/clock/scheduler.ts';
import { Timer } from './timer.ts';

interface PatienceParts {
  scheduler: Scheduler;
  noInputMs: number;
  /** Nothing at all has come from the client for too long. */
  deaf: (at: number) => void;
  /** The person has said nothing for the length of the agent's turn timeout, for the first time or again. */
  askAgain: (at: number) => void;
  /** The person has said nothing for as long as the agent's settings allow, however often it has asked. */
  giveUp: (at: number) => void;
}

/** How long a conversation over a socket waits for what. */
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

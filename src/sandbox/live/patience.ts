import { turnTimeoutMs } from '../conversation/call-config.ts';
import type { ConversationConfig } from '../schemas/agent-schemas.ts';
import type { Scheduler } from '../scheduler.ts';
import { silenceLimitMs } from './conversation-settings.ts';
import { Timer } from './timer.ts';

interface PatienceParts {
  scheduler: Scheduler;
  noInputMs: number;
  /** Nothing at all has come from the client for too long. */
  deaf: (at: number) => void;
  /** The person has said nothing for the length of the agent's turn timeout. */
  askAgain: (at: number) => void;
  /** The person has said nothing for as long as the agent's settings allow. */
  giveUp: (at: number) => void;
}

/** How long a conversation over a socket waits for what. */
export class Patience {
  readonly #parts: PatienceParts;
  readonly #noInput: Timer;
  readonly #again: Timer;
  readonly #limit: Timer;
  #asked = false;

  constructor(parts: PatienceParts) {
    this.#parts = parts;
    this.#noInput = new Timer(parts.scheduler);
    this.#again = new Timer(parts.scheduler);
    this.#limit = new Timer(parts.scheduler);
  }

  /** Something other than a pong came. */
  heardFrom(at: number): void {
    this.#noInput.set(at + this.#parts.noInputMs, this.#parts.deaf);
  }

  /** From now on the agent waits for a word. It asks once only. */
  waitForUser(config: ConversationConfig, at: number): void {
    if (!this.#asked)
      this.#again.set(at + turnTimeoutMs(config), (when) => {
        this.#asked = true;
        this.#parts.askAgain(when);
      });
    const limitMs = silenceLimitMs(config);
    if (limitMs !== null) this.#limit.set(at + limitMs, this.#parts.giveUp);
  }

  userBegins(): void {
    this.#asked = false;
    this.#again.clear();
    this.#limit.clear();
  }

  stop(): void {
    this.#noInput.clear();
    this.userBegins();
  }
}

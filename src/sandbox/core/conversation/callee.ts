import type { Turn } from '../state/talk.ts';

export interface CalleeReply {
  /** Null when they say nothing. */
  text: string | null;
  /** They are gone after this. */
  hangsUp: boolean;
  /** They begin before the agent has finished. */
  interrupts: boolean;
  /** From the end of the agent's words (or of the half that was heard) to their own, milliseconds. */
  pauseMs: number;
  /** The agent has said goodbye, but they talk on and are listened to. */
  goesOn?: true;
}

/** Who or what picked up. What they say depends on what they heard and on draws of their own, never on the time. */
export interface Callee {
  /** Said before the agent's first word: an answering machine's announcement, or a greeting. Null when the agent speaks first. */
  readonly announcement: string | null;
  /** They hang up this long after pick-up, whoever is speaking; null when they do not. */
  readonly leavesAfterMs: number | null;
  /** A machine records one message and says nothing more. */
  readonly machine: boolean;
  reply(heard: string, turns: readonly Turn[]): CalleeReply;
}

import type { Assessment } from './assessment.ts';

export type Speaker = 'agent' | 'user';

/** What a model was asked and gave for one turn of the agent. */
export interface TurnUsage {
  modelId: string;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  /** From the end of what was heard to the first word, milliseconds of service time. */
  latencyMs: number;
  /** The backup model answered, since the agent's own did not. */
  fallback: boolean;
}

/** A tool that the agent used in a turn. */
export interface ToolUse {
  toolCallId: string;
  name: string;
  parameters: Record<string, unknown>;
  /** Null while nothing has come back. */
  result: string | null;
  isError: boolean;
}

/** One turn. Times are epoch milliseconds of service time. */
export interface Turn {
  readonly speaker: Speaker;
  /** What was heard of it. */
  readonly text: string;
  /** When the first word was said. */
  readonly at: number;
  /** When the last word was over, or the turn was cut off. */
  readonly until: number;
  /** The other side cut in before it was over. */
  readonly interrupted?: true;
  /** Where it was cut off: the whole of what was to be said. */
  readonly original?: string;
  /** Said to nobody: it answers nothing, and nothing follows from it. */
  readonly aside?: true;
  readonly usage?: TurnUsage;
  readonly tools?: readonly ToolUse[];
}

/** Everything that was said, from pick-up to the end. */
export interface Talk {
  readonly turns: readonly Turn[];
  readonly endedAt: number;
  readonly terminationReason: string;
  /** The conversation could not go on: no model answered. */
  readonly brokeDown: boolean;
  /** What came of it, where the agent's own model was asked; otherwise it follows from the turns by rules. */
  readonly assessment?: Assessment;
}

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
}

export type CollectedValue = string | number | boolean | null;

export interface CollectedItem {
  value: CollectedValue;
  rationale: string;
}

type Verdict = 'success' | 'failure' | 'unknown';

export interface Evaluated {
  result: Verdict;
  rationale: string;
  /** From 0 to 1; null where it cannot be told. */
  score?: number | null;
}

/** What came of a conversation, by id of the item or criterion. */
export interface Assessment {
  collected: Record<string, CollectedItem>;
  evaluation: Record<string, Evaluated>;
}

const beginningMs = 350;
const letterMs = 65;

/** Milliseconds that saying `text` takes: about 150 words a minute, and a moment to begin. */
export function speakingMs(text: string): number {
  return beginningMs + text.length * letterMs;
}

/** How long somebody takes to begin an answer: half of them 0.7 s, one in ten more than 1.7. `share` is drawn from 0 to 1. */
export function answerPauseMs(share: number): number {
  return 300 + 1_700 * share ** 2;
}

/** The turn as far as it was heard by `at`, at which it was cut off; whole where it was over by then. */
export function cutTurn(turn: Turn, at: number): Turn {
  if (turn.until <= at) return turn;
  const text = heardPart(turn.text, (at - turn.at) / (turn.until - turn.at));
  return { ...turn, until: at, interrupted: true, text, original: turn.original ?? turn.text };
}

/** What its speaker meant to say, heard or not. */
export function meantIn({ text, original }: Turn): string {
  return original ?? text;
}

/** As many whole words as fit into the share that was heard. */
function heardPart(text: string, share: number): string {
  const length = Math.floor(text.length * Math.min(1, Math.max(0, share)));
  if (length >= text.length) return text;
  const cut = text.slice(0, length);
  return (/\s/.test(text.charAt(length)) ? cut : cut.replace(/\S+$/, '')).trimEnd();
}

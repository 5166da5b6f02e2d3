export type Speaker = 'agent' | 'user';

export interface TurnUsage {
  modelId: string;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  latencyMs: number;
  fallback: boolean;
}

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
  readonly text: string;
  readonly at: number;
  readonly until: number;
  readonly interrupted?: true;
  /** Where it was cut off: the whole of what was to be said. */
  readonly original?: string;
  readonly aside?: true;
  readonly usage?: TurnUsage;
  readonly tools?: readonly ToolUse[];
}

export interface Talk {
  readonly turns: readonly Turn[];
  readonly endedAt: number;
  readonly terminationReason: string;
  readonly brokeDown: boolean;
}

export type CollectedValue = string | number | boolean | null;

export interface CollectedItem {
  /** A `CollectedValue`; any JSON if it is scripted. */
  value: unknown;
  rationale: string;
}

type Verdict = 'success' | 'failure' | 'unknown';

export interface Evaluated {
  result: Verdict;
  rationale: string;
  /** From 0 to 1; null where it cannot be told. */
  score?: number | null;
}

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

export function cutTurn(turn: Turn, at: number): Turn {
  if (turn.until <= at) return turn;
  const text = heardPart(turn.text, (at - turn.at) / (turn.until - turn.at));
  return { ...turn, until: at, interrupted: true, text, original: turn.original ?? turn.text };
}

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

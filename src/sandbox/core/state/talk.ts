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
  /** Null until a result arrives. */
  result: string | null;
  isError: boolean;
}

/** One turn. Times: epoch ms of service time. */
export interface Turn {
  readonly speaker: Speaker;
  readonly text: string;
  readonly at: number;
  readonly until: number;
  readonly interrupted?: true;
  /** The full text of a turn that was cut off. */
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
  /** 0 to 1; null when undecided. */
  score?: number | null;
}

export interface Assessment {
  collected: Record<string, CollectedItem>;
  evaluation: Record<string, Evaluated>;
}

const beginningMs = 350;
const letterMs = 65;

/** Ms to say `text`: about 150 words a minute, plus a moment to begin. */
export function speakingMs(text: string): number {
  return beginningMs + text.length * letterMs;
}

/** Pause before an answer in ms: median 0.7 s, one in ten above 1.7 s. `share` is drawn from 0 to 1. */
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

/** The whole words that fit into the share heard. */
function heardPart(text: string, share: number): string {
  const length = Math.floor(text.length * Math.min(1, Math.max(0, share)));
  if (length >= text.length) return text;
  const cut = text.slice(0, length);
  return (/\s/.test(text.charAt(length)) ? cut : cut.replace(/\S+$/, '')).trimEnd();
}

import type { Turn } from '../state/talk.ts';

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

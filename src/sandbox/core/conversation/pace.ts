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

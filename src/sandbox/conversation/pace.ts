const beginningMs = 350;
const letterMs = 65;

/** Milliseconds that saying `text` takes: about 150 words a minute, and a moment to begin. */
export function speakingMs(text: string): number {
  return beginningMs + text.length * letterMs;
}

import { setTimeout as pause } from 'node:timers/promises';

/** Only what hangs takes so long, even on a busy machine; less than a test may take, so that it says what was awaited. */
export const patienceMs = 400_000;

/** By default a twentieth of the time so far lies between two asks, within these: lateness costs few. */
const [shortestMs, longestMs] = [15, 150];

/** Until the answer is neither undefined nor false. Throws what was awaited when the limit has passed. */
export async function until<Answer>(
  what: string,
  ask: () => Answer | undefined | false | Promise<Answer | undefined | false>,
  { limitMs = patienceMs, everyMs }: { limitMs?: number; everyMs?: number } = {},
): Promise<Answer> {
  const begun = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waitedMs = performance.now() - begun;
    if (waitedMs > limitMs) throw new Error(`Waited ${limitMs / 1000} s in vain until ${what}`);
    await pause(everyMs ?? Math.min(longestMs, Math.max(shortestMs, waitedMs / 20)));
  }
}

/** Or an error that says what was awaited. */
export async function within<Value>(what: string, promise: Promise<Value>, limitMs = patienceMs): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${limitMs / 1000} s in vain until ${what}`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

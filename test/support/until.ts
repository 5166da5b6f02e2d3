import { setTimeout as pause } from 'node:timers/promises';

/** Only a hang takes this long, even on a busy machine; below a test's limit, so that it names what was awaited. */
export const patienceMs = 400_000;

/** Bounds of the pause between two checks, by default a twentieth of the time so far. */
const [shortestMs, longestMs] = [15, 150];

/** Until the answer is neither undefined nor false. Throws what was awaited at the limit. */
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

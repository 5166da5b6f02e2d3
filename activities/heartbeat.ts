/** What says that an activity is at work. */
export interface Pulse {
  /** Something was got done: a page, a record, rows of a list. */
  step: () => void;
  stop: () => void;
}

/**
 * Beats for work that goes on. A timer bridges single steps, since one request may lawfully last longer than a heartbeat timeout; but work
 * without a step for `longestStepMs` is stuck, whatever the process does otherwise, and is heard of no more: then it starts elsewhere.
 */
export function startHeartbeat(beat: () => void, { everyMs, longestStepMs }: { everyMs: number; longestStepMs: number }): Pulse {
  const beatsPerStep = Math.ceil(longestStepMs / everyMs);
  let left = beatsPerStep;
  const timer = setInterval(() => {
    if (left <= 0) return;
    left -= 1;
    beat();
  }, everyMs);
  return { step: () => (left = beatsPerStep), stop: () => clearInterval(timer) };
}

/** The longest step of a sweep: a request within its own limits, and as much again for its turn among others and for the database. */
export function longestSweepStepMs({ httpTimeoutMs }: { httpTimeoutMs: number }): number {
  return 2 * httpTimeoutMs;
}

export interface Pulse {
  /** Reports progress: a page, a record, rows of a list. */
  step: () => void;
  stop: () => void;
}

/**
 * Beats while work progresses. A timer bridges steps longer than a heartbeat timeout; but after `longestStepMs` without a step beats stop,
 * so that stuck work restarts elsewhere.
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

/** One request within its limits, and as long again for queueing and the database. */
export function longestSweepStepMs({ httpTimeoutMs }: { httpTimeoutMs: number }): number {
  return 2 * httpTimeoutMs;
}

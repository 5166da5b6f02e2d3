import type { Clock } from '../../src/sandbox/core/clock/clock.ts';

export const noon = Date.UTC(2030, 0, 15, 12, 0, 0);

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

/** Timers never fire by themselves; what is due runs with the next request. */
export function createManualClock(): ManualClock {
  let now = noon;
  return {
    speed: 1,
    anchorRealMs: noon,
    anchorServiceMs: noon,
    now: () => now,
    realNow: () => now,
    toRealMs: () => Infinity,
    advance: (ms) => {
      now += ms;
    },
  };
}

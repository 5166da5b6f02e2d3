import { createManualClock, type ManualClock } from '../sandbox/manual-clock.ts';

/** A manual clock; `pass` stops at each awaited instant. */
export interface WaitableClock extends ManualClock {
  until(instant: number): Promise<void>;
  /** Goes to now + ms; at each awaited instant on the way, what waits there is done first. */
  pass(ms: number): Promise<void>;
}

/** Runs what needs no socket and no timer. */
export async function letRun(turns = 6): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function createWaitableClock(): WaitableClock {
  const clock = createManualClock();
  let waiting: { instant: number; resolve: () => void }[] = [];
  return {
    ...clock,
    until: (instant) => new Promise((resolve) => waiting.push({ instant, resolve })),
    async pass(ms) {
      const end = clock.now() + ms;
      for (;;) {
        const next = waiting.toSorted((a, b) => a.instant - b.instant)[0];
        if (next === undefined || next.instant > end) break;
        clock.advance(Math.max(0, next.instant - clock.now()));
        waiting = waiting.filter((entry) => entry !== next);
        next.resolve();
        await letRun();
      }
      clock.advance(end - clock.now());
    },
  };
}

/**
 * How fast an account's campaigns may go, learned from the service: every limit is multiplied by the pace, which is halved when the
 * service says that it was too much, and grows back in even steps while batches are accepted (AIMD).
 */
export interface Pace {
  /** In thousandths of the limits; at most `fullPace`. */
  pace: number;
  /** Service time of the last cut; 0 before the first. */
  cutAt: number;
}

/** The pace at which limits hold unchanged, in thousandths. */
export const fullPace = 1000;

/** One refusal is told several times: by each batch that was on its way, and by each repetition. */
const cutRestMs = 60_000;
/** Added for as many accepted calls as there are lines. */
const raisePerRound = 200;

/** What is left of a limit: never more than it, never less than one call. */
export function atPace(limit: number, pace: number): number {
  return Math.max(1, Math.min(limit, Math.floor((limit * pace) / fullPace)));
}

/** The pace after the service said that it was too much; it is not cut twice within a minute. `limit`: lines of who was told. */
export function cutPace(before: Pace, { limit, now }: { limit: number; now: number }): Pace {
  if (now >= before.cutAt && now - before.cutAt < cutRestMs) return before;
  // Below one line nothing is gained, and the way back would only be longer.
  const oneLine = Math.ceil(fullPace / limit);
  return { pace: Math.min(before.pace, Math.max(oneLine, Math.floor(before.pace / 2))), cutAt: now };
}

/** The pace after the service has accepted a batch of so many calls. */
export function raisePace(before: Pace, { limit, calls }: { limit: number; calls: number }): Pace {
  const step = Math.round((raisePerRound * calls) / atPace(limit, before.pace));
  return { ...before, pace: Math.min(fullPace, before.pace + Math.min(raisePerRound, Math.max(1, step))) };
}

/**
 * Speed of an account's campaigns (AIMD): multiplies every limit, halves when the service reports overload, grows in even steps while
 * batches are accepted.
 */
export interface Pace {
  /** In thousandths of the limits; at most `fullPace`. */
  pace: number;
  /** Service time of the last cut; 0 before the first. */
  cutAt: number;
}

/** Pace that leaves limits unchanged, in thousandths. */
export const fullPace = 1000;

/** One overload is reported several times: by each batch in flight and each repetition. */
const cutRestMs = 60_000;
/** Added per as many accepted calls as there are lines. */
const raisePerRound = 200;

/** Limit at this pace: at most the limit, at least one call. */
export function atPace(limit: number, pace: number): number {
  return Math.max(1, Math.min(limit, Math.floor((limit * pace) / fullPace)));
}

/** Pace after the service reported overload; cut at most once a minute. `limit`: lines of the refused campaign. */
export function cutPace(before: Pace, { limit, now }: { limit: number; now: number }): Pace {
  if (now >= before.cutAt && now - before.cutAt < cutRestMs) return before;
  // Below one line nothing is gained, and recovery takes longer.
  const oneLine = Math.ceil(fullPace / limit);
  return { pace: Math.min(before.pace, Math.max(oneLine, Math.floor(before.pace / 2))), cutAt: now };
}

/** Pace after the service accepted a batch of `calls`. */
export function raisePace(before: Pace, { limit, calls }: { limit: number; calls: number }): Pace {
  const step = Math.round((raisePerRound * calls) / atPace(limit, before.pace));
  return { ...before, pace: Math.min(fullPace, before.pace + Math.min(raisePerRound, Math.max(1, step))) };
}

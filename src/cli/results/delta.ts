/** A change is written with the time at which its activity began; within this much real time it is committed. */
const commitWithinMs = 2 * 60_000;

/**
 * Where the next delta has to begin so that it misses nothing: after the latest change, when that is so long ago that no change with
 * an earlier time can still be on its way to the database; else so much before it. Null without any change.
 */
export function nextSince({
  lastChange,
  now,
  speed,
}: {
  /** Service time of the latest change that was seen before the rows were read. */
  lastChange: number | null;
  /** Service time. */
  now: number;
  /** Service milliseconds per real one. */
  speed: number;
}): number | null {
  if (lastChange === null) return null;
  const overlapMs = commitWithinMs * speed;
  return Math.round(now - lastChange > overlapMs ? lastChange + 1 : Math.min(now, lastChange) - overlapMs);
}

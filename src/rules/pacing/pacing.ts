/** What decides the size of the next batch; counts are attempts of one campaign. */
export interface PacingInput {
  /** Attempts that hold a slot. */
  open: number;
  maxConcurrentCalls: number;
  /** Free slots at which a batch is worth planning; above `maxConcurrentCalls`: when all are free. */
  refillThreshold: number;
  batchSize: number;
  /** Calls started in the last 60 s of service time. */
  startedInLastMinute: number;
  /** Null: no limit. */
  startsPerMinute: number | null;
  /** Recipients that could be dialled now. */
  due: number;
  /** True when no other recipient can become due while the open calls last. */
  nothingElseComing: boolean;
}

/**
 * Calls to plan now; 0: wait. To avoid small batches, plans only when the refill threshold is free, or when it takes all that is due and
 * nothing else comes.
 */
export function slotsToFill(input: PacingInput): number {
  const free = input.maxConcurrentCalls - input.open;
  const startsLeft = input.startsPerMinute === null ? Infinity : input.startsPerMinute - input.startedInLastMinute;
  const planned = Math.max(0, Math.min(free, input.batchSize, input.due, startsLeft));
  const refilled = free >= Math.min(input.refillThreshold, input.maxConcurrentCalls);
  const takesAll = planned === input.due && input.nothingElseComing;
  return refilled || takesAll ? planned : 0;
}

/** Lines a campaign may use during warm-up: a tenth at first, then evenly more. */
export function warmUpLines(input: { lines: number; warmUpMs: number; sinceMs: number }): number {
  const { lines, warmUpMs } = input;
  if (input.sinceMs >= warmUpMs) return lines;
  const sinceMs = Math.max(0, input.sinceMs);
  return Math.max(1, Math.floor((lines * (warmUpMs + 9 * sinceMs)) / (10 * warmUpMs)));
}

/** Refill threshold while only `allowed` of a campaign's lines may be used. */
export function refillAt(input: { refillThreshold: number; lines: number; allowed: number }): number {
  return Math.max(1, Math.ceil((input.refillThreshold * input.allowed) / input.lines));
}

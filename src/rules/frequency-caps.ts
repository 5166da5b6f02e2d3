/** How often one number or one person may be called, over all campaigns. Only placed calls count. */
export type FrequencyCap = {
  by: 'number' | 'person';
} & (
  | {
      /** At most this many calls … */
      calls: number;
      /** … within any such window, in ms. */
      withinMs: number;
    }
  /** No call for this long after a conversation. */
  | { afterTalkMs: number }
);

/** A placed call, of any campaign. */
export interface PlacedCall {
  /** When it rang; if not known, the last instant at which it may ring. */
  at: number;
  /** A conversation took place. */
  talked: boolean;
}

/** How far back calls matter for these caps. */
export function capsLookBackMs(caps: readonly FrequencyCap[]): number {
  return Math.max(0, ...caps.map((cap) => ('afterTalkMs' in cap ? cap.afterTalkMs : cap.withinMs)));
}

/**
 * Earliest instant from `at` on at which another call may be requested, however long the service queues it. `calls` are to the number or
 * the person.
 */
export function capsAllowAt(
  caps: readonly FrequencyCap[],
  calls: Readonly<Record<FrequencyCap['by'], readonly PlacedCall[]>>,
  at: number,
): number {
  return Math.max(at, ...caps.map((cap) => capAllowsAt(cap, calls[cap.by], at)));
}

function capAllowsAt(cap: FrequencyCap, calls: readonly PlacedCall[], at: number): number {
  if ('afterTalkMs' in cap) {
    const talks = calls.filter(({ talked }) => talked).map((call) => call.at + cap.afterTalkMs);
    return Math.max(at, ...talks);
  }
  const recent = calls.map((call) => call.at).filter((placed) => placed > at - cap.withinMs);
  if (recent.length < cap.calls) return at;
  // The last call that must leave the window before another fits.
  const leaving = recent.sort((a, b) => a - b)[recent.length - cap.calls];
  return (leaving ?? at) + cap.withinMs;
}

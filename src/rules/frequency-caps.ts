/** How often the phone of one number, or of one person, may ring over all campaigns. Only calls that were placed count. */
export type FrequencyCap = {
  by: 'number' | 'person';
} & (
  | {
      /** At most so many calls … */
      calls: number;
      /** … in any such stretch of time, milliseconds. */
      withinMs: number;
    }
  /** No call for this long after a conversation. */
  | { afterTalkMs: number }
);

/** A call that was placed, by whatever campaign. */
export interface PlacedCall {
  /** When it rang; while that is not known, the last instant at which it may ring. */
  at: number;
  /** Somebody was talked to. */
  talked: boolean;
}

/** How far back calls matter. */
export function capsLookBackMs(caps: readonly FrequencyCap[]): number {
  return Math.max(0, ...caps.map((cap) => ('afterTalkMs' in cap ? cap.afterTalkMs : cap.withinMs)));
}

/**
 * The earliest instant, `at` or later, from which on one more call may be requested: however long the service queues it then, no stretch of
 * time holds more rings than a cap allows. `calls` are those to the number or the person.
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
  // One more fits once so many have left the window that this one is the last it holds.
  const leaving = recent.sort((a, b) => a - b)[recent.length - cap.calls];
  return (leaving ?? at) + cap.withinMs;
}

/** Service time: what the sandbox calls "now". All its records, headers and timers live on it. */
export interface Clock {
  readonly speed: number;
  readonly anchorRealMs: number;
  readonly anchorServiceMs: number;
  /** Epoch milliseconds of service time, whole. */
  now(): number;
  /** Epoch milliseconds of the machine's clock. */
  realNow(): number;
  /** Real milliseconds that pass while `serviceMs` pass on this clock. */
  toRealMs(serviceMs: number): number;
}

export interface ScaledClockOptions {
  /** Service milliseconds per real millisecond; 1 is real time. */
  speed: number;
  /** Service time at the moment of creation; the machine's time when left out. */
  epochMs?: number | undefined;
  realNow?: () => number;
}

/** service now = anchorServiceMs + (real now − anchorRealMs) × speed. */
export function createScaledClock({ speed, epochMs, realNow = Date.now }: ScaledClockOptions): Clock {
  const anchorRealMs = realNow();
  const anchorServiceMs = epochMs ?? anchorRealMs;
  return {
    speed,
    anchorRealMs,
    anchorServiceMs,
    realNow,
    now: () => Math.floor(anchorServiceMs + (realNow() - anchorRealMs) * speed),
    toRealMs: (serviceMs) => serviceMs / speed,
  };
}

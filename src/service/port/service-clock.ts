/** The clock that the service lives by: real time, or that of a sandbox that runs faster. */
export interface ServiceClock {
  /** Seconds of the service per real second. */
  speed: number;
  sandbox: boolean;
  dialect: 'spec' | 'extended' | 'published' | null;
  /** Epoch milliseconds at the service. */
  now(): number;
  /** Real milliseconds that a span of service time takes. */
  toRealMs(serviceMs: number): number;
  /** Real epoch milliseconds at which the service's clock shows this instant. */
  atReal(serviceInstantMs: number): number;
}

/** Time as it is, for a service that is no sandbox. */
export function realClock(nowReal: () => number = Date.now): ServiceClock {
  return { speed: 1, sandbox: false, dialect: null, now: nowReal, toRealMs: (ms) => ms, atReal: (instant) => instant };
}

/** One reading of the service's clock: its Date header, and when the request left and its answer came, on our clock. */
export interface ServiceDate {
  serverMs: number;
  sentAtMs: number;
  receivedAtMs: number;
}

/** What the service's `Date` said last, on the clock that it keeps. */
export interface ClockReading {
  /** Epoch milliseconds of the service's clock, to the whole second. */
  serverMs: number;
  /** When the answer was whole, on a clock of this process that never jumps. */
  monotonicMs: number;
  /** How long before that the service may have looked at its clock, at most. */
  tripMs: number;
}

/** What all answers so far have shown of the service's clock; ages are real milliseconds. */
export interface ServiceReadings {
  /** Null: no answer has told the time, or none since a connection failed. */
  last: ClockReading | null;
  /** Milliseconds since the last answer, whether it told the time or not; Infinity: there was none. */
  answeredMsAgo: number;
  /** Milliseconds since `last`; 0 without it. */
  ageMs: number;
  /** A connection failed and nothing was answered since: whoever answers next may have another clock. */
  connectionFailed: boolean;
}

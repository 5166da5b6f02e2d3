/** The service's clock: real time, or the faster one of a sandbox. */
export interface ServiceClock {
  /** Service seconds per real second. */
  speed: number;
  sandbox: boolean;
  dialect: 'spec' | 'extended' | 'published' | null;
  /** Service time, epoch ms. */
  now(): number;
  /** Real ms of a span of service time. */
  toRealMs(serviceMs: number): number;
  /** Real epoch ms of a service instant. */
  atReal(serviceInstantMs: number): number;
}

/** Real time, for a service that is no sandbox. */
export function realClock(nowReal: () => number = Date.now): ServiceClock {
  return { speed: 1, sandbox: false, dialect: null, now: nowReal, toRealMs: (ms) => ms, atReal: (instant) => instant };
}

/** A Date header, with send and receive times on our clock. */
export interface ServiceDate {
  serverMs: number;
  sentAtMs: number;
  receivedAtMs: number;
}

/** The last `Date` of the service. */
export interface ClockReading {
  /** Service time in epoch ms, to the whole second. */
  serverMs: number;
  /** When the answer was complete, on a monotonic clock of this process. */
  monotonicMs: number;
  /** Most milliseconds that the service's reading may be older than that. */
  tripMs: number;
}

/** The service's clock, as all answers showed it; ages are real ms. */
export interface ServiceReadings {
  /** Null: no answer had a time, or none since a connection failed. */
  last: ClockReading | null;
  /** Ms since the last answer, with or without a time; Infinity: none yet. */
  answeredMsAgo: number;
  /** 0 without `last`. */
  ageMs: number;
  /** A connection failed and no request succeeded since: the next answer may come from another clock. */
  connectionFailed: boolean;
}

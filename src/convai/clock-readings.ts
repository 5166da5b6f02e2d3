import { headerOf } from './answer-errors.ts';
import type { Headers } from './exchange.ts';
import { parseHttpDate } from './retry-after.ts';

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

/** Epoch milliseconds of an answer's Date, or null. With an `Age` it comes from a cache and tells an earlier time. */
export function readDate(headers: Headers | null): number | null {
  const date = headerOf(headers ?? {}, 'date');
  return date === null || headerOf(headers ?? {}, 'age') !== null ? null : parseHttpDate(date);
}

/** Remembers what the answers of one service told of its clock. */
export function createClockReadings(monotonicMs: () => number) {
  let last: ClockReading | null = null;
  let answeredAt = -Infinity;
  let connectionFailed = false;
  return {
    /** An answer with these headers came to a request that was begun at `begunAt` (monotonic). */
    noteAnswer(headers: Headers | null, begunAt: number, succeeded: boolean): void {
      const serverMs = readDate(headers);
      answeredAt = monotonicMs();
      // A refusal may come from something in front of the service: only its own answer ends the doubt about who is there.
      if (connectionFailed && !succeeded) return;
      if (connectionFailed) last = null;
      connectionFailed = false;
      if (serverMs !== null) last = { serverMs, monotonicMs: answeredAt, tripMs: answeredAt - begunAt };
    },
    noteFailedConnection(): void {
      connectionFailed = true;
    },
    read(): ServiceReadings {
      const now = monotonicMs();
      const ageMs = last === null ? 0 : now - last.monotonicMs;
      return { last, ageMs, answeredMsAgo: now - answeredAt, connectionFailed };
    },
  };
}

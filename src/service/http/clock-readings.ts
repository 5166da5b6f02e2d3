import { headerOf, parseHttpDate } from './answer-errors.ts';
import type { Headers } from './exchange.ts';
import type { ClockReading, ServiceReadings } from '../port/service-clock.ts';

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

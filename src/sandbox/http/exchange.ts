import type { ControlAbout } from './serve-control.ts';
import type { FaultHit } from '../faults/book.ts';
import type { BatchPointInfo } from '../core/gates.ts';
import type { Capture } from '../judge/captures.ts';
import type { JournalEntry } from '../judge/journal.ts';
import type { OperationName } from '../core/operations.ts';

/** What the sandbox keeps about a request while it is answered. */
export interface Exchange {
  /** Goes out as `request_id` of an error body. */
  errorId: string;
  requestId: string | null;
  apiKey: string | null;
  entry: JournalEntry | null;
  capture: Capture | null;
  /** The route that may have been meant, where there is none. */
  hint: string | null;
  hits: FaultHit[];
  /** The sandbox itself cut the connection. */
  cut: boolean;
  /** Parameters of the query that are not known here, as a header can tell them. */
  ignored: string[];
  /** Set for batch requests whose body was read. */
  batch: Omit<BatchPointInfo, 'point'> | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange;
  }
  interface FastifyContextConfig {
    operation?: OperationName;
    /** One of the sandbox's own controls. */
    control?: ControlAbout;
    /** No operation of the contract, but an API key is needed. */
    keyed?: boolean;
  }
}

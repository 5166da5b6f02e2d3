import type { ServiceTime } from './clocks.ts';
import type { BatchState } from '../../domain/ledger.ts';
import type { Campaign } from '../rows/campaigns.ts';

export interface PostingCall {
  attemptId: string;
  e164: string;
  cells: string[];
  openingLine: string | null;
  reference: string | null;
}

export type PostingStep =
  /** `posting` is committed: this caller, and no other, may make POST number `k` before `deadlineReal`. */
  | { kind: 'post'; campaign: Campaign; k: number; deadlineReal: number; caller: string; calls: PostingCall[] }
  /** The batch has its verdict; nothing may be sent. */
  | { kind: 'verdict'; state: BatchState }
  /** Nothing was sent; ask again at `until` (service time). */
  | { kind: 'blocked'; until: number }
  /** Whether `posting` was committed is not known: the caller sends nothing, and says so of its own entry. */
  | { kind: 'unsure'; k: number; entry: string; error: unknown };

export interface PostingInput extends Partial<ServiceTime> {
  batchId: string;
  /** Service time. */
  now: number;
  nowReal: number;
  /** How long after `posting` is committed the POST may still begin; real milliseconds. */
  postingWindowMs: number;
  /** How long the client waits for an answer once the POST has begun; real milliseconds. */
  httpTimeoutMs: number;
  /** Service milliseconds per real millisecond. */
  speed: number;
  /** An earlier try was about to make this POST: a ledger without it is an older one. */
  witnessed?: number;
}

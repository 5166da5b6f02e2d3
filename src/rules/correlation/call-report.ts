import type { CallResult } from '../conversation-facts.ts';

/** What became of a request whose answer was lost. */
export type Found =
  | { kind: 'accepted'; serviceBatchId: string }
  /** `certain`: it never was carried out, and never will be. Otherwise no list that was read to its end shows it. */
  | { kind: 'absent'; certain: boolean }
  /** It was carried out more than once. */
  | { kind: 'several'; serviceBatchIds: readonly string[] }
  | { kind: 'not_readable'; retryAfterMs?: number };

/** What the service says of one call of a batch. */
export interface CallReport {
  /** Ours, as it was sent; null: the service names another, or none. */
  ref: string | null;
  /** E.164. */
  to: string | null;
  /** Null: a word of the service that is not known. */
  state: 'waiting' | 'dialling' | 'talking' | 'over' | 'withdrawn' | null;
  conversationId: string | null;
  /** Where the service says so. */
  result: CallResult | null;
  /** Somebody had the service call people of this batch again, whom no rule of ours was asked about. */
  again?: true;
}

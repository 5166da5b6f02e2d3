import type { CallResult } from '../conversation-facts.ts';

/** Outcome of a request whose reply was lost. */
export type LostRequestOutcome =
  | { kind: 'accepted'; serviceBatchId: string }
  /** `certain`: not carried out, and never will be. Otherwise absent from lists read to their end. */
  | { kind: 'absent'; certain: boolean }
  | { kind: 'several'; serviceBatchIds: readonly string[] }
  | { kind: 'not_readable'; retryAfterMs?: number };

/** The service's report on one call of a batch. */
export interface CallReport {
  /** Our reference as sent; null: the service names another, or none. */
  ref: string | null;
  /** E.164. */
  to: string | null;
  /** Null: an unknown state. */
  state: 'waiting' | 'dialling' | 'talking' | 'over' | 'withdrawn' | null;
  conversationId: string | null;
  /** Null: not reported. */
  result: CallResult | null;
  /** Called again at the service, without a check of our rules. */
  again?: true;
}

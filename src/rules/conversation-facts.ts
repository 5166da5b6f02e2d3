/** Status of a conversation as the service words it. Only `done` and `failed` end it. */
export type ConversationStatus = 'initiated' | 'in-progress' | 'processing' | 'done' | 'failed';
/** The carrier's word on a call. The contract promises none; only some services show it (see docs/assumptions.md). */
export type CallResult = 'answered' | 'voicemail' | 'busy' | 'no_answer' | 'failed';

/**
 * What one reading of a conversation record (or of its list entry) tells, whatever dialect it was written in.
 * `null` means "this record does not say"; an unfamiliar value reads as `null` too, never as an error.
 */
export interface ConversationFacts {
  conversationId: string;
  agentId: string | null;
  direction: 'outbound' | 'inbound' | null;
  /** E.164 number of the callee. */
  calleeNumber: string | null;
  batchId: string | null;
  /** E.164 number of the caller, in a record of an inbound call that shows it. */
  callerNumber?: string;
  /** Strings echoed from the per-call variables or collected values, where a reference of ours may stand. */
  references: string[];
  status: ConversationStatus | null;
  /** Epoch milliseconds on the service's clock, not corrected. */
  startedAt: number | null;
  endedAt: number | null;
  durationMs: number | null;
  callResult: CallResult | null;
  terminationReason: string | null;
  /** True when the record carried a transcript array at all (list entries usually do not). */
  hasTranscript: boolean;
  /** First turn spoken by the agent. */
  openingLine: string | null;
  agentTurns: number;
  userTurns: number;
  audio: string | null;
  collected: Record<string, unknown> | null;
  evaluation: Record<string, unknown> | null;
  /** The record says that it has no analysis: what it collected and evaluated is empty for that reason. */
  analysed?: false;
  /**
   * The report of its batch names it: it is nobody's until the record itself has been read. `alone`: the record shows neither number nor
   * reference, so that whose it is stands in the report alone.
   */
  reported?: true | 'alone';
  /** Values at the pointers that campaigns ask for, as text, by pointer; missing where none was asked for. */
  pointed?: Record<string, string>;
}

/** JSON pointers (RFC 6901) into records, from the campaign files of an agent. */
export interface RecordPointers {
  calleeNumber: readonly string[];
  batchId: readonly string[];
  reference: readonly string[];
  /** Whose values dispositions may follow from. */
  values: readonly string[];
}

/** For agents whose campaign files name no pointers. */
export const noPointers: RecordPointers = { calleeNumber: [], batchId: [], reference: [], values: [] };

/** Conversation status in the service's words. Only `done` and `failed` end it. */
export type ConversationStatus = 'initiated' | 'in-progress' | 'processing' | 'done' | 'failed';
/** The carrier's result. The contract promises none; only some services show it (docs/assumptions.md). */
export type CallResult = 'answered' | 'voicemail' | 'busy' | 'no_answer' | 'failed';

/**
 * Facts from one reading of a record or its list entry, in any dialect. `null`: not in the record, or an unfamiliar value; never an error.
 */
export interface ConversationFacts {
  conversationId: string;
  agentId: string | null;
  direction: 'outbound' | 'inbound' | null;
  /** E.164 number of the recipient. */
  calleeNumber: string | null;
  batchId: string | null;
  /** E.164 number of the caller, in an inbound record that shows it. */
  callerNumber?: string;
  /** Strings from variables or collected values that may contain our reference. */
  references: string[];
  status: ConversationStatus | null;
  /** Epoch ms on the service's clock, not corrected. */
  startedAt: number | null;
  endedAt: number | null;
  durationMs: number | null;
  callResult: CallResult | null;
  terminationReason: string | null;
  /** Whether the record has a transcript array (list entries usually do not). */
  hasTranscript: boolean;
  /** First turn spoken by the agent. */
  openingLine: string | null;
  agentTurns: number;
  userTurns: number;
  audio: string | null;
  collected: Record<string, unknown> | null;
  evaluation: Record<string, unknown> | null;
  /** The record says that it has no analysis; its values are empty for that reason. */
  analysed?: false;
  /** Named by its batch's report: no match until the record itself is read. `alone`: the record has neither number nor reference. */
  reported?: true | 'alone';
  /** Values at the campaigns' pointers, as text, by pointer; missing when none was requested. */
  pointed?: Record<string, string>;
}

/** JSON pointers (RFC 6901) into records, from the campaign files of an agent. */
export interface RecordPointers {
  calleeNumber: readonly string[];
  batchId: readonly string[];
  reference: readonly string[];
  /** Values that dispositions may follow from. */
  values: readonly string[];
}

/** For agents whose campaign files name no pointers. */
export const noPointers: RecordPointers = { calleeNumber: [], batchId: [], reference: [], values: [] };

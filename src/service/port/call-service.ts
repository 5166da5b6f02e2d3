import type { JsonObject } from '../../rules/conversation-override.ts';
import type { CallReport, Found } from '../../rules/correlation/call-report.ts';
import type { ConversationFacts, RecordPointers } from '../../rules/conversation-facts.ts';
import type { ServiceDate, ServiceReadings } from './service-clock.ts';
import { RateLimitedError, RefusedError, RequestInvalidError, type ServiceError } from './errors.ts';

export type { CallReport, Found };

/** What a service can do. The program asks this, never which service it is. */
export interface Abilities {
  /** How a request to dial that was never answered is looked up: by the records of its calls, by a mark in a list, or by its key. */
  readonly lookUp: 'records' | 'mark' | 'key';
  /** Whether the service itself says which conversation belongs to which of our recipients. */
  readonly namesRecipients: boolean;
  /** What can be taken back of a batch that was accepted. */
  readonly withdraw: 'nothing' | 'batch' | 'recipient';
}

/** One request to dial, as the ledger has committed it. */
export interface CallRequest {
  /** Names the request itself: it exists before the first byte is sent, and no other request ever has it. */
  mark: string;
  /** Shown in the service's dashboard: no data of people. */
  title: string;
  agentId: string;
  /** The service's id of the number to call from. */
  callerId: string;
  /** The key that the campaign file gives for the variables of a call, for a service that has no place of its own for them. */
  variablesKey: string | null;
  /** How many of its calls may be open at once, for a service with a queue of its own; null: as many as it has. */
  concurrency: number | null;
  calls: readonly RequestedCall[];
}

/** One call of a request. */
export interface RequestedCall {
  /** Names the attempt across all databases that use the account. */
  ref: string;
  /** E.164. */
  to: string;
  /** Settings of this call in place of the agent's. */
  override: JsonObject | null;
  variables: Readonly<Record<string, string>> | null;
}

/** How a request is sent: once, whatever happens. */
export interface SendOnce {
  /** Sent along where the service takes an id of a request. */
  requestId: string;
  /** Asked once, when all is ready; false ends it with nothing sent. */
  mayBegin: () => boolean;
}

/** What an answer tells whatever it says; null where none came, or it does not tell. */
export interface AnswerFacts {
  status: number | null;
  requestId: string | null;
  /** The service's clock, in epoch milliseconds. */
  serviceMs: number | null;
}

/** What is known of a request to dial. What proves nothing is `unknown`: the calls may have been placed. */
export type Placing =
  /** `accepted`: how many calls the service says it queued; null: it does not say. */
  | { kind: 'accepted'; serviceBatchId: string; accepted: number | null; serviceMs: number | null }
  /** No call was queued. `retryAfterMs`: how long the service asks to be left alone, on its clock. */
  | ({ kind: 'not_sent'; retryAfterMs: number | null } & Failed)
  /** No call was queued. `wholeRequest`: for something outside the calls, so that smaller batches would not mend it. */
  | ({ kind: 'refused'; wholeRequest: boolean; message: string | null } & Failed)
  | ({ kind: 'unknown' } & Failed);

interface Failed extends AnswerFacts {
  /** Name and code of the failure, for logs: never the service's words. */
  fault: string;
}

/** How records are read: what a record leaves out, and where a campaign says that something stands. */
export interface Reading {
  /** Of records that name none. */
  agentId?: string;
  pointers?: RecordPointers;
}

/** What one of the two said. */
export interface Turn {
  speaker: string;
  text: string | null;
  /** As the service reports it: an instant, or seconds since the call began. */
  time: string | number | null;
}

/** One conversation as the service has it. */
export interface ServiceRecord {
  facts: ConversationFacts;
  turns: readonly Turn[];
  /** As it came. */
  document: Readonly<Record<string, unknown>>;
}

/** A page of the service's list of conversations. */
export interface RecordPage {
  records: readonly ConversationFacts[];
  /** Entries that cannot be used otherwise: what they are of is not known, so they may be of any call. Some have an empty id. */
  unusable: readonly ConversationFacts[];
  /** Null when the list does not say. */
  hasMore: boolean | null;
  nextCursor: string | null;
  serviceDate: ServiceDate | null;
}

/** A batch in the service's list. */
export interface ListedBatch {
  id: string;
  /** Its mark stands at the end, see `CallRequest`. */
  name: string;
  /** How often somebody had it call again whom it had not reached; null: the service does not say. */
  retries: number | null;
}

/** An agent, as far as the program knows agents. */
export interface AgentFacts {
  id: string;
  name: string | null;
  /** Settings that a call may have in place of the agent's, each `true`; null: all, or the service does not say. */
  permitted?: JsonObject | null;
  /** Keys of the values that it collects and of the criteria by which its calls are evaluated; left out: the service does not say. */
  keys?: Readonly<Record<'collected' | 'evaluation', readonly string[]>>;
  /** Values that its variables have where a call gives none, by their names; left out: not asked, or the service does not say. */
  placeholders?: Readonly<Record<string, string>>;
  /** Hash of its name and settings, another one whenever the service shows them otherwise; left out: not asked. */
  print?: string;
}

/** A number to call from. */
export interface CallerNumber {
  id: string;
  /** As the service writes it. */
  number: string | null;
  label: string | null;
  /** Null when the service does not tell. */
  verified: boolean | null;
}

/** What is read of a service, whichever way calls are placed there. */
export interface ServiceReads {
  record(conversationId: string, reading?: Reading): Promise<ServiceRecord>;
  /** A page of conversations, in the service's order. */
  records(filter: { agentId?: string; cursor?: string; pageSize?: number }, pointers?: RecordPointers): Promise<RecordPage>;
  /** All pages, without the entries that cannot be used. Ends silently where the list cannot be followed. */
  allRecords(filter: { agentId: string }, pointers?: RecordPointers): AsyncIterable<ConversationFacts>;
  agent(agentId: string): Promise<AgentFacts>;
  agents(): AsyncIterable<AgentFacts>;
  /** Throws where one of `sought` is not there while an entry of the list cannot be read: that may be the one. */
  callers(sought?: readonly string[]): Promise<readonly CallerNumber[]>;
  /** What the answers so far told of the service's clock. */
  clockReadings(): ServiceReadings;
  /** Ends reads under way and waits for writes; later calls are refused unsent. */
  close(): Promise<void>;
}

/**
 * The way to a service that places calls. Whatever fails throws a `ServiceError`, whose `knowledge` says what is known of its effect;
 * reads may be repeated at will.
 */
export interface CallService extends ServiceReads {
  readonly abilities: Abilities;
  /** Dials people. Throws nothing that a service could cause. */
  place(request: CallRequest, once: SendOnce): Promise<Placing>;
  /** Looks for a request without an answer. Dials nobody. There where `lookUp` is `mark` or `key`. `since`: service time. */
  find?(post: { mark: string; agentId: string; callerId: string; since: number }): Promise<Found>;
  /** All batches of the account, or of one agent. Throws where one may be missing. There where `lookUp` is `mark` or `key`. */
  batches?(agentId?: string): AsyncIterable<ListedBatch>;
  /** All calls of one batch. There where `namesRecipients`. */
  report?(serviceBatchId: string): Promise<readonly CallReport[]>;
  /** There where `withdraw` is not `nothing`. What was taken back is what `report` says afterwards, not this answer. */
  withdraw?(serviceBatchId: string, refs: readonly string[] | 'all'): Promise<void>;
}

/**
 * What the failure of a request to dial proves. `isAboutWhole`: whether a refusal complains about something outside the calls, which
 * smaller batches would not mend.
 */
export function placingOf(error: ServiceError, isAboutWhole: (error: RefusedError) => boolean): Placing {
  const fault = 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
  if (error instanceof RequestInvalidError) {
    const answer = { status: 422, requestId: null, serviceMs: null };
    return { kind: 'refused', wholeRequest: false, message: error.problems.join('; '), ...answer, fault };
  }
  const status = 'status' in error && typeof error.status === 'number' ? error.status : null;
  const failed = { status, requestId: error.requestId, serviceMs: error.serviceMs, fault };
  if (error.knowledge === 'not_sent') return { kind: 'not_sent', retryAfterMs: null, ...failed };
  if (error.knowledge === 'queued_nothing') {
    const retryAfterMs = error instanceof RateLimitedError ? error.retryAfterMs : null;
    return { kind: 'not_sent', retryAfterMs, ...failed };
  }
  if (error instanceof RefusedError)
    return { kind: 'refused', wholeRequest: isAboutWhole(error), message: error.detail.message, ...failed };
  return { kind: 'unknown', ...failed };
}

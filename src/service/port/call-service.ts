import type { JsonObject } from '../../rules/conversation-override.ts';
import type { CallReport, LostRequestOutcome } from '../../rules/correlation/call-report.ts';
import type { ConversationFacts, RecordPointers } from '../../rules/conversation-facts.ts';
import type { ServiceDate, ServiceReadings } from './service-clock.ts';
import { RateLimitedError, RefusedError, RequestInvalidError, type ServiceError } from './errors.ts';

export type { CallReport, LostRequestOutcome as Found };

/** What a service can do. The program checks only these. */
export interface Abilities {
  /** How to look up an unanswered dial request: by call records, by a mark in a list, or by its key. */
  readonly lookUp: 'records' | 'mark' | 'key';
  /** The service reports which conversation belongs to which recipient. */
  readonly namesRecipients: boolean;
  /** What can be withdrawn from an accepted batch. */
  readonly withdraw: 'nothing' | 'batch' | 'recipient';
}

/** A dial request, as committed in the ledger. */
export interface CallRequest {
  /** Unique id of the request, committed before the first byte is sent. */
  mark: string;
  /** Shown in the service's dashboard; no personal data. */
  title: string;
  agentId: string;
  /** The service's id of the caller number. */
  callerId: string;
  /** Campaign-file key for call variables, for a service without a field for them. */
  variablesKey: string | null;
  /** Most open calls, for a service with its own queue; null: no limit. */
  concurrency: number | null;
  calls: readonly RequestedCall[];
}

/** One call of a request. */
export interface RequestedCall {
  /** Id of the attempt, unique across all databases that use the account. */
  ref: string;
  /** E.164. */
  to: string;
  /** Settings of this call that override the agent's. */
  override: JsonObject | null;
  variables: Readonly<Record<string, string>> | null;
}

/** Options of a request that is sent only once. */
export interface SendOnce {
  /** Sent if the service accepts request ids. */
  requestId: string;
  /** Called once, when all is ready; false aborts unsent. */
  mayBegin: () => boolean;
}

/** Facts of any answer; null: no answer, or not stated. */
export interface AnswerFacts {
  status: number | null;
  requestId: string | null;
  /** The service's clock, in epoch ms. */
  serviceMs: number | null;
}

/** What is known of a dial request. Anything unproven is `unknown`: the calls may have been placed. */
export type Placing =
  /** `accepted`: calls the service says it queued; null: not stated. */
  | { kind: 'accepted'; serviceBatchId: string; accepted: number | null; serviceMs: number | null }
  /** No call was queued. `retryAfterMs`: wait that the service asks for, on its clock. */
  | ({ kind: 'not_sent'; retryAfterMs: number | null } & Failed)
  /** No call was queued. `wholeRequest`: smaller batches would not help. */
  | ({ kind: 'refused'; wholeRequest: boolean; message: string | null } & Failed)
  | ({ kind: 'unknown' } & Failed);

interface Failed extends AnswerFacts {
  /** Name and code of the failure, for logs; never the service's text. */
  fault: string;
}

/** A fallback for what records omit, and a campaign's pointers. */
export interface Reading {
  /** For records without an agent id. */
  agentId?: string;
  pointers?: RecordPointers;
}

/** One turn. */
export interface Turn {
  speaker: string;
  text: string | null;
  /** As the service reports it: an instant, or seconds since the call began. */
  time: string | number | null;
}

/** One conversation of the service. */
export interface ServiceRecord {
  facts: ConversationFacts;
  turns: readonly Turn[];
  document: Readonly<Record<string, unknown>>;
}

/** A page of the service's list of conversations. */
export interface RecordPage {
  records: readonly ConversationFacts[];
  /** Entries that do not fit the contract; they may belong to any call. Some have an empty id. */
  unusable: readonly ConversationFacts[];
  /** Null: not stated. */
  hasMore: boolean | null;
  nextCursor: string | null;
  serviceDate: ServiceDate | null;
}

/** A listed batch. */
export interface ListedBatch {
  id: string;
  /** Ends with the mark of `CallRequest`. */
  name: string;
  /** Runs of the service's own retry of unreached recipients; null: not stated. */
  retries: number | null;
}

/** An agent, as far as it is read. */
export interface AgentFacts {
  id: string;
  name: string | null;
  /** Settings that a call may override, each `true`; null: all, or not stated. */
  permitted?: JsonObject | null;
  /** Keys of collected values and evaluation criteria; omitted: not stated. */
  keys?: Readonly<Record<'collected' | 'evaluation', readonly string[]>>;
  /** Values of its variables when a call gives none, by name; omitted: not read, or not stated. */
  placeholders?: Readonly<Record<string, string>>;
  /** Hash of name and settings that changes when they do; omitted: not read. */
  print?: string;
}

/** A caller number. */
export interface CallerNumber {
  id: string;
  /** As the service writes it. */
  number: string | null;
  label: string | null;
  /** Null: not stated. */
  verified: boolean | null;
}

/** Reads that every interface shares. */
export interface ServiceReads {
  record(conversationId: string, reading?: Reading): Promise<ServiceRecord>;
  /** In the service's order. */
  records(filter: { agentId?: string; cursor?: string; pageSize?: number }, pointers?: RecordPointers): Promise<RecordPage>;
  /** All pages, without unusable entries. Ends silently when it cannot page on. */
  allRecords(filter: { agentId: string }, pointers?: RecordPointers): AsyncIterable<ConversationFacts>;
  agent(agentId: string): Promise<AgentFacts>;
  agents(): AsyncIterable<AgentFacts>;
  /** Throws when one of `sought` is missing while an entry is unreadable: it may be that one. */
  callers(sought?: readonly string[]): Promise<readonly CallerNumber[]>;
  clockReadings(): ServiceReadings;
  /** Aborts reads, waits for writes; later calls are refused unsent. */
  close(): Promise<void>;
}

/** Failures throw a `ServiceError` whose `knowledge` states their known effect; reads may be repeated freely. */
export interface CallService extends ServiceReads {
  readonly abilities: Abilities;
  /** Dials people. Throws nothing that a service could cause. */
  place(request: CallRequest, once: SendOnce): Promise<Placing>;
  /** Looks up a request without an answer; places no call. Present when `lookUp` is `mark` or `key`. `since`: service time. */
  find?(post: { mark: string; agentId: string; callerId: string; since: number }): Promise<LostRequestOutcome>;
  /** All batches of the account or an agent. Throws when one may be missing. Present when `lookUp` is `mark` or `key`. */
  batches?(agentId?: string): AsyncIterable<ListedBatch>;
  /** All calls of one batch. Present when `namesRecipients`. */
  report?(serviceBatchId: string): Promise<readonly CallReport[]>;
  /** Present unless `withdraw` is `nothing`. Only a later `report` shows what was withdrawn. */
  withdraw?(serviceBatchId: string, refs: readonly string[] | 'all'): Promise<void>;
}

/** What a failed dial request proves. `isAboutWhole`: smaller batches would not help. */
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

import type { PromiseState } from '../rules/callback-rules.ts';
import { bytes, integer, integerKey, integerOr, integerOrNull, text, textKey, textOrNull } from './columns.ts';

/** `failing`: nothing was taken for days, and is still tried; `disabled`: the receiver said for good that it wants nothing. */
export type WebhookState = 'active' | 'failing' | 'paused' | 'disabled';

/**
 * Tables of no single campaign: what is known of the service, whichever campaign learnt it, and who is told of events, who may ask for
 * what, and what is put together in the console.
 */
export const serviceTables = {
  accounts: {
    /** The service's base URL: rate limits belong to whoever is behind it. */
    account_id: textKey(),
    /** Nothing is posted before this instant (Retry-After of an earlier refusal). */
    not_before: integer(),
    /** Calls that all campaigns together may have open; null: no limit of its own. */
    max_concurrent_calls: integerOrNull(),
    /** Part of `max_concurrent_calls` that is left to others, in thousandths. */
    keep_free: integerOr(0),
    /** What the service has shown to bear, in thousandths of what the campaigns ask for (AIMD). */
    pace: integerOr(1000),
    /** Instant at which `pace` was last cut. */
    pace_at: integerOr(0),
    /** When a step of a clock was last noticed, the service's or a worker's; 0: never. */
    stepped_at: integerOr(0),
    /** By how many real milliseconds the service's clock is ahead of a worker's, while that is too much to dial; else 0. */
    clocks_apart_ms: integerOr(0),
    /** The last reading of the service's clock that was kept, and the database's own clock (real time) then. */
    read_service: integerOrNull(),
    read_database: integerOrNull(),
    /** When a request of the account last began, on the database's clock. */
    requested_database: integerOrNull(),
  },
  conversations: {
    conversation_id: textKey(),
    agent_id: text(),
    attempt_id: textOrNull(),
    first_seen_at: integer(),
    started_at: integerOrNull(),
    /** ConversationFacts as JSON, merged from list entry and record. */
    facts: text(),
    /** 1: the call is over as far as the record tells. */
    finished: integer(),
    finished_at: integerOrNull(),
    /** 1: will not be read again. */
    final: integer(),
    /** 1: listed, but the record can no longer be read. */
    gone: integer(),
    reads: integer(),
    unchanged_reads: integer(),
    unchanged_since: integerOrNull(),
    /** Since when every read of this record alone has failed, or null. */
    unreadable_since: integerOrNull(),
    next_read_at: integer(),
    /** Length of the log when it was first listed. */
    seen_seq: integerOr(0),
    /** How likely somebody spoke: 0 nobody by the carrier's word, 1 empty without duration, 2 empty within the ring, 3 may be a talk. */
    talk: integerOr(3),
    /** When the last complete sweep that did not list it had begun, on the service's clock; null: none. */
    missed_at: integerOrNull(),
    /** 1: somebody asks in it not to be called again, and what follows from that is still to be done; 2: it has been. */
    heard: integerOr(0),
    /** The number that called, in an inbound record. */
    caller: textOrNull(),
  },
  agents: {
    agent_id: textKey(),
    lease_owner: textOrNull(),
    lease_until_real: integer(),
    /** End of the last sweep that read the list as far as needed without a fault. */
    complete_sweep_at: integerOrNull(),
    /** Last time any read of the list succeeded. */
    read_ok_at: integerOrNull(),
    /** When that sweep had begun. */
    complete_begun_at: integerOrNull(),
    /** The same of the last one that read further back than to records that were final before, and back to when it read. */
    swept_begun_at: integerOrNull(),
    swept_from: integerOrNull(),
    /** The newest start that the list has shown. */
    newest_start: integerOrNull(),
    /** Finished outbound records in a row that showed number or reference. */
    telling_run: integerOr(0),
    /** Finished records of calls that a report named, in a row, that showed our reference by themselves. */
    naming_run: integerOr(0, 11),
    /** 1 once an answered record has shown words. */
    words_shown: integerOr(0),
    /** Start of the first and of the last record whose words were those of the attempt that owns it. */
    words_first: integerOrNull(),
    words_last: integerOrNull(),
    /** Start of the last of those in which the words were cut off. */
    cut_at: integerOrNull(6),
    /** 1 once a record has shown an empty transcript and no duration. */
    bare_shown: integerOr(0),
    /** The longest duration that a record with an empty transcript has shown. */
    longest_empty_ms: integerOr(0),
    /** The longest time from a POST to the start of its call, and from the end of a call to its listing. */
    longest_delay_ms: integerOr(0),
    longest_lag_ms: integerOr(0),
  },
  /** Addresses that events of the log are sent to, and how far each has them. */
  webhooks: {
    webhook_id: textKey(),
    /** As it was written: it may only say where the address stands. */
    url: text(),
    /** Null: of all campaigns. */
    campaign_id: textOrNull(),
    /** WebhookEventTypes as a JSON array; null: all, those of later versions included. */
    types: textOrNull(),
    /** `person`, or `person:` and the name of a token. */
    made_by: text(),
    made_real: integer(),
    state: text<WebhookState>(),
    reason: textOrNull(),
    since_real: integer(),
    /** Number of the last event that the receiver has confirmed, or that is nothing for it. */
    cursor: integer(),
    /** Random, of the delivery that is at work: an earlier one that wakes up moves nothing any more. */
    deliverer: textOrNull(),
    /** In a row. */
    failures: integerOr(0),
    failing_since_real: integerOrNull(),
    succeeded_real: integerOrNull(),
    failed_real: integerOrNull(),
    /** HookFault of the last failure, and the status of the answer, if there was one. */
    fault: textOrNull(),
    status: integerOrNull(),
  },
  tokens: {
    token_id: textKey(),
    /** Whoever has it; stands in the log beside each change. */
    name: text(),
    role: text<'read' | 'operate' | 'admin'>(),
    /** SHA-256 of the secret as hex. The secret itself is random and stored nowhere. */
    hash: text(),
    created_real: integer(),
    /** Null: until it is revoked. */
    expires_real: integerOrNull(),
    revoked_real: integerOrNull(),
    used_real: integerOrNull(14),
  },
  /** Changes asked for under an `Idempotency-Key`, for good: the same key never does anything twice. */
  answers: {
    token_id: textKey(),
    key: textKey(),
    /** Hashes of method, path and what was sent, as JSON: the same key for something else is refused. */
    fingerprint: text(),
    /** Random, of the try that is at work or was. */
    entry: text(),
    begun_real: integer(),
    /** Null while it is being done. */
    status: integerOrNull(),
    body: textOrNull(),
  },
  /** Campaigns that somebody is putting together on the page; nothing of them is called. */
  drafts: {
    draft_id: textKey(),
    token_id: text(),
    made_real: integer(),
    touched_real: integer(),
    /** Its list, in `draft_pieces`; another upload is another list. */
    list_id: text(),
    list_name: text(),
    list_bytes: integer(),
    /** What was written so far and the first rows of the list, as JSON. */
    settings: text(),
  },
  /** Lists of drafts, in pieces of at most 1 MB. Pieces that no draft names were left by an upload that ended early. */
  draft_pieces: { list_id: textKey(), place: integerKey(), kept_real: integer(), bytes: bytes() },
  /** Who is signed in on the page, by the SHA-256 of what their cookie holds. */
  sessions: { hash: textKey(), token_id: text(), ends_real: integer() },
  /** The last rehearsal of a draft, and of the campaign that it became. */
  rehearsals: { draft_id: textKey(), campaign_id: textOrNull(), edition: text(), report: textOrNull() },
  /** Promises to call somebody back, and what became of them. */
  promises: {
    promise_id: textKey(),
    campaign_id: text(),
    recipient_id: text(),
    e164: text(),
    /** Open: the call is requested from `due_at` on and before `until`. Both null where it is unclear. */
    state: text<PromiseState>(),
    due_at: integerOrNull(),
    until: integerOrNull(),
    /** What the wall of the callee shows then, such as `2030-11-30 17:00`; null: an instant was said. */
    local: textOrNull(),
    said: textOrNull(),
    /** The call in which they asked for it; null: a person did. */
    from_attempt: textOrNull(),
    made_at: integer(),
    made_by: textOrNull(),
    /** Of an open one: what kept it last from being called. */
    reason: textOrNull(),
    /** The call by which it ended. */
    kept_by: textOrNull(),
    ended_at: integerOrNull(),
  },
  /** Wishes, and pauses that nobody wished: each is granted, or refused, once. */
  wishes: {
    campaign_id: textKey(),
    wish_id: textKey(),
    change: text(),
    granted: integer(),
    granted_at: integer(),
    /** The workflow's run that was told, and which of its wishes it was; null: made in the database alone. */
    run: textOrNull(),
    number: integerOrNull(),
  },
};

import type { CallbackState } from '../rules/callback-rules.ts';
import { bytes, integer, integerKey, integerOr, integerOrNull, text, textKey, textOrNull } from './columns.ts';

/** `failing`: no delivery for days, still tried; `disabled`: the receiver refused for good. */
export type WebhookState = 'active' | 'failing' | 'paused' | 'disabled';

/** Campaign-independent: knowledge of the service, webhooks, access, and drafts. */
export const serviceTables = {
  accounts: {
    /** The service's base URL, which has the rate limits. */
    account_id: textKey(),
    /** No POST before this: Retry-After of an earlier refusal. */
    not_before: integer(),
    /** Open calls over all campaigns; null: no limit of its own. */
    max_concurrent_calls: integerOrNull(),
    /** Part of `max_concurrent_calls` for others, in thousandths. */
    keep_free: integerOr(0),
    /** Load that the service bears, in thousandths of what the campaigns want (AIMD). */
    pace: integerOr(1000),
    /** When `pace` was last cut. */
    pace_at: integerOr(0),
    /** When a clock step of the service or a worker was last noticed; 0: never. */
    stepped_at: integerOr(0),
    /** Real milliseconds by which the service's clock is ahead of a worker's, if too many to dial; else 0. */
    clocks_apart_ms: integerOr(0),
    /** Last stored reading of the service's clock, and the database's clock (real time) then. */
    read_service: integerOrNull(),
    read_database: integerOrNull(),
    /** Last start of a request, on the database's clock. */
    requested_database: integerOrNull(),
  },
  conversations: {
    conversation_id: textKey(),
    agent_id: text(),
    attempt_id: textOrNull(),
    first_seen_at: integer(),
    started_at: integerOrNull(),
    /** ConversationFacts as JSON, from list entry and record. */
    facts: text(),
    /** 1: the call is over by its record. */
    finished: integer(),
    finished_at: integerOrNull(),
    /** 1: not read again. */
    final: integer(),
    /** 1: listed, but no longer readable. */
    gone: integer(),
    reads: integer(),
    unchanged_reads: integer(),
    unchanged_since: integerOrNull(),
    /** Since when every read of it alone has failed; null: none. */
    unreadable_since: integerOrNull(),
    next_read_at: integer(),
    /** Log length at its first listing. */
    seen_seq: integerOr(0),
    /** Chance of a talk: 0 none by the carrier, 1 empty without duration, 2 empty within the ring, 3 possible. */
    talk: integerOr(3),
    /** Start of the last complete sweep that missed it, by the service's clock; null: none. */
    missed_at: integerOrNull(),
    /** 1: an opt-out still to be handled; 2: handled. */
    heard: integerOr(0),
    /** Caller of an inbound call. */
    caller: textOrNull(),
  },
  agents: {
    agent_id: textKey(),
    lease_owner: textOrNull(),
    lease_until_real: integer(),
    /** End of the last sweep that read as far as needed, without a fault. */
    complete_sweep_at: integerOrNull(),
    /** Last successful read of the list. */
    read_ok_at: integerOrNull(),
    /** Start of that sweep. */
    complete_begun_at: integerOrNull(),
    /** Start of the last sweep past records already final, and back to when it read. */
    swept_begun_at: integerOrNull(),
    swept_from: integerOrNull(),
    /** Newest start listed. */
    newest_start: integerOrNull(),
    /** Finished outbound records in a row with number or reference. */
    telling_run: integerOr(0),
    /** Finished records of reported calls in a row that showed our reference by themselves. */
    naming_run: integerOr(0, 11),
    /** 1: an answered record has shown words. */
    words_shown: integerOr(0),
    /** Start of the first and last record with its own attempt's words. */
    words_first: integerOrNull(),
    words_last: integerOrNull(),
    /** Start of the last of them with words cut off. */
    cut_at: integerOrNull(6),
    /** 1: a record showed an empty transcript and no duration. */
    bare_shown: integerOr(0),
    /** Longest duration of a record with an empty transcript. */
    longest_empty_ms: integerOr(0),
    /** Longest time from POST to start of a call, and from its end to its listing. */
    longest_delay_ms: integerOr(0),
    longest_lag_ms: integerOr(0),
  },
  /** Receivers of events, and how far each has them. */
  webhooks: {
    webhook_id: textKey(),
    /** As written; may only name where the address is stored. */
    url: text(),
    /** Null: all campaigns. */
    campaign_id: textOrNull(),
    /** JSON array of WebhookEventTypes; null: all, later ones included. */
    types: textOrNull(),
    /** `person`, or `person:` and the name of a token. */
    made_by: text(),
    made_real: integer(),
    state: text<WebhookState>(),
    reason: textOrNull(),
    since_real: integer(),
    /** Last event confirmed by the receiver, or not meant for it. */
    cursor: integer(),
    /** Random, of the current delivery: an earlier one that wakes up changes nothing. */
    deliverer: textOrNull(),
    /** Consecutive failures. */
    failures: integerOr(0),
    failing_since_real: integerOrNull(),
    succeeded_real: integerOrNull(),
    failed_real: integerOrNull(),
    /** HookFault of the last failure, and its HTTP status, if any. */
    fault: textOrNull(),
    status: integerOrNull(),
  },
  tokens: {
    token_id: textKey(),
    /** Its holder; logged with each change. */
    name: text(),
    role: text<'read' | 'operate' | 'admin'>(),
    /** SHA-256 of the secret as hex. The random secret itself is stored nowhere. */
    hash: text(),
    created_real: integer(),
    /** Null: until revoked. */
    expires_real: integerOrNull(),
    revoked_real: integerOrNull(),
    used_real: integerOrNull(14),
  },
  /** Requests with an `Idempotency-Key`, for good: a key never acts twice. */
  answers: {
    token_id: textKey(),
    key: textKey(),
    /** Hashes of method, path and content as JSON: a key for something else is refused. */
    fingerprint: text(),
    /** Random, per try. */
    entry: text(),
    begun_real: integer(),
    /** Null while under way. */
    status: integerOrNull(),
    body: textOrNull(),
  },
  /** Campaigns being composed in the console; not dialled. */
  drafts: {
    draft_id: textKey(),
    token_id: text(),
    made_real: integer(),
    touched_real: integer(),
    /** Key in `draft_pieces`; each upload has its own. */
    list_id: text(),
    list_name: text(),
    list_bytes: integer(),
    /** Settings and the first rows of the list, as JSON. */
    settings: text(),
  },
  /** Pieces of lists, at most 1 MB. Without a draft: an upload that ended early. */
  draft_pieces: { list_id: textKey(), place: integerKey(), kept_real: integer(), bytes: bytes() },
  /** Console sessions by SHA-256 of the cookie. */
  sessions: { hash: textKey(), token_id: text(), ends_real: integer() },
  /** The last rehearsal of a draft, and of its campaign. */
  rehearsals: { draft_id: textKey(), campaign_id: textOrNull(), edition: text(), report: textOrNull() },
  /** Agreed callbacks. */
  promises: {
    promise_id: textKey(),
    campaign_id: text(),
    recipient_id: text(),
    e164: text(),
    /** Open: called from `due_at` on and before `until`. Both null: time unclear. */
    state: text<CallbackState>(),
    due_at: integerOrNull(),
    until: integerOrNull(),
    /** Recipient's local time, such as `2030-11-30 17:00`; null: an instant was given. */
    local: textOrNull(),
    said: textOrNull(),
    /** Call with the recipient's request; null: an operator made it. */
    from_attempt: textOrNull(),
    made_at: integer(),
    made_by: textOrNull(),
    /** What last delayed an open one. */
    reason: textOrNull(),
    /** The call that ended it. */
    kept_by: textOrNull(),
    ended_at: integerOrNull(),
  },
  /** Requests, and pauses without one; each granted or refused once. */
  wishes: {
    campaign_id: textKey(),
    wish_id: textKey(),
    change: text(),
    granted: integer(),
    granted_at: integer(),
    /** Workflow run and its number there; null: made in the database alone. */
    run: textOrNull(),
    number: integerOrNull(),
  },
};

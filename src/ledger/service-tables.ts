import type { Generated } from 'kysely';
import type { PromiseState } from '../rules/callback-rules.ts';

/** `failing`: nothing was taken for days, and is still tried; `disabled`: the receiver said for good that it wants nothing. */
export type WebhookState = 'active' | 'failing' | 'paused' | 'disabled';

/**
 * Tables of no single campaign: what is known of the service, whichever campaign learnt it, and who is told of events, who may ask for
 * what, and what is put together in the console. Part of `Database`.
 */
export interface ServiceTables {
  accounts: {
    /** The service's base URL: rate limits belong to whoever is behind it. */
    account_id: string;
    /** Nothing is posted before this instant (Retry-After of an earlier refusal). */
    not_before: number;
    /** Calls that all campaigns together may have open; null: no limit of its own. */
    max_concurrent_calls: number | null;
    /** Part of `max_concurrent_calls` that is left to others, in thousandths. */
    keep_free: number;
    /** What the service has shown to bear, in thousandths of what the campaigns ask for (AIMD). */
    pace: number;
    /** Instant at which `pace` was last cut. */
    pace_at: number;
    /** When a step of a clock was last noticed, the service's or a worker's; 0: never. */
    stepped_at: Generated<number>;
    /** By how many real milliseconds the service's clock is ahead of a worker's, while that is too much to dial; else 0. */
    clocks_apart_ms: Generated<number>;
    /** The last reading of the service's clock that was kept, and the database's own clock (real time) then. */
    read_service: number | null;
    read_database: number | null;
    /** When a request of the account last began, on the database's clock. */
    requested_database: number | null;
  };
  conversations: {
    conversation_id: string;
    agent_id: string;
    attempt_id: string | null;
    first_seen_at: number;
    started_at: number | null;
    /** ConversationFacts as JSON, merged from list entry and record. */
    facts: string;
    /** 1: the call is over as far as the record tells. */
    finished: number;
    finished_at: number | null;
    /** 1: will not be read again. */
    final: number;
    /** 1: listed, but the record can no longer be read. */
    gone: number;
    reads: number;
    unchanged_reads: number;
    unchanged_since: number | null;
    /** Since when every read of this record alone has failed, or null. */
    unreadable_since: number | null;
    next_read_at: number;
    /** Length of the log when it was first listed. */
    seen_seq: Generated<number>;
    /** How likely somebody spoke: 0 nobody by the carrier's word, 1 empty without duration, 2 empty within the ring, 3 may be a talk. */
    talk: Generated<number>;
    /** When the last complete sweep that did not list it had begun, on the service's clock; null: none. */
    missed_at: number | null;
    /** 1: somebody asks in it not to be called again, and what follows from that is still to be done; 2: it has been. */
    heard: Generated<number>;
    /** The number that called, in an inbound record. */
    caller: string | null;
  };
  agents: {
    agent_id: string;
    lease_owner: string | null;
    lease_until_real: number;
    /** End of the last sweep that read the list as far as needed without a fault. */
    complete_sweep_at: number | null;
    /** Last time any read of the list succeeded. */
    read_ok_at: number | null;
    /** When that sweep had begun. */
    complete_begun_at: number | null;
    /** The same of the last one that read further back than to records that were final before, and back to when it read. */
    swept_begun_at: number | null;
    swept_from: number | null;
    /** The newest start that the list has shown. */
    newest_start: number | null;
    /** Finished outbound records in a row that showed number or reference. */
    telling_run: Generated<number>;
    /** Finished records of calls that a report named, in a row, that showed our reference by themselves. */
    naming_run: Generated<number>;
    /** 1 once an answered record has shown words. */
    words_shown: Generated<number>;
    /** Start of the first and of the last record whose words were those of the attempt that owns it. */
    words_first: number | null;
    words_last: number | null;
    /** Start of the last of those in which the words were cut off. */
    cut_at: number | null;
    /** 1 once a record has shown an empty transcript and no duration. */
    bare_shown: Generated<number>;
    /** The longest duration that a record with an empty transcript has shown. */
    longest_empty_ms: Generated<number>;
    /** The longest time from a POST to the start of its call, and from the end of a call to its listing. */
    longest_delay_ms: Generated<number>;
    longest_lag_ms: Generated<number>;
  };
  /** Addresses that events of the log are sent to, and how far each has them. */
  webhooks: {
    webhook_id: string;
    /** As it was written: it may only say where the address stands. */
    url: string;
    /** Null: of all campaigns. */
    campaign_id: string | null;
    /** WebhookEventTypes as a JSON array; null: all, those of later versions included. */
    types: string | null;
    /** `person`, or `person:` and the name of a token. */
    made_by: string;
    made_real: number;
    state: WebhookState;
    /** Why it is disabled. */
    reason: string | null;
    /** Since when it is in its state. */
    since_real: number;
    /** Number of the last event that the receiver has confirmed, or that is nothing for it. */
    cursor: number;
    /** Random, of the delivery that is at work: an earlier one that wakes up moves nothing any more. */
    deliverer: string | null;
    /** In a row. */
    failures: Generated<number>;
    failing_since_real: number | null;
    succeeded_real: number | null;
    failed_real: number | null;
    /** HookFault of the last failure, and the status of the answer, if there was one. */
    fault: string | null;
    status: number | null;
  };
  tokens: {
    token_id: string;
    /** Whoever has it; stands in the log beside each change. */
    name: string;
    role: 'read' | 'operate' | 'admin';
    /** SHA-256 of the secret as hex. The secret itself is random and stored nowhere. */
    hash: string;
    created_real: number;
    /** Null: until it is revoked. */
    expires_real: number | null;
    revoked_real: number | null;
    used_real: number | null;
  };
  /** Changes asked for under an `Idempotency-Key`, for good: the same key never does anything twice. */
  answers: {
    token_id: string;
    key: string;
    /** Hashes of method, path and what was sent, as JSON: the same key for something else is refused. */
    fingerprint: string;
    /** Random, of the try that is at work or was. */
    entry: string;
    begun_real: number;
    /** Null while it is being done. */
    status: number | null;
    body: string | null;
  };
  /** Campaigns that somebody is putting together on the page; nothing of them is called. */
  drafts: {
    draft_id: string;
    token_id: string;
    made_real: number;
    touched_real: number;
    /** Its list, in `draft_pieces`; another upload is another list. */
    list_id: string;
    list_name: string;
    list_bytes: number;
    /** What was written so far and the first rows of the list, as JSON. */
    settings: string;
  };
  /** Lists of drafts, in pieces of at most 1 MB. Pieces that no draft names were left by an upload that ended early. */
  draft_pieces: { list_id: string; place: number; kept_real: number; bytes: Uint8Array };
  /** Who is signed in on the page, by the SHA-256 of what their cookie holds. */
  sessions: { hash: string; token_id: string; ends_real: number };
  /** The last rehearsal of a draft, and of the campaign that it became. */
  rehearsals: { draft_id: string; campaign_id: string | null; edition: string; report: string | null };
  /** Promises to call somebody back, and what became of them. */
  promises: {
    promise_id: string;
    campaign_id: string;
    recipient_id: string;
    e164: string;
    /** Open: the call is requested from `due_at` on and before `until`. Both null where it is unclear. */
    state: PromiseState;
    due_at: number | null;
    until: number | null;
    /** What the wall of the callee shows then, such as `2030-11-30 17:00`; null: an instant was said. */
    local: string | null;
    /** What their record says, shortened. */
    said: string | null;
    /** The call in which they asked for it; null: a person did. */
    from_attempt: string | null;
    made_at: number;
    made_by: string | null;
    /** Of an open one: what kept it last from being called. */
    reason: string | null;
    /** The call by which it ended. */
    kept_by: string | null;
    ended_at: number | null;
  };
}

/** Wishes, and pauses that nobody wished: each is granted, or refused, once. */
export interface ControlRequestRow {
  campaign_id: string;
  wish_id: string;
  change: string;
  granted: number;
  granted_at: number;
  /** The workflow's run that was told, and which of its wishes it was; null: made in the database alone. */
  run: string | null;
  number: number | null;
}

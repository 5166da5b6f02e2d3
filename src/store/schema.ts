import type { Generated } from 'kysely';
import type { Disposition } from '../domain/disposition.ts';
import type { AttemptState, BatchState, PostVerdict } from '../domain/ledger.ts';
import type { CampaignState, DrainReason } from '../domain/lifecycle.ts';
import type { Outcome } from '../domain/outcome.ts';

/**
 * One schema for SQLite and PostgreSQL: text ids, integers for instants, JSON as text, 0/1 for booleans. Instants are epoch
 * milliseconds of service time; a name ending in `_real` is the wall clock of the process that wrote it.
 */
export interface Database {
  meta: { key: string; value: string };
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
  };
  campaigns: {
    campaign_id: string;
    name: string | null;
    file_hash: string;
    /** CampaignRules as JSON, frozen. */
    rules: string;
    account_id: string;
    agent_id: string;
    state: CampaignState;
    state_reason: string | null;
    created_at: number;
    /** Data rows of the list. */
    rows_total: number;
    rows_rejected: number;
    round: number;
    /** 1 once the caller number is known to work: verified by the service's word, or by a conversation. */
    caller_proven: number;
    /** Calls made before this batch number do not count against an unproven caller number. */
    canary_from: number;
    /** Limits that a person changed while it ran, as JSON; they replace those of the rules. */
    adjustments: string | null;
    /** Why it drains, or drained. */
    draining: DrainReason | null;
    /** A paused campaign goes on by itself at this instant. */
    resume_at: number | null;
    /** When it last began to dial: what ended before does not open the breaker. */
    dials_since: number;
    /** The last wish of a person to pause or to go on: which it was of those that the workflow's run was told. */
    wish_run: string | null;
    wish_number: number | null;
  };
  /** The numbers that call for a campaign. */
  callers: {
    campaign_id: string;
    phone_number_id: string;
    position: number;
    e164: string | null;
    /** ISO 3166 code, and JSON array of codes of states. */
    country: string | null;
    regions: string | null;
    /** 1: not used any more, see `reason`. */
    out: number;
    reason: string | null;
    checked_at: number | null;
    /** Recipients given to it, for the rotation. */
    given: number;
  };
  /** Recurring campaigns; when they fire is Temporal's to know. */
  schedules: {
    schedule_id: string;
    campaign_id: string;
    file_path: string;
    /** The campaign file's text. */
    content: string;
    /** Pattern of a path, or a URL. */
    list_source: string;
    /** Address of the service that its firings call with. */
    account_id: string;
    created_at: number;
  };
  rounds: {
    campaign_id: string;
    round: number;
    workflow_id: string;
    started_at: number;
    ended_at: number | null;
    /** Batches in a row whose fate became unknown. */
    unknown_streak: number;
    /** No POST begins before this instant while a batch is unknown. */
    blocked_until: number;
    /** Batches refused down to a single call in a row. */
    refused_streak: number;
  };
  recipients: {
    recipient_id: string;
    campaign_id: string;
    row_number: number;
    external_id: string | null;
    e164: string | null;
    /** The row's cells as read, JSON array of strings. */
    cells: string;
    /** JSON array of IANA zones. */
    zones: string;
    /** ISO 3166 code, or null. */
    country: string | null;
    /** JSON array of codes of states or provinces; null when nothing narrows them down. */
    regions: string | null;
    state: 'waiting' | 'open' | 'done';
    /** 0: a retry (dialled first), 1: never attempted. */
    tier: number;
    due_at: number;
    /** Numbers given to attempts so far, released ones included. */
    attempts: number;
    /** Attempts that used up the budget. */
    counted: number;
    uncounted_in_row: number;
    /** Attempts up to this number belong to an earlier budget: a person had the row retried. */
    budget_from: number;
    /** Not dialled before this instant, or null. */
    not_before: number | null;
    /** Not dialled from this instant on, or null. */
    expires_at: number | null;
    /** The number that calls this recipient, once it has been chosen. */
    caller: string | null;
    /** When outcome, state or disposition last changed. */
    changed_at: number;
    outcome: Outcome | null;
    reason: string | null;
    last_attempt_id: string | null;
  };
  attempts: {
    attempt_id: string;
    recipient_id: string;
    campaign_id: string;
    batch_id: string;
    position: number;
    number: number;
    agent_id: string;
    e164: string;
    /** The user's own id of whom it goes to, for caps by person. */
    person: string | null;
    state: AttemptState;
    reference: string | null;
    opening_line: string | null;
    planned_at: number;
    posted_at: number | null;
    settled_at: number | null;
    disposition: Disposition | null;
    detail: string | null;
    counted: number;
    reason: string | null;
    conversation_id: string | null;
    evidence: string | null;
    /** What the pre-dial hook said of it: `eligible`, or the reason against it; null: not asked. */
    screened: string | null;
    screened_at: number | null;
  };
  batches: {
    batch_id: string;
    campaign_id: string;
    round: number;
    n: number;
    state: BatchState;
    size: number;
    /** POSTs begun. */
    posts: number;
    planned_at: number;
    first_submit_at: number | null;
    first_posted_at: number | null;
    /** No evidence before this instant may be missed: deadline + HTTP timeout + late delivery. */
    hold_after: number | null;
    verdict_at: number | null;
    service_batch_id: string | null;
    calls_initiated: number | null;
    accepted_by: 'reply' | 'evidence' | null;
    reason: string | null;
    /** Last sign that calls of this batch move: the settle deadline is measured from it. */
    progress_at: number | null;
    unknown_since: number | null;
    /** Id of the number that calls; null in batches of earlier versions. */
    caller: string | null;
  };
  posts: {
    batch_id: string;
    k: number;
    posted_at: number;
    posted_real: number;
    deadline_real: number;
    verdict: PostVerdict | null;
    verdict_at: number | null;
    status: number | null;
    service_request_id: string | null;
    /** The service's own words; may echo a number, so they stay in this table. */
    message: string | null;
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
  };
  agents: {
    agent_id: string;
    lease_owner: string | null;
    lease_until_real: number;
    /** End of the last sweep that read the list as far as needed without a fault. */
    complete_sweep_at: number | null;
    /** Last time any read of the list succeeded. */
    read_ok_at: number | null;
  };
  suppressions: {
    e164: string;
    /** `account` or a campaign id. */
    scope: string;
    source: string;
    reason: string | null;
    created_at: number;
    expires_at: number | null;
  };
  events: {
    seq: Generated<number>;
    at: number;
    campaign_id: string;
    type: string;
    recipient_id: string | null;
    attempt_id: string | null;
    batch_id: string | null;
    data: string | null;
  };
  aggregates: { campaign_id: string; kind: string; key: string; value: string; count: number };
}

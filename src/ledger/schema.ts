import type { ColumnType, Generated, Selectable } from 'kysely';
import type { Disposition } from '../rules/disposition.ts';
import type { AttemptState, BatchState, PostVerdict } from '../rules/ledger.ts';
import type { CampaignState, DrainReason } from '../rules/lifecycle.ts';
import type { Outcome } from '../rules/outcome.ts';
import type { ServiceApi } from '../rules/service-api.ts';
import type { Asks } from '../rules/talk-results.ts';
import type { ServiceTables, ControlRequestRow } from './service-tables.ts';

/**
 * One schema for SQLite and PostgreSQL: text ids, integers for instants, JSON as text, 0/1 for booleans. Instants are epoch
 * milliseconds of service time; a name ending in `_real` is the wall clock of the process that wrote it.
 */
export interface Database extends ServiceTables {
  meta: { key: string; value: string };
  campaigns: {
    campaign_id: string;
    name: string | null;
    file_hash: string;
    /** What the campaign file says, as JSON without comments; null: begun before that was kept. */
    file: ColumnType<string | null, string | null | undefined>;
    /** CampaignRules as JSON, frozen. */
    rules: string;
    account_id: string;
    /** By which API its service is asked for calls. */
    api: Generated<ServiceApi>;
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
    /** 1 once the service has shown one record of this campaign; before that, that a record is missing says nothing. */
    record_shown: Generated<number>;
    /** Somebody is not dialled again before a complete sweep has read back to this instant; null: nobody waits for one. */
    sweep_back_to: number | null;
    /** Calls made before this batch number do not count against an unproven caller number. */
    canary_from: number;
    /** Limits that a person changed while it ran, as JSON; they replace those of the rules. */
    adjustments: string | null;
    draining: DrainReason | null;
    /** A paused campaign goes on by itself at this instant. */
    resume_at: number | null;
    /** 1: while it is paused, what waits at the service is left to ring, as far as each of its people may be called. */
    let_queued: Generated<0 | 1>;
    /** When it last began to dial: what ended before does not open the breaker. */
    dials_since: number;
    /** The round in which it reached its goal; null: it has not. */
    goal_round: number | null;
    /** Which sample is called before the others, or was, from 1; null: the campaign has no pilot. */
    pilot_sample: number | null;
    /** `asked`: it waits for the word of a person. */
    pilot_state: 'calling' | 'asked' | 'passed' | null;
    /** The agent's settings with which the sample is called, hashed; null: not looked at yet. */
    pilot_agent: string | null;
    /** What the gates that are always asked have seen, as JSON; null: nothing. */
    gates: string | null;
  };
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
    answered_at: ColumnType<number | null, number | null | undefined>; // by the service; null: not yet, or not known
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
    /** Of schedules that began before encodings were named. */
    list_encoding: 'western' | null;
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
    /** 1 once a call for this row counts as placed; a corrected number that was never called begins at 0 again. */
    called: Generated<0 | 1>;
    /** Its place in the order of calls, see `rankOf`. */
    rank: number;
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
    /** What the row says beside what has a column here, as JSON; null: nothing. */
    terms: string | null;
    /** The number that calls this recipient, once it has been chosen. */
    caller: string | null;
    /** When outcome, state or disposition last changed. */
    changed_at: number;
    outcome: Outcome | null;
    reason: string | null;
    last_attempt_id: string | null;
    /** When a person took it out while its call was open: it ends with that call, and is not called again. Null: nobody did. */
    taken_out_at: number | null;
    /** What the last talk with it came to, by the rules of the campaign; null: there was none, or its record is not final. */
    result: string | null;
    /** The open promise to call this recipient back, for which it stands in line; null: there is none. */
    promise_id: string | null;
    /** Of which sample of the pilot it is; null: of none. */
    sample: number | null;
    /** Of the opening line: two rows with the same one are never called at the same time. Null: nothing is kept apart. */
    words_key: string | null;
  };
  /** Columns of lists in whose order the rows stand in `list_cells`. */
  list_orders: { campaign_id: string; place: number };
  /** `place`: of the column, from 0. `folded`: the beginning of the cell in small letters. */
  list_cells: { campaign_id: string; place: number; folded: string; row_number: number };
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
    /** What the talk came to, by the rules of the campaign. */
    result: string | null;
    /** By its own record, read to its end, the talk asks for another call, not before this instant; null: it does not, see `endsRow`. */
    asks: Asks | null;
    asks_at: number | null;
    /** What the pre-dial hook said of it: `eligible`, or the reason against it; null: not asked. */
    screened: string | null;
    screened_at: number | null;
    /** As in `recipients`; null where the service shows number or reference, or the campaign takes the doubt. */
    words_key: string | null;
    /** A record that was stored while the log was shorter than this was there before the first POST began. */
    posted_seq: number | null;
    /** When the phone rang by its record, or was first reported to ring; null while neither tells. */
    rang_at: number | null;
    /** The last instant at which it may ring, by its last POST and the rules of its campaign. */
    rings_until: number | null;
    /** When a report first said that its call is over, or taken back; null: none has, or a later one took it back. */
    over_at: number | null;
    /** Ids of conversations that may be this call and could not be told apart, JSON array; null: no doubt of that kind. */
    candidates: string | null;
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
    /** `look_up`: the service has, or has not, the mark of its request. */
    accepted_by: 'reply' | 'evidence' | 'look_up' | null;
    reason: string | null;
    /** Last sign that calls of this batch move: the settle deadline is measured from it. */
    progress_at: number | null;
    unknown_since: number | null;
    /** When a whole look-up first did not find it, after no request of it could still be carried out; null: none did. */
    not_found_at: number | null;
    /** When what waits of it was last asked back from the service; null: it never was. */
    withdraw_asked_at: number | null;
    /** Since when the pre-dial hook has given no answer about it; null: it has, or was not asked. */
    silent_since: number | null;
    /** Id of the number that calls. */
    caller: string;
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
    /** Random, of the entry that was to make it: whose row it is when the answer to its commit was lost. */
    entry: string | null;
    /** Between these instants of the service's own clock the request was made; null: its clock was not read. */
    service_from: number | null;
    service_to: number | null;
    caller_check: ColumnType<string | null, string | null | undefined>; // CallerCheckAtCall as JSON; null: not known
    /** When a look-up told for certain that the request was never carried out, and never will be; null: none has. */
    absent_at: number | null;
  };
  suppressions: {
    e164: string;
    /** `account`, a campaign id, or `purpose:` and a word. */
    scope: string;
    source: string;
    reason: string | null;
    created_at: number;
    expires_at: number | null;
  };
  /** The highest version holds; `file`: as it was written. */
  house_rules: { version: number; set_at: number; file: string; /** Null: nothing is ruled any more. */ rules: string | null };
  /** Numbers of do-not-call lists that are being imported; they stop nobody yet. */
  staged_suppressions: { import_id: string; e164: string; staged_real: number };
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
  /** Records that are not those of an attempt, by a person's word. */
  dismissals: { attempt_id: string; conversation_id: string; at: number };
  wishes: ControlRequestRow;
}

export type Row<Table extends keyof Database> = Selectable<Database[Table]>;

export type RecipientRow = Row<'recipients'>;
export type AttemptRow = Row<'attempts'>;
export type PromiseRow = Row<'promises'>;
export type BatchRow = Row<'batches'>;
export type RoundRow = Row<'rounds'>;
export type ConversationRow = Row<'conversations'>;
export type AgentRow = Row<'agents'>;

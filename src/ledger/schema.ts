import type { Selectable } from 'kysely';
import type { Disposition } from '../rules/disposition.ts';
import type { AttemptState, BatchState, PostVerdict } from '../rules/ledger.ts';
import type { CampaignState, DrainReason } from '../rules/lifecycle.ts';
import type { Outcome } from '../rules/outcome.ts';
import type { ServiceApi } from '../rules/service-api.ts';
import type { Asks } from '../rules/talk-results.ts';
import { integer, integerKey, integerOr, integerOrNull, sequence, text, textKey, textOr, textOrNull, type RowTypes } from './columns.ts';
import { serviceTables } from './service-tables.ts';

/**
 * One schema for SQLite and PostgreSQL: text ids, integers for instants, JSON as text, 0/1 for booleans. Instants are epoch
 * milliseconds of service time; a name ending in `_real` is the wall clock of the process that wrote it.
 */
export const tables = {
  meta: { key: textKey(), value: text() },
  campaigns: {
    campaign_id: textKey(),
    name: textOrNull(),
    file_hash: text(),
    /** What the campaign file says, as JSON without comments; null: begun before that was kept. */
    file: textOrNull(15),
    /** CampaignRules as JSON, frozen. */
    rules: text(),
    account_id: text(),
    /** By which API its service is asked for calls. */
    api: textOr<ServiceApi>('contract', 10),
    agent_id: text(),
    state: text<CampaignState>(),
    state_reason: textOrNull(),
    created_at: integer(),
    rows_total: integer(),
    rows_rejected: integer(),
    round: integer(),
    /** 1 once the caller number is known to work: verified by the service's word, or by a conversation. */
    caller_proven: integer(),
    /** 1 once the service has shown one record of this campaign; before that, that a record is missing says nothing. */
    record_shown: integerOr(0),
    /** Somebody is not dialled again before a complete sweep has read back to this instant; null: nobody waits for one. */
    sweep_back_to: integerOrNull(),
    /** Calls made before this batch number do not count against an unproven caller number. */
    canary_from: integer(),
    /** Limits that a person changed while it ran, as JSON; they replace those of the rules. */
    adjustments: textOrNull(),
    draining: textOrNull<DrainReason>(),
    /** A paused campaign goes on by itself at this instant. */
    resume_at: integerOrNull(),
    /** 1: while it is paused, what waits at the service is left to ring, as far as each of its people may be called. */
    let_queued: integerOr<0 | 1>(0, 12),
    /** When it last began to dial: what ended before does not open the breaker. */
    dials_since: integerOr(0),
    /** The round in which it reached its goal; null: it has not. */
    goal_round: integerOrNull(19),
    /** Which sample is called before the others, or was, from 1; null: the campaign has no pilot. */
    pilot_sample: integerOrNull(19),
    /** `asked`: it waits for the word of a person. */
    pilot_state: textOrNull<'calling' | 'asked' | 'passed'>(19),
    /** The agent's settings with which the sample is called, hashed; null: not looked at yet. */
    pilot_agent: textOrNull(19),
    /** What the gates that are always asked have seen, as JSON; null: nothing. */
    gates: textOrNull(19),
  },
  callers: {
    campaign_id: textKey(),
    phone_number_id: textKey(),
    position: integer(),
    e164: textOrNull(),
    /** ISO 3166 code, and JSON array of codes of states. */
    country: textOrNull(),
    regions: textOrNull(),
    /** 1: not used any more, see `reason`. */
    out: integer(),
    reason: textOrNull(),
    checked_at: integerOrNull(),
    answered_at: integerOrNull(23), // by the service; null: not yet, or not known
    /** Recipients given to it, for the rotation. */
    given: integer(),
  },
  /** Recurring campaigns; when they fire is Temporal's to know. */
  schedules: {
    schedule_id: textKey(),
    campaign_id: text(),
    file_path: text(),
    content: text(),
    /** Pattern of a path, or a URL. */
    list_source: text(),
    account_id: text(),
    created_at: integer(),
    /** Of schedules that began before encodings were named. */
    list_encoding: textOrNull<'western'>(22),
  },
  rounds: {
    campaign_id: textKey(),
    round: integerKey(),
    workflow_id: text(),
    started_at: integer(),
    ended_at: integerOrNull(),
    /** Batches in a row whose fate became unknown. */
    unknown_streak: integer(),
    /** No POST begins before this instant while a batch is unknown. */
    blocked_until: integer(),
    /** Batches refused down to a single call in a row. */
    refused_streak: integer(),
  },
  recipients: {
    recipient_id: textKey(),
    campaign_id: text(),
    row_number: integer(),
    external_id: textOrNull(),
    e164: textOrNull(),
    /** The row's cells as read, JSON array of strings. */
    cells: text(),
    /** JSON array of IANA zones. */
    zones: text(),
    country: textOrNull(),
    /** JSON array of codes of states or provinces; null when nothing narrows them down. */
    regions: textOrNull(),
    state: text<'waiting' | 'open' | 'done'>(),
    /** 1 once a call for this row counts as placed; a corrected number that was never called begins at 0 again. */
    called: integerOr<0 | 1>(0, 9),
    /** Its place in the order of calls, see `rankOf`. */
    rank: integer(),
    due_at: integer(),
    /** Numbers given to attempts so far, released ones included. */
    attempts: integer(),
    /** Attempts that used up the budget. */
    counted: integer(),
    uncounted_in_row: integer(),
    /** Attempts up to this number belong to an earlier budget: a person had the row retried. */
    budget_from: integer(),
    not_before: integerOrNull(),
    expires_at: integerOrNull(),
    /** What the row says beside what has a column here, as JSON; null: nothing. */
    terms: textOrNull(8),
    caller: textOrNull(),
    /** When outcome, state or disposition last changed. */
    changed_at: integerOr(0),
    outcome: textOrNull<Outcome>(),
    reason: textOrNull(),
    last_attempt_id: textOrNull(),
    /** When a person took it out while its call was open: it ends with that call, and is not called again. Null: nobody did. */
    taken_out_at: integerOrNull(12),
    /** What the last talk with it came to, by the rules of the campaign; null: there was none, or its record is not final. */
    result: textOrNull(16),
    /** The open promise to call this recipient back, for which it stands in line; null: there is none. */
    promise_id: textOrNull(18),
    /** Of which sample of the pilot it is; null: of none. */
    sample: integerOrNull(19),
    /** Of the opening line: two rows with the same one are never called at the same time. Null: nothing is kept apart. */
    words_key: textOrNull(),
  },
  /** Columns of lists in whose order the rows stand in `list_cells`. */
  list_orders: { campaign_id: textKey(), place: integerKey() },
  /** `place`: of the column, from 0. `folded`: the beginning of the cell in small letters. */
  list_cells: { campaign_id: textKey(), place: integerKey(), folded: textKey(), row_number: integerKey() },
  attempts: {
    attempt_id: textKey(),
    recipient_id: text(),
    campaign_id: text(),
    batch_id: text(),
    position: integer(),
    number: integer(),
    agent_id: text(),
    e164: text(),
    /** The user's own id of whom it goes to, for caps by person. */
    person: textOrNull(),
    state: text<AttemptState>(),
    reference: textOrNull(),
    opening_line: textOrNull(),
    planned_at: integer(),
    posted_at: integerOrNull(),
    settled_at: integerOrNull(),
    disposition: textOrNull<Disposition>(),
    detail: textOrNull(),
    counted: integer(),
    reason: textOrNull(),
    conversation_id: textOrNull(),
    evidence: textOrNull(),
    result: textOrNull(16),
    /** By its own record, read to its end, the talk asks for another call, not before this instant; null: it does not, see `endsRow`. */
    asks: textOrNull<Asks>(17),
    asks_at: integerOrNull(17),
    /** What the pre-dial hook said of it: `eligible`, or the reason against it; null: not asked. */
    screened: textOrNull(),
    screened_at: integerOrNull(),
    /** As in `recipients`; null where the service shows number or reference, or the campaign takes the doubt. */
    words_key: textOrNull(),
    /** A record that was stored while the log was shorter than this was there before the first POST began. */
    posted_seq: integerOrNull(),
    /** When the phone rang by its record, or was first reported to ring; null while neither tells. */
    rang_at: integerOrNull(),
    /** The last instant at which it may ring, by its last POST and the rules of its campaign. */
    rings_until: integerOrNull(),
    /** When a report first said that its call is over, or taken back; null: none has, or a later one took it back. */
    over_at: integerOrNull(10),
    /** Ids of conversations that may be this call and could not be told apart, JSON array; null: no doubt of that kind. */
    candidates: textOrNull(),
  },
  batches: {
    batch_id: textKey(),
    campaign_id: text(),
    round: integer(),
    n: integer(),
    state: text<BatchState>(),
    size: integer(),
    posts: integer(),
    planned_at: integer(),
    first_submit_at: integerOrNull(),
    first_posted_at: integerOrNull(),
    /** No evidence before this instant may be missed: deadline + HTTP timeout + late delivery. */
    hold_after: integerOrNull(),
    verdict_at: integerOrNull(),
    service_batch_id: textOrNull(),
    calls_initiated: integerOrNull(),
    /** `look_up`: the service has, or has not, the mark of its request. */
    accepted_by: textOrNull<'reply' | 'evidence' | 'look_up'>(),
    reason: textOrNull(),
    /** Last sign that calls of this batch move: the settle deadline is measured from it. */
    progress_at: integerOrNull(),
    unknown_since: integerOrNull(),
    /** When a whole look-up first did not find it, after no request of it could still be carried out; null: none did. */
    not_found_at: integerOrNull(10),
    /** When what waits of it was last asked back from the service; null: it never was. */
    withdraw_asked_at: integerOrNull(10),
    /** Since when the pre-dial hook has given no answer about it; null: it has, or was not asked. */
    silent_since: integerOrNull(),
    caller: text(),
  },
  posts: {
    batch_id: textKey(),
    k: integerKey(),
    posted_at: integer(),
    posted_real: integer(),
    deadline_real: integer(),
    verdict: textOrNull<PostVerdict>(),
    verdict_at: integerOrNull(),
    status: integerOrNull(),
    service_request_id: textOrNull(),
    /** The service's own words; may echo a number, so they stay in this table. */
    message: textOrNull(),
    /** Random, of the entry that was to make it: whose row it is when the answer to its commit was lost. */
    entry: textOrNull(),
    /** Between these instants of the service's own clock the request was made; null: its clock was not read. */
    service_from: integerOrNull(),
    service_to: integerOrNull(),
    caller_check: textOrNull(23), // CallerCheckAtCall as JSON; null: not known
    /** When a look-up told for certain that the request was never carried out, and never will be; null: none has. */
    absent_at: integerOrNull(11),
  },
  suppressions: {
    e164: textKey(),
    /** `account`, a campaign id, or `purpose:` and a word. */
    scope: textKey(),
    source: text(),
    reason: textOrNull(),
    created_at: integer(),
    expires_at: integerOrNull(),
  },
  /** The highest version holds; `file`: as it was written. */
  house_rules: { version: integerKey(), set_at: integer(), file: text(), /** Null: nothing is ruled any more. */ rules: textOrNull() },
  /** Numbers of do-not-call lists that are being imported; they stop nobody yet. */
  staged_suppressions: { import_id: textKey(), e164: textKey(), staged_real: integer() },
  events: {
    seq: sequence(),
    at: integer(),
    campaign_id: text(),
    type: text(),
    recipient_id: textOrNull(),
    attempt_id: textOrNull(),
    batch_id: textOrNull(),
    data: textOrNull(),
  },
  aggregates: { campaign_id: textKey(), kind: textKey(), key: textKey(), value: textKey(), count: integer() },
  /** Records that are not those of an attempt, by a person's word. */
  dismissals: { attempt_id: textKey(), conversation_id: textKey(), at: integer() },
  ...serviceTables,
};

export interface Database extends RowTypes<typeof tables> {}

export type Row<Table extends keyof Database> = Selectable<Database[Table]>;

export type RecipientRow = Row<'recipients'>;
export type AttemptRow = Row<'attempts'>;
export type PromiseRow = Row<'promises'>;
export type BatchRow = Row<'batches'>;
export type RoundRow = Row<'rounds'>;
export type ConversationRow = Row<'conversations'>;
export type AgentRow = Row<'agents'>;

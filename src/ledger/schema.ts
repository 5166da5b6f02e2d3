import type { Selectable } from 'kysely';
import type { Disposition } from '../rules/disposition.ts';
import type { AttemptState, BatchState, PostVerdict } from '../rules/ledger.ts';
import type { CampaignState, DrainReason } from '../rules/lifecycle.ts';
import type { Outcome } from '../rules/outcome.ts';
import type { ServiceApi } from '../rules/service-api.ts';
import type { NextCallSource } from '../rules/talk-results.ts';
import { integer, integerKey, integerOr, integerOrNull, sequence, text, textKey, textOr, textOrNull, type RowTypes } from './columns.ts';
import { serviceTables } from './service-tables.ts';

/**
 * One schema for SQLite and PostgreSQL: text ids, integer instants, JSON as text, 0/1 booleans. Instants are epoch ms of service time;
 * `_real`: wall clock of the writing process.
 */
export const tables = {
  meta: { key: textKey(), value: text() },
  campaigns: {
    campaign_id: textKey(),
    name: textOrNull(),
    file_hash: text(),
    /** JSON without comments; null: begun before it was kept. */
    file: textOrNull(15),
    /** CampaignRules as JSON, frozen. */
    rules: text(),
    account_id: text(),
    /** API of its service. */
    api: textOr<ServiceApi>('contract', 10),
    agent_id: text(),
    state: text<CampaignState>(),
    state_reason: textOrNull(),
    created_at: integer(),
    rows_total: integer(),
    rows_rejected: integer(),
    round: integer(),
    /** 1: the service or a conversation proved the caller number. */
    caller_proven: integer(),
    /** 1: the service has shown a record of this campaign; before, a missing record proves nothing. */
    record_shown: integerOr(0),
    /** A recipient waits for a complete sweep back to this instant; null: none. */
    sweep_back_to: integerOrNull(),
    /** Earlier batch numbers do not count against an unproven caller number. */
    canary_from: integer(),
    /** An operator's limits at run time, as JSON; they replace those of the rules. */
    adjustments: textOrNull(),
    draining: textOrNull<DrainReason>(),
    /** When a pause ends by itself. */
    resume_at: integerOrNull(),
    /** 1: during a pause, calls waiting at the service may ring, if their recipients may be called. */
    let_queued: integerOr<0 | 1>(0, 12),
    /** When dialling last began; earlier results do not open the breaker. */
    dials_since: integerOr(0),
    /** Round that reached the goal; null: none. */
    goal_round: integerOrNull(19),
    /** Sample called first, now or earlier, from 1; null: no pilot. */
    pilot_sample: integerOrNull(19),
    /** `asked`: an operator must decide. */
    pilot_state: textOrNull<'calling' | 'asked' | 'passed'>(19),
    /** Hash of the agent's settings for the sample; null: not read yet. */
    pilot_agent: textOrNull(19),
    /** Observations of gates with `always`, as JSON; null: none. */
    gates: textOrNull(19),
  },
  callers: {
    campaign_id: textKey(),
    phone_number_id: textKey(),
    position: integer(),
    e164: textOrNull(),
    /** ISO 3166 code, and JSON array of state codes. */
    country: textOrNull(),
    regions: textOrNull(),
    /** 1: no longer used, see `reason`. */
    out: integer(),
    reason: textOrNull(),
    checked_at: integerOrNull(),
    answered_at: integerOrNull(23), // by the service; null: not yet, or not known
    /** Recipients assigned, for the rotation. */
    given: integer(),
  },
  /** Only Temporal knows when they run. */
  schedules: {
    schedule_id: textKey(),
    campaign_id: text(),
    file_path: text(),
    content: text(),
    /** Path pattern or URL. */
    list_source: text(),
    account_id: text(),
    created_at: integer(),
    /** For schedules older than named encodings. */
    list_encoding: textOrNull<'western'>(22),
  },
  rounds: {
    campaign_id: textKey(),
    round: integerKey(),
    workflow_id: text(),
    started_at: integer(),
    ended_at: integerOrNull(),
    /** Unknown batches in a row. */
    unknown_streak: integer(),
    /** No POST before this while a batch is unknown. */
    blocked_until: integer(),
    /** Single calls refused in a row. */
    refused_streak: integer(),
  },
  recipients: {
    recipient_id: textKey(),
    campaign_id: text(),
    row_number: integer(),
    external_id: textOrNull(),
    e164: textOrNull(),
    /** JSON array of strings, as read. */
    cells: text(),
    /** JSON array of IANA zones. */
    zones: text(),
    country: textOrNull(),
    /** JSON array of states or provinces; null: not narrowed down. */
    regions: textOrNull(),
    state: text<'waiting' | 'open' | 'done'>(),
    /** 1: a call counts as placed; a corrected number never called restarts at 0. */
    called: integerOr<0 | 1>(0, 9),
    /** Call order, see `rankOf`. */
    rank: integer(),
    due_at: integer(),
    /** Numbers used, released ones included. */
    attempts: integer(),
    /** Attempts that used up the budget. */
    counted: integer(),
    uncounted_in_row: integer(),
    /** Attempts up to this number belong to an earlier budget: an operator had the row retried. */
    budget_from: integer(),
    not_before: integerOrNull(),
    expires_at: integerOrNull(),
    /** Values without a column here, as JSON; null: none. */
    terms: textOrNull(8),
    caller: textOrNull(),
    /** When outcome, state or disposition last changed. */
    changed_at: integerOr(0),
    outcome: textOrNull<Outcome>(),
    reason: textOrNull(),
    last_attempt_id: textOrNull(),
    /** When an operator took it out during an open call, with which it ends. Null: not taken out. */
    taken_out_at: integerOrNull(12),
    /** Result of its last talk, by the campaign's rules; null: no talk, or its record is not final. */
    result: textOrNull(16),
    /** Open callback that it waits for; null: none. */
    promise_id: textOrNull(18),
    /** Pilot sample; null: none. */
    sample: integerOrNull(19),
    /** Key of the opening line: rows with the same one are never called at once. Null: no limit. */
    words_key: textOrNull(),
  },
  /** Columns by which `list_cells` orders rows. */
  list_orders: { campaign_id: textKey(), place: integerKey() },
  /** `place`: column, from 0. `folded`: start of the cell in lower case. */
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
    /** The user's own id of the recipient, for caps. */
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
    /** Call requested in the talk by its own, fully read record, from `asks_at`; null: none, see `endsRow`. */
    asks: textOrNull<NextCallSource>(17),
    asks_at: integerOrNull(17),
    /** Verdict of the pre-dial hook: `eligible`, or a reason against; null: not checked. */
    screened: textOrNull(),
    screened_at: integerOrNull(),
    /** As in `recipients`; null if the service shows number or reference, or the campaign accepts the doubt. */
    words_key: textOrNull(),
    /** Log length before the first POST: a record stored earlier is older. */
    posted_seq: integerOrNull(),
    /** When it rang by its record, or was first reported to ring; null: unknown. */
    rang_at: integerOrNull(),
    /** Last instant at which it may ring, by its last POST and the rules. */
    rings_until: integerOrNull(),
    /** When first reported over or withdrawn; null: not, or revoked later. */
    over_at: integerOrNull(10),
    /** Conversations that may be this call, not distinguishable, JSON array; null: none. */
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
    /** Until then evidence may come: deadline + HTTP timeout + late delivery. */
    hold_after: integerOrNull(),
    verdict_at: integerOrNull(),
    service_batch_id: textOrNull(),
    calls_initiated: integerOrNull(),
    /** `look_up`: by the mark of its request at the service. */
    accepted_by: textOrNull<'reply' | 'evidence' | 'look_up'>(),
    reason: textOrNull(),
    /** Last progress of its calls; the settle deadline counts from it. */
    progress_at: integerOrNull(),
    unknown_since: integerOrNull(),
    /** First whole look-up that missed it when no request could still be carried out; null: none. */
    not_found_at: integerOrNull(10),
    /** Last withdrawal of its waiting calls from the service; null: never. */
    withdraw_asked_at: integerOrNull(10),
    /** Since when the pre-dial hook has not answered; null: it has, or was not called. */
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
    /** The service's own text; may contain a number, so only here. */
    message: textOrNull(),
    /** Random: identifies the row's owner when the commit's answer was lost. */
    entry: textOrNull(),
    /** Bounds of the request by the service's clock; null: not read. */
    service_from: integerOrNull(),
    service_to: integerOrNull(),
    caller_check: textOrNull(23), // CallerCheckAtCall as JSON; null: not known
    /** When a look-up proved that the request was not and will not be carried out; null: none did. */
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
  /** The highest version applies; `file`: as written. */
  house_rules: { version: integerKey(), set_at: integer(), file: text(), /** Null: no rules any more. */ rules: textOrNull() },
  /** Do-not-call lists being imported; they block no call yet. */
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
  /** Records that an operator ruled out for an attempt. */
  dismissals: { attempt_id: textKey(), conversation_id: textKey(), at: integer() },
  ...serviceTables,
};

export interface Database extends RowTypes<typeof tables> {}

export type Row<Table extends keyof Database> = Selectable<Database[Table]>;

export type RecipientRow = Row<'recipients'>;
export type AttemptRow = Row<'attempts'>;
export type CallbackRow = Row<'promises'>;
export type BatchRow = Row<'batches'>;
export type RoundRow = Row<'rounds'>;
export type ConversationRow = Row<'conversations'>;
export type AgentRow = Row<'agents'>;

import type { CampaignEvent } from '../ledger/events.ts';
import type { JudgedRules, Limits } from './judged-rules.ts';
import type { Callback, NumberBook, PlacedCall } from './number-book.ts';
import { RowBook } from './row-book.ts';

/** A line of the log as it is read: its data is not trusted to have the form that it should. */
export type LoggedEvent = Omit<CampaignEvent, 'data'> & { data?: Record<string, unknown> };

export type EventType = LoggedEvent['type'];

/** What the tables know of a call beside the log: when its phone rang, and when its record first showed it to be over. */
export interface CallFacts {
  rangAt: number | null;
  overAt: number | null;
}

export interface Attempt {
  attemptId: string;
  batchId: string;
  /** The call, once it was posted; it stays known where it proves never to have been placed. */
  call: PlacedCall | null;
  /** When it was posted first, and when it ended first; null: not yet. */
  postedAt: number | null;
  endedAt: number | null;
  /** `released`: given back; null: it has not ended. */
  state: 'settled' | 'released' | null;
  /** How it ended, as last corrected. */
  disposition: string | null;
  detail: string | null;
  counted: boolean;
  /** What the talk came to, and which further call it asks for. */
  result: string | null;
  asks: string | null;
  /** Which budget of its recipient it uses up. */
  budget: number;
  conversation: string | null;
  /** By what the record was found to be its own. */
  evidence: string | null;
  /** The recipient is not called again before; infinity: not at all. Null: it has nothing to say about that. */
  retryFrom: number | null;
  /** Zones in which it went; null where the log does not say, or they were changed since. */
  zones: readonly string[] | null;
  /** When a record first showed the call to be over, by the tables. */
  overAt: number | null;
}

export interface Batch {
  batchId: string;
  state: string;
  /** Under which name the service took it; null: it has not said so. */
  serviceId: string | null;
  /** Calls that it was to have, and those that were planned. */
  size: number;
  planned: number;
  /** The number that calls; empty before the first POST. */
  caller: string;
  /** The last POST, its verdict, and those of the others. */
  k: number;
  verdicts: (string | null)[];
  /** The verdicts as the log has them. */
  logged: (string | null)[];
  firstPostedAt: number | null;
  /** The service answered that it took nothing, which a record may show to be wrong. */
  denied: boolean;
  /** Calls of the last POST, and how many were to be in it. */
  calls: Attempt[];
  posted: number;
  /** The state that a verdict asks for and that the log does not have yet. */
  owes: string | null;
  /** The service was asked to give its calls back. */
  askedBack: boolean;
  /** It was confirmed by a record, and none of its calls has one yet. */
  lacksMatch: boolean;
  limits: Limits;
  onLine: number;
}

/** An outcome of the log, until the next line of its row shows what it follows from. */
export interface PendingOutcome {
  line: Line;
  before: string | null;
  /** Whether a line since that one allows another. */
  explained: boolean;
  /** Of the campaign, at that line. */
  state: string;
}

/** The sample that is called before the others; `over`: it waits for an operator's decision. */
interface Pilot {
  sample: number;
  rows: ReadonlySet<number>;
  state: 'calling' | 'over' | 'passed';
}

export interface Campaign {
  campaignId: string;
  rules: JudgedRules;
  /** As the import has them, for the tables. */
  loggedRules: object;
  /** Its service can be asked for a request, and for the calls of a batch: an API of another name shows it. */
  looksUp: boolean;
  /** Of campaign file and list. */
  fileHash: string | null;
  limits: Limits;
  rows: number;
  /** 1, but for a test call, which keeps the number that its row has in the list. */
  firstRow: number;
  rejected: number;
  rowBook: RowBook;
  /** Hashes of what is shown of the rows; empty where the log was begun without them. */
  cellBook: RowBook;
  state: string;
  /** The highest time so far. */
  lastAt: number;
  /** Service milliseconds per real one, the most that a request had. */
  speed: number;
  batches: Map<string, Batch>;
  outcomes: Map<string, string>;
  reasons: Map<string, string | null>;
  /** `attempt conversation` of the records that an operator has given to calls. */
  given: Set<string>;
  pending: Map<string, PendingOutcome>;
  /** Recipients with a line since their outcome that may change it. */
  moved: Set<string>;
  /** Recipients that have lost their outcome and wait again. */
  requeued: Set<string>;
  promises: Map<string, Callback>;
  /** How often an operator had a row retried. */
  budgets: Map<string, number>;
  /** The attempts of each recipient, in order. */
  calls: Map<string, Attempt[]>;
  open: Set<Attempt>;
  /** The number of the last batch of each round. */
  batchesOf: Map<string, number>;
  /** When calls began in the last minute, where their number is limited. */
  starts: { at: number; attempt: Attempt }[];
  /** A refused batch, whose recipients are planned again in halves at the same instant. */
  split: { at: number; limits: Limits } | null;
  callersOut: Set<string>;
  /** Of each batch: when the pre-dial hook was last asked about it, and whom it allowed. */
  screened: Map<string, { at: number; eligible: ReadonlySet<unknown> }>;
  /** Recipients that an operator took out and did not put back. */
  withdrawn: Set<string>;
  /** Rows changed since the log last had their number. */
  edits: Record<'added' | 'corrected' | 'withdrawn', number>;
  rounds: number;
  /** Null: all are called from the beginning. */
  pilot: Pilot | null;
  /** Talks that came to the goal, and in which round there were enough of them; null: there were not. */
  goals: { count: number; round: number | null; logged: boolean };
  /** The campaign has ended, and the line of its round has not come yet. */
  owesRoundEnd: boolean;
}

/** Everything that is known of the log so far. */
export interface Book {
  readonly campaigns: Map<string, Campaign>;
  readonly numbers: NumberBook;
  /** Batches by the names that the service gave them. */
  readonly serviceBatches: Map<string, string>;
  /** By number whose person opted out in a call: the lines that say so, until the number stands on the do-not-call list. */
  readonly unlisted: Map<string, LoggedEvent[]>;
  /** Times that are a little lower than one before them, as clocks of two processes may be: how many, and by how much at most. */
  readonly falls: { count: number; mostMs: number };
  /** Key of the hashes of rows, and id of the database, which each reference names; null: it has none. */
  readonly rowKey: string | null;
  readonly ledgerId: string | null;
}

/** A line of the log of a campaign, with what it names. */
export interface Line {
  book: Book;
  campaign: Campaign;
  event: LoggedEvent;
  /** Of the event; empty when it has none. */
  data: Record<string, unknown>;
  /** Empty: it names none. */
  recipientId: string;
  /** The attempts of the recipient. */
  calls: readonly Attempt[];
  attempt: Attempt | undefined;
  batch: Batch | undefined;
  facts: CallFacts | undefined;
}

/** A line about an attempt that was planned before. */
export type AttemptLine = Line & { attempt: Attempt };
/** A line about a batch that was planned before. */
export type BatchLine = Line & { batch: Batch };

export function openCampaign(
  event: LoggedEvent,
  imported: Pick<Campaign, 'rules' | 'loggedRules' | 'looksUp' | 'fileHash' | 'rows' | 'firstRow' | 'rejected'>,
): Campaign {
  return {
    ...imported,
    campaignId: event.campaignId,
    rowBook: new RowBook(),
    cellBook: new RowBook(),
    lastAt: event.at,
    speed: 1,
    limits: imported.rules.pacing,
    state: 'draft',
    batches: new Map(),
    outcomes: new Map(),
    reasons: new Map(),
    given: new Set(),
    pending: new Map(),
    moved: new Set(),
    requeued: new Set(),
    promises: new Map(),
    budgets: new Map(),
    calls: new Map(),
    open: new Set(),
    batchesOf: new Map(),
    starts: [],
    split: null,
    callersOut: new Set(),
    screened: new Map(),
    withdrawn: new Set(),
    edits: { added: 0, corrected: 0, withdrawn: 0 },
    rounds: 0,
    pilot: null,
    goals: { count: 0, round: null, logged: false },
    owesRoundEnd: false,
  };
}

/** The line of an event of this type: its attempt, or its batch, was planned before, since a rule names a line that stands alone. */
export type LineOf<Type extends EventType> = Type extends 'attempt.planned'
  ? Line
  : Type extends `attempt.${string}`
    ? AttemptLine
    : Type extends 'batch.posting' | 'batch.state' | 'batch.withdrawing' | 'post.verdict'
      ? BatchLine
      : Line;

export function callsOf(campaign: Campaign, recipientId: string): readonly Attempt[] {
  return campaign.calls.get(recipientId) ?? [];
}

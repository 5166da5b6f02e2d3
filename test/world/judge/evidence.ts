import type { Closed } from './not-then.ts';
import type { Cap, Goal, Pilot } from './limits.ts';

/** What is known of a finished campaign, and what it was held to. What is left out is not judged. */
export interface Evidence {
  /** The service's own log of the calls that it made for us. */
  calls: readonly Call[];
  /** As their operator sees them. */
  rows: readonly Row[];
  finals: readonly Final[];
  /** Every record tells what its call came to; `by calls alone`: nothing but that, `Row.acted` and `Row.mustBe` ends a row. */
  endings?: 'by calls' | 'by calls alone';
  /** What stopped it from ending; what persons were answered and must not be; why it paused by itself, each time. */
  faults: readonly string[];
  seen?: readonly string[];
  presses?: readonly string[];
  /** As they came to the service, by their names. */
  requests?: readonly (string | null)[];
  /** How many requests the service denied and carried out: of such calls nobody can know. No limit when left out. */
  denials?: number;
  /** The service itself makes two batches of one request. */
  makesTwice?: boolean;
  /** Records that come later than this after the call, and after newer ones, are stragglers. */
  settleMs?: number;
  /** Calls to each row of a campaign; those that failed do not count, so many in a row; `more`: what persons have added. */
  budgets?: readonly { campaignId: string; attempts: number; uncounted: number; more: number }[];
  closed?: readonly Closed[];
  caps?: readonly Cap[];
  pilots?: readonly Pilot[];
  goals?: readonly Goal[];
  /** Batches of at most so many calls from then on, by real time. */
  sizes?: { at: number; most: number } | null;
  doubt?: Doubt;
  /** On the do-not-call list at the end: by anything, and by a person; which numbers may have been acted upon. */
  stopped?: { listed: readonly string[]; byPerson: readonly string[]; maybe: readonly string[]; mayHaveEnded: boolean };
  deeds?: readonly Deed[];
  asked?: readonly Asked[];
  changes?: Record<'logged' | 'carriedOut' | 'unheard', number>;
  books?: Books;
}

type Facts<Text extends string, Nullable extends string = never, Instant extends string = never> = Record<Text, string> &
  Record<Nullable, string | null> &
  Record<Instant, number | null>;

/** A call as the service has it. Times are its milliseconds, but for `realAcceptedAt`. */
export interface Call extends Facts<
  'callId' | 'to',
  'batchId' | 'requestId' | 'agentNumber' | 'result' | 'conversationId',
  'dialedAt' | 'endedAt' | 'listedAt'
> {
  acceptedAt: number;
  realAcceptedAt: number;
  silent: boolean;
  optedOut: boolean;
  visible: boolean;
  transcriptTurns: number;
  /** Where among all effects the ledger allowed it; null: nowhere. */
  allowed?: number | null;
  /** They asked to be called again: between these two; `told`: if not, somebody was told so. */
  again?: { from: number; until: number; told: boolean };
  /** They said what is wanted. */
  goal?: boolean;
  /** What the rules make of the talk. */
  said?: string | null;
}

export interface Row {
  campaignId: string;
  row: number;
  id?: string | null;
  /** Several where it was corrected. */
  numbers: readonly string[];
  /** Several rows may be of one person. */
  person?: string | null;
  /** Such as `Mon-Fri 22:00-02:00, Sat 10:00-12:00`, in each of the zones. */
  hours?: string | null | undefined;
  zones?: readonly string[];
  cells?: Readonly<Record<string, string>>;
  mustBe?: string;
  acted?: string;
}

export type Final = Facts<'campaign_id' | 'recipient_id' | 'state', 'external_id' | 'e164' | 'outcome' | 'reason'> & {
  row_number: number;
  cells?: unknown;
};

/**
 * When a row may be left in doubt: as the books and the faults of the run tell; so many rows; or, where the service reports its calls, if a
 * request may not have been carried out (`unseen`), or its report tells nothing but its end (`overOnly`).
 */
export type Doubt =
  | { by: 'books' }
  | { by: 'number'; most: number }
  | { by: 'requests'; unseen: boolean; overOnly: boolean; partial: readonly string[]; doubted: readonly string[]; dials: readonly Dial[] };

/** What a person did to a number or its row, and what they heard of it; `at`: in real time. */
export interface Deed {
  act: 'suppress' | 'withdraw';
  number: string;
  end: 'done' | 'refused' | 'unheard';
  at?: number;
}

/** A request to the API under its key, with each time it was sent. */
export type Asked = Facts<'act' | 'sending', 'number'> & { answered: boolean; tries: readonly Try[] };

/** `together`: another sending was under way, so that what was written may be its own. */
export type Try = { status: number; code: string | null; isReplayed: boolean; together: boolean; written: readonly string[] };

export type Dial = Facts<'attemptId' | 'batchId' | 'e164'> & { k: number; at: number };

/** Carillon's own tables, and the faults that excuse them. */
export interface Books {
  dials: readonly Dial[];
  posts: readonly (Facts<'batch_id', 'verdict'> & { k: number })[];
  batches: readonly Facts<'batch_id' | 'state'>[];
  attempts: readonly Attempt[];
  /** `given_at`: when it was found whose it is. */
  conversations: readonly (Facts<'conversation_id' | 'agent_id' | 'facts', 'attempt_id', 'started_at'> & {
    first_seen_at: number;
    given_at?: number | undefined;
  })[];
  suppressions: readonly (Facts<'e164' | 'scope', never, 'expires_at'> & { created_at: number })[];
  aggregates: readonly (Facts<'campaign_id' | 'kind' | 'value'> & { count: number })[];
  dialect: 'spec' | 'extended';
  /** Whether the service itself reports what became of each call, and whether it calls all of a cancelled batch cancelled. */
  reports: boolean;
  cancelHides: boolean;
  /** Whether the worker's clock is that of the service, so that calls can be joined by time. */
  isTimed: boolean;
  /** Requests whose answer nobody lived to write down; those taken in part; conversations that cannot be read. By faults. */
  lost: readonly string[];
  partial: readonly string[];
  unreadable: readonly string[];
}

export type Attempt = Facts<
  'attempt_id' | 'batch_id' | 'campaign_id' | 'recipient_id' | 'agent_id' | 'e164' | 'state',
  'reason' | 'disposition' | 'detail' | 'result' | 'conversation_id' | 'evidence' | 'reference' | 'opening_line',
  'settled_at'
>;

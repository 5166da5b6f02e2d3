import type { LoggedEvent } from './log-types.ts';
import type { JudgedRules, Limits } from './judged-rules.ts';
import type { Violate } from './log-rules.ts';
import type { NumberBook, PlacedCall, PromiseBook } from './number-book.ts';
import { RowBook } from './row-book.ts';

export interface AttemptBook {
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
  /** What else is said of its end. */
  detail: string | null;
  counted: boolean;
  /** What the talk came to, and what it asks for: another call; null: nothing. */
  result: string | null;
  asks: string | null;
  /** Which budget of its recipient it uses up. */
  budget: number;
  conversation: string | null;
  /** By what the record was found to be its own. */
  evidence: string | null;
  /** Nobody is called again before; infinity: not at all. Null: it has nothing to say about that. */
  retryFrom: number | null;
  /** Zones in which it went; null where the log does not tell, or they were changed since. */
  zones: readonly string[] | null;
  /** When a record first showed the call to be over, by the tables. */
  overAt: number | null;
}

export interface BatchBook {
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
  /** The verdicts as the log told them. */
  told: (string | null)[];
  firstPostedAt: number | null;
  /** The service answered that it took nothing, which a record may show to be wrong. */
  denied: boolean;
  /** Calls of the last POST, and how many were to be in it. */
  calls: AttemptBook[];
  posted: number;
  /** The state that a verdict asks for and that the log has not told of yet. */
  owes: string | null;
  /** The service was asked to give its calls back. */
  askedBack: boolean;
  /** It was confirmed by a record, and none of its calls has one yet. */
  lacksMatch: LoggedEvent | null;
  limits: Limits;
  onLine: number;
}

/** An outcome that the log has told of, until the next line of its row shows what it follows from. */
export interface PendingOutcome {
  line: JudgedLine;
  before: string | null;
  /** Whether a line since that one allows another. */
  explained: boolean;
  state: string;
}

/** The sample that is called before the others, and whether anybody has decided about it. */
export interface PilotBook {
  sample: number;
  rows: ReadonlySet<number>;
  /** `over`: it waits for the word of a person. */
  state: 'calling' | 'over' | 'passed';
}

/** Of each batch: when the pre-dial hook was last asked about it, and whom it allowed. */
export type ScreeningBook = Map<string, { at: number; eligible: ReadonlySet<unknown> }>;

export interface CampaignBook {
  campaignId: string;
  rules: JudgedRules;
  /** As the import tells them, for the tables. */
  toldRules: object;
  /** Its service can be asked for a request, and for the calls of a batch: the log says so by an API of another name. */
  looksUp: boolean;
  /** Of campaign file and list. */
  fileHash: string | null;
  limits: Limits;
  rows: number;
  /** 1, but for a test call, which keeps the number that its row has in the list. */
  firstRow: number;
  rejected: number;
  importedAt: number;
  rowBook: RowBook;
  /** Hashes of what is shown of the rows; empty where the log was begun without them. */
  cellBook: RowBook;
  state: string;
  /** The highest time so far. */
  lastAt: number;
  /** Service milliseconds per real one, the most that a request told. */
  speed: number;
  lastSeq: number;
  batches: Map<string, BatchBook>;
  outcomes: Map<string, string>;
  /** Why each has the outcome that it was given last. */
  reasons: Map<string, string | null>;
  /** `attempt conversation` of the records that a person has given to calls. */
  given: Set<string>;
  pending: Map<string, PendingOutcome>;
  /** Recipients about whom something was told since their outcome that may change it. */
  moved: Set<string>;
  /** Recipients that have lost their outcome and wait again. */
  requeued: Set<string>;
  promises: Map<string, PromiseBook>;
  /** How often a person had a row retried. */
  budgets: Map<string, number>;
  /** The attempts of each recipient, in order. */
  calls: Map<string, AttemptBook[]>;
  open: Set<AttemptBook>;
  /** The number of the last batch of each round. */
  batchesOf: Map<string, number>;
  /** When calls began in the last minute, where their number is limited. */
  starts: { at: number; attempt: AttemptBook }[];
  /** A refused batch, whose people are planned again in halves at the same instant. */
  split: { at: number; limits: Limits } | null;
  callersOut: Set<string>;
  screened: ScreeningBook;
  /** Recipients that a person took out and nobody put back. */
  withdrawn: Set<string>;
  /** Rows changed since the log last told their number. */
  edits: { added: number; corrected: number; withdrawn: number };
  rounds: number;
  /** Null: everybody is called from the beginning. */
  pilot: PilotBook | null;
  /** Talks that came to the goal, and in which round there were enough of them; null: there were not. */
  goals: { count: number; round: number | null; told: boolean };
  /** The campaign has ended, and the line of its round has not come yet. */
  owesRoundEnd: LoggedEvent | null;
}

/** A line of the log of a campaign, and what it is judged by. */
export interface JudgedLine {
  campaign: CampaignBook;
  /** What is known over all campaigns. */
  numbers: NumberBook;
  event: LoggedEvent;
  /** Of the event; empty when it tells nothing. */
  data: Record<string, unknown>;
  violate: Violate;
}

/** The book of a campaign that has just been imported. */
export function openBook(
  event: LoggedEvent,
  told: Pick<CampaignBook, 'rules' | 'toldRules' | 'looksUp' | 'fileHash' | 'rows' | 'firstRow' | 'rejected'>,
): CampaignBook {
  return {
    ...told,
    campaignId: event.campaignId,
    rowBook: new RowBook(),
    cellBook: new RowBook(),
    importedAt: event.at,
    lastAt: event.at,
    speed: 1,
    lastSeq: event.seq,
    limits: told.rules.pacing,
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
    goals: { count: 0, round: null, told: false },
    owesRoundEnd: null,
  };
}

export function callsOf(campaign: CampaignBook, recipientId: string): readonly AttemptBook[] {
  return campaign.calls.get(recipientId) ?? [];
}

/** The recipient of an attempt, by its id. */
export function rowOf(attemptId: string): string {
  return attemptId.slice(0, attemptId.lastIndexOf('/'));
}

/** Which of its row an attempt is, from 1. */
export function nthOf({ attemptId }: Pick<AttemptBook, 'attemptId'>): number {
  return Number(attemptId.slice(attemptId.lastIndexOf('/') + 1));
}

export function findAttempt(campaign: CampaignBook, attemptId = ''): AttemptBook | undefined {
  return callsOf(campaign, rowOf(attemptId)).find((attempt) => attempt.attemptId === attemptId);
}

/** Attempts of a recipient that use up its present budget. */
export function countedOf(campaign: CampaignBook, recipientId: string): AttemptBook[] {
  const budget = campaign.budgets.get(recipientId) ?? 0;
  return callsOf(campaign, recipientId).filter((attempt) => attempt.counted && attempt.budget === budget);
}

/** A recipient has a budget anew, and may be called at once. */
export function renewBudget(campaign: CampaignBook, recipientId: string): void {
  campaign.budgets.set(recipientId, (campaign.budgets.get(recipientId) ?? 0) + 1);
  forgetDelays(campaign, recipientId);
}

/** By the word of a person a recipient may be called at once. */
export function forgetDelays(campaign: CampaignBook, recipientId: string): void {
  for (const attempt of callsOf(campaign, recipientId)) attempt.retryFrom = null;
}

/** The number of a row in the list, by its id; null: the list has no such row. */
export function rowNumber(campaign: CampaignBook, recipientId: string): number | null {
  const { campaignId, firstRow, rows } = campaign;
  if (!recipientId.startsWith(`${campaignId}/`)) return null;
  const row = recipientId.slice(campaignId.length + 1);
  return /^[1-9]\d*$/.test(row) && Number(row) >= firstRow && Number(row) < firstRow + rows ? Number(row) : null;
}

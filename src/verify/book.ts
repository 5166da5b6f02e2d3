import type { CampaignEvent } from '../ledger/events.ts';
import { readJudgedRules, textOf, type JudgedRules, type Limits } from './judged-rules.ts';
import { minuteMs } from './local-time.ts';
import { NumberBook, type Callback, type PlacedCall } from './number-book.ts';
import { RowBook } from './row-book.ts';

/** A line of the log as it is read: its data is not trusted to have the form that it should. */
export type LoggedEvent = Omit<CampaignEvent, 'data'> & { data?: Record<string, unknown> };

export type EventType = LoggedEvent['type'];

/** What the tables know of a call beside the log: when its phone rang, and when its record first showed it to be over. */
export interface CallFacts {
  rangAt: number | null;
  overAt: number | null;
}

export class Attempt {
  readonly attemptId: string;
  readonly batchId: string;
  /** Which budget of its recipient it uses up. */
  readonly budget: number;
  /** The call, once it was posted; it stays known where it proves never to have been placed. */
  call: PlacedCall | null = null;
  /** When it was posted first, and when it ended first; null: not yet. */
  postedAt: number | null = null;
  endedAt: number | null = null;
  /** `released`: given back; null: it has not ended. */
  state: 'settled' | 'released' | null = null;
  disposition: string | null = null;
  detail: string | null = null;
  counted = false;
  /** What the talk came to, and which further call it asks for. */
  result: string | null = null;
  asks: string | null = null;
  conversation: string | null = null;
  /** By what the record was found to be its own. */
  evidence: string | null = null;
  /** The recipient is not called again before; infinity: not at all. Null: it has nothing to say about that. */
  retryFrom: number | null = null;
  /** Zones in which it went; null where the log does not say, or they were changed since. */
  zones: readonly string[] | null = null;
  /** When a record first showed the call to be over, by the tables. */
  overAt: number | null = null;

  constructor(attemptId: string, batchId: string, budget: number) {
    this.attemptId = attemptId;
    this.batchId = batchId;
    this.budget = budget;
  }

  get nth(): number {
    return Number(this.attemptId.slice(this.attemptId.lastIndexOf('/') + 1));
  }

  get isTalk(): boolean {
    return this.disposition === 'answered' || this.disposition === 'opted_out';
  }

  /** A talk after which the recipient is not called: only a record of its own, read to its end, may have asked for more. */
  get isLastWord(): boolean {
    return this.disposition === 'opted_out' || (this.disposition === 'answered' && this.asks === null);
  }
}

export class Batch {
  readonly batchId: string;
  readonly size: number;
  planned = 0;
  /** What it was planned by: its campaign's limits, and the calls that were on the line. */
  readonly limits: Limits;
  readonly onLine: number;
  state = 'intent';
  /** Under which name the service took it; null: it has not said so. */
  serviceId: string | null = null;
  /** The number that calls; empty before the first POST. */
  caller = '';
  k = 0;
  verdicts: (string | null)[] = [];
  /** The verdicts as the log has them. */
  logged: (string | null)[] = [];
  firstPostedAt: number | null = null;
  /** The service answered that it took nothing, which a record may show to be wrong. */
  denied = false;
  /** Calls of the last POST, and how many were to be in it. */
  calls: Attempt[] = [];
  posted = 0;
  /** The state that a verdict asks for and that the log does not have yet. */
  owes: string | null = null;
  askedBack = false;
  /** It was confirmed by a record, and none of its calls has one yet. */
  lacksMatch = false;

  constructor(batchId: string, size: number, limits: Limits, onLine: number) {
    this.batchId = batchId;
    this.size = size;
    this.limits = limits;
    this.onLine = onLine;
  }
}

/** An outcome of the log, until the next line of its row shows what it follows from. */
export interface PendingOutcome {
  event: LoggedEvent;
  before: string | null;
  explained: boolean;
  state: string;
}

export class Campaign {
  readonly campaignId: string;
  rules: JudgedRules;
  /** As the import has them, for the tables. */
  readonly loggedRules: object;
  /** Its service can be asked for a request, and for the calls of a batch: an API of another name shows it. */
  readonly looksUp: boolean;
  readonly fileHash: string | null;
  limits: Limits;
  rows: number;
  /** 1, but for a test call, which keeps the number that its row has in the list. */
  readonly firstRow: number;
  rejected: number;
  readonly rowBook = new RowBook();
  /** Hashes of what is shown of the rows; empty where the log was begun without them. */
  readonly cellBook = new RowBook();
  state = 'draft';
  lastAt: number;
  /** Service milliseconds per real one, the most that a request had. */
  speed = 1;
  readonly batches = new Map<string, Batch>();
  readonly outcomes = new Map<string, string>();
  readonly reasons = new Map<string, string | null>();
  /** `attempt conversation` of the records that an operator has given to calls. */
  readonly given = new Set<string>();
  readonly pending = new Map<string, PendingOutcome>();
  /** Recipients with a line since their outcome that may change it. */
  readonly moved = new Set<string>();
  /** Recipients that have lost their outcome and wait again. */
  readonly requeued = new Set<string>();
  readonly promises = new Map<string, Callback>();
  readonly budgets = new Map<string, number>();
  readonly calls = new Map<string, readonly Attempt[]>();
  readonly open = new Set<Attempt>();
  readonly batchesOf = new Map<string, number>();
  /** When calls began in the last minute, where their number is limited. */
  starts: { at: number; attempt: Attempt }[] = [];
  /** A refused batch, whose recipients are planned again in halves at the same instant. */
  split: { at: number; limits: Limits } | null = null;
  readonly callersOut = new Set<string>();
  /** Of each batch: when the pre-dial hook was last asked about it, and whom it allowed. */
  readonly screened = new Map<string, { at: number; eligible: ReadonlySet<unknown> }>();
  readonly withdrawn = new Set<string>();
  /** Rows changed since the log last had their number. */
  edits = { added: 0, corrected: 0, withdrawn: 0 };
  rounds = 0;
  /** The sample that is called before the others; `over`: it waits for an operator's decision. Null: all are called from the beginning. */
  pilot: { sample: number; rows: ReadonlySet<number>; state: 'calling' | 'over' | 'passed' } | null = null;
  /** Talks that came to the goal, and in which round there were enough of them; null: there were not. */
  readonly goals = { count: 0, round: null as number | null, logged: false };
  /** The campaign has ended, and the line of its round has not come yet. */
  owesRoundEnd = false;

  constructor({ campaignId, at, data = {} }: LoggedEvent, loggedRules: object) {
    this.campaignId = campaignId;
    this.lastAt = at;
    this.loggedRules = loggedRules;
    this.rules = readJudgedRules(loggedRules);
    this.limits = this.rules.pacing;
    this.looksUp = (textOf(data['api']) ?? 'contract') !== 'contract';
    this.fileHash = textOf(data['hash']);
    this.rows = Number(data['rows'] ?? NaN);
    this.firstRow = Number(data['firstRow'] ?? 1);
    this.rejected = Number(data['rejected'] ?? NaN);
  }

  get hasEnded(): boolean {
    return this.state === 'completed' || this.state === 'cancelled';
  }

  /** Whether the goal is reached in this round: whom an operator has called again in a later one is called. */
  get hasGoal(): boolean {
    return this.goals.round !== null && this.goals.round === this.rounds;
  }

  callsOf(recipientId: string): readonly Attempt[] {
    return this.calls.get(recipientId) ?? [];
  }

  find(attemptId: string): Attempt | undefined {
    return this.callsOf(rowOf(attemptId)).find((attempt) => attempt.attemptId === attemptId);
  }

  budgetOf(recipientId: string): number {
    return this.budgets.get(recipientId) ?? 0;
  }

  countedOf(recipientId: string): Attempt[] {
    const own = this.budgetOf(recipientId);
    return this.callsOf(recipientId).filter(({ counted, budget }) => counted && budget === own);
  }

  /** The number of a row in the list, by its id; null: the list has no such row. */
  rowNumber(recipientId: string): number | null {
    if (!recipientId.startsWith(`${this.campaignId}/`)) return null;
    const row = recipientId.slice(this.campaignId.length + 1);
    const isRow = /^[1-9]\d*$/.test(row) && Number(row) >= this.firstRow && Number(row) < this.firstRow + this.rows;
    return isRow ? Number(row) : null;
  }

  startsBefore(at: number): Campaign['starts'] {
    const { starts } = this;
    return (starts[0]?.at ?? at) <= at - minuteMs ? starts.filter((start) => start.at > at - minuteMs) : starts;
  }
}

export class Book {
  readonly campaigns = new Map<string, Campaign>();
  readonly numbers = new NumberBook();
  /** Batches by the names that the service gave them. */
  readonly serviceBatches = new Map<string, string>();
  /** By number whose person opted out in a call: the lines that say so, until the number stands on the do-not-call list. */
  readonly unlisted = new Map<string, LoggedEvent[]>();
  /** Times that are a little lower than one before them, as clocks of two processes may be: how many, and by how much at most. */
  readonly falls = { count: 0, mostMs: 0 };
  /** Key of the hashes of rows, and id of the database, which each reference names; null: it has none. */
  readonly rowKey: string | null;
  readonly ledgerId: string | null;

  constructor(rowKey: string | null = null, ledgerId: string | null = null) {
    this.rowKey = rowKey;
    this.ledgerId = ledgerId;
  }
}

export function rowOf(attemptId: string): string {
  return attemptId.slice(0, attemptId.lastIndexOf('/'));
}

export function isIdle(verdict: string | null | undefined): boolean {
  return verdict === 'not_sent' || verdict === 'refused';
}

export function isReached(outcome: string | undefined): boolean {
  return outcome === 'completed' || outcome === 'opted_out';
}

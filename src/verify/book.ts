import type { CampaignEvent } from '../ledger/events.ts';
import { readAuditedRules, textOf, type AuditedRules, type Limits } from './judged-rules.ts';
import { minuteMs } from './local-time.ts';
import { NumberState, type Callback, type PlacedCall } from './number-book.ts';
import { RowHashes } from './row-book.ts';

/** A log line as read: its data may have any form. */
export type LoggedEvent = Omit<CampaignEvent, 'data'> & { data?: Record<string, unknown> };

export type EventType = LoggedEvent['type'];

/** Beyond the log: when the phone rang, and when its record first showed the call as over. */
export interface CallFacts {
  rangAt: number | null;
  overAt: number | null;
}

export class Attempt {
  readonly attemptId: string;
  readonly batchId: string;
  /** Which budget of the recipient. */
  readonly budget: number;
  /** The call, once posted; kept even if it proves never to have been placed. */
  call: PlacedCall | null = null;
  /** First post and first end, epoch ms; null: not yet. */
  postedAt: number | null = null;
  endedAt: number | null = null;
  /** `released`: given back; null: not ended. */
  state: 'settled' | 'released' | null = null;
  disposition: string | null = null;
  detail: string | null = null;
  counted = false;
  /** Result of the talk, and the further call it asks for. */
  result: string | null = null;
  asks: string | null = null;
  conversation: string | null = null;
  /** How the record was matched. */
  evidence: string | null = null;
  /** Earliest next call of the recipient; Infinity: none. Null: no constraint. */
  retryFrom: number | null = null;
  /** Zones of the call; null: not logged, or changed since. */
  zones: readonly string[] | null = null;
  /** When a record first showed the call as over. */
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

  /** Ends the row: only the call's own record, read to its end, may have asked for more. */
  get isLastWord(): boolean {
    return this.disposition === 'opted_out' || (this.disposition === 'answered' && this.asks === null);
  }
}

export class Batch {
  readonly batchId: string;
  readonly size: number;
  planned = 0;
  /** At planning: the campaign's limits, and the calls on the line. */
  readonly limits: Limits;
  readonly onLine: number;
  state = 'intent';
  serviceId: string | null = null;
  /** The caller number; empty before the first POST. */
  caller = '';
  k = 0;
  verdicts: (string | null)[] = [];
  logged: (string | null)[] = [];
  firstPostedAt: number | null = null;
  /** The service answered that it took nothing; a record may disprove that. */
  denied = false;
  /** Calls of the last POST, and their expected number. */
  calls: Attempt[] = [];
  posted = 0;
  /** The state that a verdict requires and the log does not have yet. */
  owes: string | null = null;
  askedBack = false;
  /** Confirmed by a record, and no call of it has one yet. */
  lacksMatch = false;

  constructor(batchId: string, size: number, limits: Limits, onLine: number) {
    this.batchId = batchId;
    this.size = size;
    this.limits = limits;
    this.onLine = onLine;
  }
}

/** An outcome of the log, kept until the next line of its row shows its cause. */
export interface PendingOutcome {
  event: LoggedEvent;
  before: string | null;
  explained: boolean;
  state: string;
  rules: AuditedRules;
}

export class Campaign {
  readonly campaignId: string;
  rules: AuditedRules;
  /** For comparison with the tables. */
  readonly loggedRules: object;
  /** Its service has look-ups and reports: any API but the contract. */
  readonly looksUp: boolean;
  readonly fileHash: string | null;
  limits: Limits;
  rows: number;
  /** 1, except for a test call, which keeps its row number of the list. */
  readonly firstRow: number;
  rejected: number;
  readonly rowBook = new RowHashes();
  /** Hashes of the rows' visible cells; empty if the log began without them. */
  readonly cellBook = new RowHashes();
  state = 'draft';
  lastAt: number;
  /** Service ms per real ms, the maximum over its requests. */
  speed = 1;
  readonly batches = new Map<string, Batch>();
  readonly outcomes = new Map<string, string>();
  readonly reasons = new Map<string, string | null>();
  /** `attempt conversation` of records that an operator assigned to calls. */
  readonly given = new Set<string>();
  readonly pending = new Map<string, PendingOutcome>();
  /** Recipients with a line since their outcome that may change it. */
  readonly moved = new Set<string>();
  /** Recipients that lost their outcome and wait again. */
  readonly requeued = new Set<string>();
  readonly promises = new Map<string, Callback>();
  readonly budgets = new Map<string, number>();
  readonly calls = new Map<string, readonly Attempt[]>();
  readonly open = new Set<Attempt>();
  readonly batchesOf = new Map<string, number>();
  /** Calls begun in the last minute, if limited. */
  starts: { at: number; attempt: Attempt }[] = [];
  /** A refused batch whose recipients are planned again in halves at the same instant. */
  split: { at: number; limits: Limits } | null = null;
  readonly callersOut = new Set<string>();
  /** By batch: when the pre-dial hook was last called, and which calls it allowed. */
  readonly screened = new Map<string, { at: number; eligible: ReadonlySet<unknown> }>();
  readonly withdrawn = new Set<string>();
  /** Rows changed since the log last had their count. */
  edits = { added: 0, corrected: 0, withdrawn: 0 };
  rounds = 0;
  /** The sample called first; `over`: waits for an operator's decision. Null: no pilot, all are called. */
  pilot: { sample: number; rows: ReadonlySet<number>; state: 'calling' | 'over' | 'passed' } | null = null;
  /** Talks that reached the goal, and the round in which they sufficed; null: not yet. */
  readonly goals = { count: 0, round: null as number | null, logged: false };
  /** The campaign has ended without the line of its round yet. */
  owesRoundEnd = false;

  constructor({ campaignId, at, data = {} }: LoggedEvent, loggedRules: object) {
    this.campaignId = campaignId;
    this.lastAt = at;
    this.loggedRules = loggedRules;
    this.rules = readAuditedRules(loggedRules);
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

  /** Recipients that an operator retries in a later round are called despite the goal. */
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

  /** Null: no such row. */
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

export class AuditState {
  readonly campaigns = new Map<string, Campaign>();
  readonly numbers = new NumberState();
  /** Batches by the service's ids. */
  readonly serviceBatches = new Map<string, string>();
  /** Opt-outs in calls by number, until the number is on the do-not-call list. */
  readonly unlisted = new Map<string, LoggedEvent[]>();
  /** Slightly falling times, as from clocks of two processes: count and largest fall. */
  readonly falls = { count: 0, mostMs: 0 };
  /** Key of the row hashes, and the database id in each reference; null: none. */
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

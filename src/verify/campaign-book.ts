import type { CampaignRules } from '../domain/campaign-rules.ts';
import type { BatchState } from '../domain/ledger.ts';
import type { CampaignEvent } from '../store/events.ts';
import type { ScreeningBook } from './judge-screening.ts';

/** One attempt. */
export interface AttemptBook {
  recipientId: string;
  /** When it was first posted, and to which number; null: not yet. */
  postedAt: number | null;
  number: string | null;
  ended: boolean;
  /** How it ended, as last corrected; null: it has not, or was given back. */
  disposition: string | null;
  counted: boolean;
  /** Which budget of its recipient it uses up. */
  budget: number;
}

/** One batch. */
export interface BatchBook {
  state: BatchState;
  /** The last POST, and whether it is proven that nothing of it was queued. */
  k: number;
  provenIdle: boolean;
  /** Calls of that POST. */
  calls: string[];
}

/** An outcome that the log has told of, until the next line of its row shows what it follows from. */
export interface PendingOutcome {
  event: CampaignEvent;
  /** The outcome that the row had before. */
  before: string | null;
  /** Whether a line since that one allows another. */
  explained: boolean;
}

/** What the log has told of a campaign so far. */
export interface CampaignBook {
  rules: CampaignRules;
  rows: number;
  /** 1, but for a test call, which keeps the number that its row has in the list. */
  firstRow: number;
  rejected: number;
  state: string;
  attempts: Map<string, AttemptBook>;
  batches: Map<string, BatchBook>;
  /** Attempts of each recipient that use up its present budget. */
  counted: Map<string, Set<AttemptBook>>;
  outcomes: Map<string, string>;
  /** Outcomes not judged yet, by recipient. */
  pending: Map<string, PendingOutcome>;
  /** Recipients about whom something was told since their outcome that may change it. */
  moved: Set<string>;
  /** Recipients that have lost their outcome and wait again. */
  requeued: Set<string>;
  /** How often a person had a row retried. */
  budgets: Map<string, number>;
  /** The attempts of each recipient, in order. */
  calls: Map<string, AttemptBook[]>;
  /** The number of the last batch of each round. */
  batchesOf: Map<string, number>;
  /** Caller numbers that have been taken out. */
  callersOut: Set<string>;
  screened: ScreeningBook;
  /** Recipients that a person took out and nobody put back. */
  withdrawn: Set<string>;
  /** Rows changed since the log last told their number. */
  edits: { added: number; corrected: number; withdrawn: number };
}

/** The book of a campaign that has just been imported. */
export function openBook(
  rules: CampaignRules,
  { rows, firstRow, rejected }: Pick<CampaignBook, 'rows' | 'firstRow' | 'rejected'>,
): CampaignBook {
  return {
    rules,
    rows,
    firstRow,
    rejected,
    state: 'draft',
    attempts: new Map(),
    batches: new Map(),
    counted: new Map(),
    outcomes: new Map(),
    pending: new Map(),
    moved: new Set(),
    requeued: new Set(),
    budgets: new Map(),
    calls: new Map(),
    batchesOf: new Map(),
    callersOut: new Set(),
    screened: new Map(),
    withdrawn: new Set(),
    edits: { added: 0, corrected: 0, withdrawn: 0 },
  };
}

/** The attempts of a recipient, in order. */
export function callsOf(campaign: CampaignBook, recipientId: string): readonly AttemptBook[] {
  return campaign.calls.get(recipientId) ?? [];
}

/** Whether the list has this row: those that were imported and those that were added are numbered without a gap. */
export function isRowOf(campaign: CampaignBook, campaignId: string, recipientId: string): boolean {
  if (!recipientId.startsWith(`${campaignId}/`)) return false;
  const row = recipientId.slice(campaignId.length + 1);
  const { firstRow, rows } = campaign;
  return /^[1-9]\d*$/.test(row) && Number(row) >= firstRow && Number(row) < firstRow + rows;
}

import type { CampaignRules } from '../domain/campaign-rules.ts';
import type { BatchState } from '../domain/ledger.ts';
import type { ScreeningBook } from './judge-screening.ts';

/** One attempt. */
export interface AttemptBook {
  recipientId: string;
  /** When it was first posted; null: not yet. */
  postedAt: number | null;
  ended: boolean;
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

/** What the log has told of a campaign so far. */
export interface CampaignBook {
  rules: CampaignRules;
  rows: number;
  rejected: number;
  state: string;
  attempts: Map<string, AttemptBook>;
  batches: Map<string, BatchBook>;
  /** Attempts of each recipient that use up its present budget. */
  counted: Map<string, Set<AttemptBook>>;
  outcomes: Map<string, string>;
  /** How often a person had a row retried. */
  budgets: Map<string, number>;
  /** The newest attempt of each recipient. */
  latest: Map<string, AttemptBook>;
  /** Caller numbers that have been taken out. */
  callersOut: Set<string>;
  screened: ScreeningBook;
  /** Recipients that a person took out and nobody put back. */
  withdrawn: Set<string>;
  /** Rows changed since the log last told their number. */
  edits: { added: number; corrected: number; withdrawn: number };
}

/** The book of a campaign that has just been imported. */
export function openBook(rules: CampaignRules, rows: number, rejected: number): CampaignBook {
  return {
    rules,
    rows,
    rejected,
    state: 'draft',
    attempts: new Map(),
    batches: new Map(),
    counted: new Map(),
    outcomes: new Map(),
    budgets: new Map(),
    latest: new Map(),
    callersOut: new Set(),
    screened: new Map(),
    withdrawn: new Set(),
    edits: { added: 0, corrected: 0, withdrawn: 0 },
  };
}

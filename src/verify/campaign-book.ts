import type { CampaignRules } from '../domain/campaign-rules.ts';
import type { BatchState } from '../domain/ledger.ts';

/** One attempt. */
export interface AttemptBook {
  recipientId: string;
  posted: boolean;
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
  counted: Map<string, number>;
  outcomes: Map<string, string>;
  /** How often a person had a row retried. */
  budgets: Map<string, number>;
}

/** The book of a campaign that has just been imported. */
export function openBook(rules: CampaignRules, rows: number, rejected: number): CampaignBook {
  return {
    rules,
    rows,
    rejected,
    state: 'ready',
    attempts: new Map(),
    batches: new Map(),
    counted: new Map(),
    outcomes: new Map(),
    budgets: new Map(),
  };
}

import { callRules } from './rules/calls.ts';
import { limitRules } from './rules/limits.ts';
import { orderRules } from './rules/log.ts';
import { outcomeRules } from './rules/outcomes.ts';
import { recipientRules } from './rules/recipients.ts';
import type { Rule } from './rules/rule.ts';
import { tableRules } from './rules/tables.ts';

const all = { ...callRules, ...recipientRules, ...limitRules, ...outcomeRules, ...orderRules, ...tableRules };
export type LogRule = keyof typeof all;

export const logRules: Readonly<Record<LogRule, Rule>> = all;

export interface LogViolation {
  rule: LogRule;
  campaignId: string;
  /** Number of the event; null: missing at the log's end, or found in the tables. */
  seq: number | null;
  at: number | null;
  what: string;
}

/** Writes in progress can cause a difference, so it is checked again. */
export interface Difference {
  table: 'campaigns' | 'recipients' | 'attempts' | 'batches' | 'conversations' | 'suppressions' | 'house_rules';
  id: string;
  campaignId: string;
  rule: LogRule;
  what: string;
}

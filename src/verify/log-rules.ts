import { callRules } from './rules/calls.ts';
import { limitRules } from './rules/limits.ts';
import { orderRules } from './rules/log.ts';
import { outcomeRules } from './rules/outcomes.ts';
import { recipientRules } from './rules/recipients.ts';
import type { Rule } from './rules/rule.ts';
import { tableRules } from './rules/tables.ts';

const all = { ...callRules, ...recipientRules, ...limitRules, ...outcomeRules, ...orderRules, ...tableRules };
export type LogRule = keyof typeof all;

/** What log, tables and results are held to, by name, in the order of the report. */
export const logRules: Readonly<Record<LogRule, Rule>> = all;

export interface LogViolation {
  rule: LogRule;
  campaignId: string;
  /** Number of the event in the log; null for what is missing at its end, and for what the tables have. */
  seq: number | null;
  at: number | null;
  what: string;
}

/** A difference between log and tables. While they are being written it need not be one: it is looked at again. */
export interface Difference {
  table: 'campaigns' | 'recipients' | 'attempts' | 'batches' | 'conversations' | 'suppressions' | 'house_rules';
  id: string;
  campaignId: string;
  rule: LogRule;
  what: string;
}

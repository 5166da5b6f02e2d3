import type { CampaignEvent } from '../ledger/events.ts';
import type { LogRule } from './log-rules.ts';

/** A line of the log as the judge takes it: what it tells is not trusted to have the form that it should. */
export type LoggedEvent = Omit<CampaignEvent, 'data'> & { data?: Record<string, unknown> };

/** What the tables know of a call beside the log: when its phone rang, and when its record first showed it to be over. */
export interface CallFacts {
  rangAt: number | null;
  overAt: number | null;
}

/** A difference between log and tables. While they are being written it need not be one: it is looked at again. */
export interface Difference {
  table: 'campaigns' | 'recipients' | 'attempts' | 'batches' | 'conversations' | 'suppressions' | 'house_rules';
  id: string;
  campaignId: string;
  rule: LogRule;
  what: string;
}

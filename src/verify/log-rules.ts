import { campaignTransitions, type CampaignState } from '../domain/lifecycle.ts';

/** What the log is held to, by name. */
export const logRules = {
  dialled_twice: 'no request repeats a call unless the one before it is proven to have queued nothing',
  calls_overlap: 'no number is dialled while another call to it is open, in whatever campaign',
  outside_hours:
    'every call lies within start, end and expiry, campaign hours, holidays and law, in every zone of the number',
  suppressed_dialled: 'no number on the do-not-call list is dialled',
  cap_exceeded:
    'no number and no person is called more often than the caps of campaign and law allow, over all campaigns',
  budget_exceeded: 'nobody is called more often than the campaign allows',
  reached_dialled: 'nobody is called again who was reached or opted out',
  withdrawn_dialled: 'nobody is called whom a person withdrew and did not put back',
  open_changed: 'no row is changed or withdrawn while a call to its recipient is planned or open',
  unscreened_dialled: 'nobody is called without a fresh yes of the pre-dial hook, where the campaign has one',
  dialled_while_stopped: 'no call begins while the campaign is not running',
  caller_out_dialled: 'no call begins from a number that has been taken out',
  outcome_missing: 'when a campaign has ended, every row of its list has exactly one outcome, and nobody else has one',
  outcome_changed:
    'an outcome stays, unless a call, its correction or the word of a person follows that allows another',
  outcome_unproven: 'every outcome is what the calls of its row show',
  opt_out_unlisted: 'the number of everybody who opts out in a call is put on the do-not-call list, for ever',
  illegal_change: 'batches and campaigns change their state only as they may',
  log_incomplete: 'every step stands in the log after the one that it follows from',
} as const;
export type LogRule = keyof typeof logRules;

export interface LogViolation {
  rule: LogRule;
  campaignId: string;
  /** Number of the event in the log; null for what is missing at its end. */
  seq: number | null;
  at: number | null;
  what: string;
}

/** States by the names that they had in logs of earlier versions. */
const formerStates: Readonly<Record<string, CampaignState>> = { ready: 'draft', cancelling: 'draining' };

/** Whether a campaign may change from one state to the other, by the names in the log. */
export function mayMove(from: string, to: string): boolean {
  const known = (name: string): string => formerStates[name] ?? name;
  const moves: Readonly<Record<string, readonly string[]>> = campaignTransitions;
  return moves[known(from)]?.includes(known(to)) ?? false;
}

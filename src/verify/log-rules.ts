/** What log, tables and results are held to, by name. */
export const logRules = {
  dialled_twice: 'no request repeats a call unless the one before it is proven to have queued nothing',
  calls_overlap: 'no number is dialled while another call to it is open, in whatever campaign',
  outside_hours:
    'every call lies within start, end and expiry, hours and holidays of campaign and house, and law, in every zone of the number',
  row_forged: 'every call goes to the number of its row, and the row is where and who the list said',
  suppressed_dialled: 'no number on the do-not-call list is dialled',
  without_consent: 'nobody is called without a consent that holds, where the campaign asks for it, or after taking it back for its purpose',
  cap_exceeded: 'no number and no person rings more often than the caps of campaign, house and law allow, over all campaigns',
  house_broken: 'no campaign calls that lacks what the house rules require',
  house_differs: 'the house rules are what the log says: they were not changed in silence',
  budget_exceeded: 'nobody is called more often than the campaign allows',
  miscounted: 'a call uses up the budget unless it is proven that nobody picked up',
  retry_too_early: 'nobody is planned or called again before the delay that the end of the last call asks for',
  reached_dialled: 'nobody is called again who was reached or opted out',
  promise_broken_early: 'no number is called before the instant that was promised to it, in whatever campaign',
  promise_lost: 'every promise to call somebody back is kept in its time, or told as one that was not',
  pilot_exceeded: 'before a pilot has been decided about, nobody is called but the rows of its sample, once',
  goal_exceeded: 'nobody is called after the campaign has reached its goal, unless a call back was promised',
  withdrawn_dialled: 'nobody is called whom a person withdrew and did not put back',
  open_changed: 'no row is changed while a call to its recipient is planned or open, or withdrawn unless its service gives calls back',
  unscreened_dialled: 'nobody is called without a fresh yes of the pre-dial hook, where the campaign has one',
  dialled_while_stopped: 'no call begins while the campaign is not running',
  caller_out_dialled: 'no call begins from a number that has been taken out',
  caller_limit_exceeded: 'no number calls more often in an hour or a day than campaign and house allow, over all campaigns',
  lines_exceeded: 'no more calls are planned or open than the campaign has lines',
  pace_exceeded: 'no more calls begin in a minute than the campaign allows',
  outcome_missing: 'when a campaign has ended, every row of its list has exactly one outcome, and nobody else has one',
  outcome_changed: 'an outcome stays, unless a call, its correction or the word of a person follows that allows another',
  outcome_unproven: 'every outcome is what the calls of its row show',
  opt_out_unlisted: 'the number of everyone who opts out in a call is put on the do-not-call list, for ever',
  illegal_change: 'batches, calls and campaigns change their state only as they may',
  cause_missing: 'every request has its verdict, and every change the line that it follows from',
  time_reversed: 'the times of a campaign never fall',
  log_incomplete: 'every step stands in the log after the one that it follows from',
  campaign_differs: 'state, rules and rows of every campaign are in the tables as in the log',
  rows_differ: 'the results of every row are in the tables as in the log, and its number, zones and cells as imported',
  calls_differ: 'every call and the record that it owns are in the tables as in the log',
  requests_differ: 'every request, its verdict and its batch are in the tables as in the log',
  list_differs: 'the do-not-call list is what the log says: nobody was put on it or taken off it in silence',
  record_contradicts: 'no end of a call contradicts the record that it owns',
  record_ignored: "every record that names one of our calls belongs to that call, as stored and in the service's own list",
  service_differs: 'every batch that the service has from this database is in the log, and reported as the log has it',
  service_repeats: 'the service calls nobody a second time by itself',
} as const;
export type LogRule = keyof typeof logRules;

/** Notes what is wrong: the rule that is broken, and what happened. */
export type Violate = (rule: LogRule, what: string) => void;

export interface LogViolation {
  rule: LogRule;
  campaignId: string;
  /** Number of the event in the log; null for what is missing at its end, and for what the tables have. */
  seq: number | null;
  at: number | null;
  what: string;
}

import { waitWords, type RowFieldKey } from '../../list/row-fields.ts';
import type { ExclusionReason, WaitReason } from '../../rules/attempts/eligibility.ts';
import type { CallableCounts } from '../../campaign/preflight/callable-rows.ts';
import { printable } from '../../shared/input/printable.ts';

/** Wait reasons, for several rows and for one. */
interface WaitText {
  several: string;
  one: string;
}

/** Exclusion of one row, as heading, with the setting at fault. */
interface ExclusionText {
  one: string;
  label: string;
  note: string;
}

const waits: Readonly<Record<Exclude<WaitReason, RowFieldKey>, WaitText>> = {
  promised: { several: 'a call back was promised for then', one: 'a call back is promised for then' },
  number_busy: { several: 'another campaign has an open call to them', one: 'the number is on another open call' },
  attempt_budget: { several: "a retry's budget of attempts is used up", one: 'its attempts are used up until then' },
  frequency_cap: { several: 'a frequency cap is used up', one: 'a frequency cap is used up until then' },
  outside_hours: { several: 'outside calling hours', one: 'calling hours open then' },
};

/** Planner waits that are not rules, for several rows. */
const plannerWaits: Readonly<Record<string, string>> = {
  due: 'their turn: they are due',
  retry: 'the delay after their last call',
  later: 'a later time',
  evidence: 'the records of earlier calls are checked first',
  caller_limit: 'the number that they know has made as many calls as caller_limits allow',
  higher_priority: 'a campaign of higher priority calls them first',
  words: 'open calls that begin with the same words must end first',
};

const exclusions: Readonly<Record<ExclusionReason, ExclusionText>> = {
  withdrawn: { one: 'an operator withdrew it', label: 'withdrawn', note: 'carillon update --restore puts it back' },
  campaign_end: { one: 'the campaign ends before', label: 'due after the end', note: 'ends_at comes first' },
  row_expired: { one: 'the row expires before', label: 'row expired', note: 'list.expires_at has passed' },
  suppressed: { one: 'the number is on the do-not-call list', label: 'on the do-not-call list', note: '' },
  missing_consent: { one: 'its consent is not given yet', label: 'consent not given yet', note: 'consent.at lies in the future' },
  consent_expired: { one: 'its consent is too old', label: 'consent too old', note: 'consent.max_age' },
  consent_revoked: { one: 'consent for this purpose was taken back', label: 'consent taken back', note: 'carillon consent' },
  attempts_used_up: {
    one: 'all its attempts are used up',
    label: 'attempts to the number used up',
    note: 'retry.max_attempts_per_number',
  },
  unknown_timezone: {
    one: 'its time zone is not known',
    label: 'time zone unknown',
    note: 'name it with list.timezone or list.zip',
  },
  no_open_window_before_end: {
    one: 'no calling hours are left before the end',
    label: 'no open window before the end',
    note: 'of the campaign or of the row',
  },
  capped_until_end: {
    one: 'a frequency cap is used up until the end',
    label: 'frequency caps beyond the end',
    note: 'of the campaign or of the row',
  },
};

const several = { ...textsOf(waits, 'several'), ...waitWords('several'), ...plannerWaits };
const one = { ...textsOf(waits, 'one'), ...waitWords('one'), ...textsOf(exclusions, 'one') };

function textsOf<Key extends string>(table: Readonly<Record<string, Record<Key, string>>>, key: Key): Record<string, string> {
  return Object.fromEntries(Object.entries(table).map(([cause, texts]) => [cause, texts[key]]));
}

export function waitingText(rule: string): string {
  return several[rule] ?? reasonText(rule);
}

export function verdictReason(reason: string): string {
  return one[reason] ?? reasonText(reason);
}

/** Why an unreached recipient is not called again, by the row's reason. */
export function unreachedText(reason: string): string {
  if (reason === 'attempts_used_up') return 'all attempts used';
  const [, disposition] = /^no_retry_after_(\w+)$/.exec(reason) ?? [];
  return disposition === undefined ? reasonText(reason) : `no retry after ${reasonText(disposition)}`;
}

export function reasonText(reason: string): string {
  return printable(reason).replaceAll('_', ' ');
}

interface CallableLine {
  key: string;
  label: string;
  /** Negative: excluded rows. */
  rows: number;
  note: string;
  /** Part of the dialable rows, by when they can be called. */
  isPart: boolean;
}

export function callableLines({ rows, rejections, exclusions: excluded, dialable, start }: CallableCounts): CallableLine[] {
  const line = (key: string, label: string, count: number, note = '') => ({ key, label, rows: count, note, isPart: false });
  const parts = [
    line('open', 'as soon as it starts', start.open),
    line('hours', 'when their hours open', start.outsideHours),
    line('not-before', 'when their own date has come', start.notBefore, 'list.not_before'),
    line('capped', 'when limits of calls allow', start.capped, 'caps and budgets of attempts'),
  ];
  return [
    line('rows', 'rows of the list', rows),
    ...rejections.map(({ reason, count }) => line(reason, `rejected: ${reasonText(reason)}`, -count)),
    ...excluded.map(({ reason, count }) => line(reason, exclusions[reason].label, -count, exclusions[reason].note)),
    line('dialable', 'can be called', dialable),
    ...parts.flatMap((part) => (part.rows === 0 ? [] : [{ ...part, isPart: true }])),
  ];
}

/** `usedBy`: the campaign that also uses the number, if that is the cause. */
export function callerLimitText(usedBy: string | undefined): string {
  const whose = usedBy === undefined ? 'its caller numbers have made' : `campaign ${usedBy} uses this number, which has made`;
  return `${whose} as many calls as caller_limits allow; more numbers would help`;
}

import type { ExclusionReason } from '../preflight/funnel.ts';

/** Why an accepted row would never be called, and the setting that it is about. */
export const exclusionTexts: Readonly<Record<ExclusionReason, { label: string; note: string }>> = {
  campaign_end: { label: 'due after the end', note: 'ends_at comes first' },
  row_expired: { label: 'row expired', note: 'list.expires_at has passed' },
  suppressed: { label: 'on the do-not-call list', note: '' },
  attempts_used_up: { label: 'attempts to the number used up', note: 'retry.max_attempts_per_number' },
  unknown_timezone: { label: 'time zone unknown', note: 'name it with list.timezone or list.zip' },
  no_open_window_before_end: { label: 'no open window before the end', note: 'of the campaign or of the row' },
  capped_until_end: { label: 'frequency caps beyond the end', note: 'of the campaign or of the row' },
};

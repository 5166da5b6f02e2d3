import { DateTime } from 'luxon';
import { timeZone } from './time-zone.ts';

/** Placeholders for the list pattern of a recurring campaign, each with an example. */
export const schedulePlaceholders = {
  date: '2026-11-21',
  time: '0900',
  year: '2026',
  month: '11',
  day: '21',
  hour: '09',
  minute: '00',
  weekday: 'sat',
} as const;

/** Name of a placeholder. */
export type SchedulePlaceholder = keyof typeof schedulePlaceholders;

/** Leaves room for a scheduled run's time within the 64 characters of an id. */
export const longestRecurringId = 44;

/** Local time of a scheduled run as file name parts, such as `2026-11-21` for `date`. */
export function placeholderValuesOf(scheduledAtMs: number, zone: string): Record<SchedulePlaceholder, string> {
  const local = localTime(scheduledAtMs, zone);
  return {
    date: local.toFormat('yyyy-MM-dd'),
    time: local.toFormat('HHmm'),
    year: local.toFormat('yyyy'),
    month: local.toFormat('MM'),
    day: local.toFormat('dd'),
    hour: local.toFormat('HH'),
    minute: local.toFormat('mm'),
    weekday: local.toFormat('ccc').toLowerCase(),
  };
}

/**
 * Id of the campaign that a scheduled run starts, such as `reminders-2026-11-21t0900`: deterministic. Adds nonzero seconds (a manual
 * trigger), and `b` when clocks that go back repeat the time.
 */
export function scheduledCampaignId(campaignId: string, scheduledAtMs: number, zone: string): string {
  const local = localTime(scheduledAtMs, zone);
  const time = local.toFormat(local.second === 0 ? "yyyy-MM-dd't'HHmm" : "yyyy-MM-dd't'HHmmss");
  const isSecond = local.getPossibleOffsets().some((other) => other.toMillis() < local.toMillis());
  return `${campaignId}-${time}${isSecond ? 'b' : ''}`;
}

function localTime(instantMs: number, zone: string): DateTime {
  return DateTime.fromMillis(Math.floor(instantMs / 1000) * 1000, { zone: timeZone(zone), locale: 'en-US' });
}

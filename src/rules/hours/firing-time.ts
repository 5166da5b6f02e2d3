import { DateTime } from 'luxon';
import { timeZone } from './time-zone.ts';

/** What may stand between braces in the pattern of a recurring campaign's list, with an example of each. */
export const firingWords = {
  date: '2026-11-21',
  time: '0900',
  year: '2026',
  month: '11',
  day: '21',
  hour: '09',
  minute: '00',
  weekday: 'sat',
} as const;

/** A name that the list of a schedule may hold between braces. */
export type FiringWord = keyof typeof firingWords;

/** A campaign that recurs under this id leaves room for the time of a firing within the 64 characters of an id. */
export const longestRecurringId = 44;

/** The local time of a firing in words for file names, such as `2026-11-21` for `date`. */
export function wordsOfFiring(scheduledAtMs: number, zone: string): Record<FiringWord, string> {
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
 * Id of the campaign that a firing starts, such as `reminders-2026-11-21t0900`: one per firing and the same however often it is asked.
 * Seconds stand there only when there are any, as after a trigger by hand, and a `b` when clocks that go back show the time twice.
 */
export function firingCampaignId(campaignId: string, scheduledAtMs: number, zone: string): string {
  const local = localTime(scheduledAtMs, zone);
  const time = local.toFormat(local.second === 0 ? "yyyy-MM-dd't'HHmm" : "yyyy-MM-dd't'HHmmss");
  const isSecond = local.getPossibleOffsets().some((other) => other.toMillis() < local.toMillis());
  return `${campaignId}-${time}${isSecond ? 'b' : ''}`;
}

function localTime(instantMs: number, zone: string): DateTime {
  return DateTime.fromMillis(Math.floor(instantMs / 1000) * 1000, { zone: timeZone(zone), locale: 'en-US' });
}

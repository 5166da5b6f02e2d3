import { DateTime } from 'luxon';
import { parseDuration } from '../../input/duration.ts';
import { isTimeZoneName } from '../../campaign-file/zone-setting.ts';
import { timeZone as tableZone } from '../../domain/time-zone.ts';
import { describeCronFault } from '../../temporal/cron-expression.ts';
import type { Recurrence } from '../../temporal/schedules.ts';
import { UsageError } from '../../input/usage-error.ts';

export interface RecurrenceFlags {
  cron?: string;
  every?: string;
  timezone: string;
  catchUp: string;
  startAt?: string;
  endAt?: string;
  note?: string;
}

/** Shorter ones are a mistake in the unit: a campaign has to be imported, dialled and collected in between. */
const shortestIntervalMs = 60_000;
/** What the server takes at least, and what nobody wants to be called after. */
const catchUpMs = { least: 10_000, most: 7 * 86_400_000 };
const longestNote = 200;

/** Throws UsageError with what is wrong, where, and what to write instead. */
export function readRecurrence(flags: RecurrenceFlags, now: number): Recurrence {
  const { cron, every, timezone: timeZone } = flags;
  if ((cron === undefined) === (every === undefined)) {
    throw new UsageError(
      'Say when it fires with one of --cron "0 9 * * mon-fri" and --every 1d: a schedule takes one of them.',
    );
  }
  if (!isTimeZoneName(timeZone)) {
    throw new UsageError(
      `--timezone is ${JSON.stringify(timeZone)}, which is no time zone; write a name such as America/New_York or UTC.`,
    );
  }
  const fault = cron === undefined ? null : describeCronFault(cron);
  if (fault !== null) throw new UsageError(`--cron is ${JSON.stringify(cron)}: ${fault}.`);
  const startAt = readInstant('--start-at', flags.startAt, timeZone);
  const endAt = readInstant('--end-at', flags.endAt, timeZone);
  if (startAt !== null && startAt <= now) {
    const times = `${new Date(startAt).toISOString()} (it is ${new Date(now).toISOString()})`;
    throw new UsageError(
      `--start-at is ${times}: it lies in the past; leave it out to begin now, or write a later time.`,
    );
  }
  if (endAt !== null && endAt <= now) {
    const times = `${new Date(endAt).toISOString()} (it is ${new Date(now).toISOString()})`;
    throw new UsageError(`--end-at is ${times}: the schedule lies in the past; write a later time.`);
  }
  if (startAt !== null && endAt !== null && endAt <= startAt)
    throw new UsageError('--end-at is not after --start-at, so the schedule would never fire; write a later end.');
  if (flags.note !== undefined && flags.note.length > longestNote)
    throw new UsageError(`--note has ${flags.note.length} characters; write at most ${longestNote}.`);
  return {
    cron: cron?.trim() ?? null,
    everyMs: every === undefined ? null : readInterval(every),
    when: cron === undefined ? `every ${every}` : cron.trim(),
    timeZone,
    startAt,
    endAt,
    catchUpMs: readCatchUp(flags.catchUp),
    note: flags.note ?? null,
  };
}

function readInterval(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms >= shortestIntervalMs) return ms;
  throw new UsageError(`--every is ${JSON.stringify(text)}; write a duration such as 12h or 1d, at least 1m.`);
}

function readCatchUp(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms >= catchUpMs.least && ms <= catchUpMs.most) return ms;
  throw new UsageError(`--catch-up is ${JSON.stringify(text)}; write a duration such as 10m, from 10s to 7d.`);
}

/** A time without an offset is one of the schedule's zone. */
function readInstant(flag: string, text: string | undefined, timeZone: string): number | null {
  if (text === undefined) return null;
  const instant = DateTime.fromISO(text, { zone: tableZone(timeZone) });
  if (instant.isValid && /T\d\d:\d\d/.test(text)) return instant.toMillis();
  throw new UsageError(
    `${flag} is ${JSON.stringify(text)}; write a date and time such as 2030-11-30T09:00, which is one of the schedule's zone.`,
  );
}

import { DateTime } from 'luxon';
import { parseDuration } from '../../../shared/input/times.ts';
import { isTimeZoneName, timeZone as tableZone } from '../../../rules/hours/time-zone.ts';
import { touchedRuns, untouchedCron } from '../../../temporal/clock-changes.ts';
import { describeCronFault } from '../../../temporal/cron-expression.ts';
import type { Recurrence } from '../../../temporal/schedules.ts';
import { UsageError } from '../../../shared/input/errors.ts';

export interface WrittenRecurrence {
  cron?: string | undefined;
  every?: string | undefined;
  timezone: string;
  catchUp: string;
  startAt?: string | undefined;
  endAt?: string | undefined;
  keepSkipped?: boolean | undefined;
  note?: string | undefined;
}

/** Field name in messages: `--start-at`. */
type NameOf = (field: keyof WrittenRecurrence) => string;

/** A shorter interval is a wrong unit: a run has to import, dial and collect. */
const shortestIntervalMs = 60_000;
/** The server's minimum, and the longest sensible delay of a call. */
const catchUpMs = { least: 10_000, most: 7 * 86_400_000 };
const longestNote = 200;

/** Throws UsageError with what is wrong, where, and what to write instead. */
export function readRecurrence(written: WrittenRecurrence, now: number, nameOf: NameOf): Recurrence {
  const { cron, every, timezone: timeZone, keepSkipped = false, note } = written;
  if ((cron === undefined) === (every === undefined)) {
    throw new UsageError(
      `Say when it fires with one of ${nameOf('cron')} "0 9 * * mon-fri" and ${nameOf('every')} 1d: a schedule takes one of them.`,
    );
  }
  if (!isTimeZoneName(timeZone)) {
    throw new UsageError(
      `${nameOf('timezone')} is ${JSON.stringify(timeZone)}, which is no time zone; write a name such as America/New_York or UTC.`,
    );
  }
  const fault = cron === undefined ? null : describeCronFault(cron);
  if (fault !== null) throw new UsageError(`${nameOf('cron')} is ${JSON.stringify(cron)}: ${fault}.`);
  const span = readSpan(written, now, nameOf);
  if (note !== undefined && note.length > longestNote)
    throw new UsageError(`${nameOf('note')} has ${note.length} characters; write at most ${longestNote}.`);
  return {
    cron: cron?.trim() ?? null,
    everyMs: every === undefined ? null : readInterval(nameOf('every'), every),
    when: cron === undefined ? `every ${every}` : cron.trim(),
    timeZone,
    ...span,
    catchUpMs: readCatchUp(nameOf('catchUp'), written.catchUp),
    keepSkipped,
    note: note ?? null,
  };
}

/** Effect of clock changes in the next 400 days, and how to avoid it. */
export function clockEffects({ cron, timeZone, keepSkipped }: Pick<Recurrence, 'cron' | 'timeZone' | 'keepSkipped'>, now: number) {
  const touched = touchedRuns(cron, timeZone, now);
  const runs = touched.map(({ effect, local, at }) => ({
    effect: effect === 'skipped' && keepSkipped ? ('moved' as const) : effect,
    local,
    at: new Date(at).toISOString(),
  }));
  return { clockChanges: runs, untouchedCron: cron === null || touched.length === 0 ? null : untouchedCron(cron, timeZone, now) };
}

function readSpan(written: WrittenRecurrence, now: number, nameOf: NameOf): { startAt: number | null; endAt: number | null } {
  const { timezone: timeZone } = written;
  const [start, end] = [nameOf('startAt'), nameOf('endAt')];
  const startAt = readInstant(start, written.startAt, timeZone);
  const endAt = readInstant(end, written.endAt, timeZone);
  if (startAt !== null && startAt <= now) {
    const times = `${new Date(startAt).toISOString()} (it is ${new Date(now).toISOString()})`;
    throw new UsageError(`${start} is ${times}: it lies in the past; leave it out to begin now, or write a later time.`);
  }
  if (endAt !== null && endAt <= now) {
    const times = `${new Date(endAt).toISOString()} (it is ${new Date(now).toISOString()})`;
    throw new UsageError(`${end} is ${times}: the schedule lies in the past; write a later time.`);
  }
  if (startAt !== null && endAt !== null && endAt <= startAt)
    throw new UsageError(`${end} is not after ${start}, so the schedule would never fire; write a later end.`);
  return { startAt, endAt };
}

function readInterval(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms >= shortestIntervalMs) return ms;
  throw new UsageError(`${name} is ${JSON.stringify(text)}; write a duration such as 12h or 1d, at least 1m.`);
}

function readCatchUp(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms >= catchUpMs.least && ms <= catchUpMs.most) return ms;
  throw new UsageError(`${name} is ${JSON.stringify(text)}; write a duration such as 10m, from 10s to 7d.`);
}

/** Without an offset: local to the schedule's zone. */
function readInstant(name: string, text: string | undefined, timeZone: string): number | null {
  if (text === undefined) return null;
  const instant = DateTime.fromISO(text, { zone: tableZone(timeZone) });
  if (instant.isValid && /T\d\d:\d\d/.test(text)) return instant.toMillis();
  throw new UsageError(
    `${name} is ${JSON.stringify(text)}; write a date and time such as 2030-11-30T09:00, which is one of the schedule's zone.`,
  );
}

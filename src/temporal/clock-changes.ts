import { DateTime } from 'luxon';
import { timeZone as tableZone } from '../rules/hours/time-zone.ts';
import { cronMatcher, withHour } from './cron-expression.ts';

/** A cron run that a clock change skips or doubles. */
export interface TouchedRun {
  effect: 'skipped' | 'doubled';
  /** Local time, such as `2027-03-14T02:30`. */
  local: string;
  /** Epoch ms of the first instant after the skipped time, or of the first of two runs. */
  at: number;
}

const minuteMs = 60_000;
const stepMs = 6 * 60 * minuteMs;
/** Long enough to include both changes of any year. */
const lookAheadMs = 400 * 86_400_000;

/** At most one run per change; none for an interval or an hourly expression. */
export function touchedRuns(cron: string | null, zone: string, from: number, spanMs = lookAheadMs): TouchedRun[] {
  const matches = cron === null ? null : cronMatcher(cron);
  return matches === null ? [] : changesOf(zone, from, from + spanMs).flatMap((change) => touchedBy(change, matches));
}

/** The nearest hour that no clock change of the next 400 days affects; null for several hours. */
export function untouchedCron(cron: string, zone: string, from: number): string | null {
  for (let by = 1; by < 24; by += 1) {
    for (const shifted of [withHour(cron, by), withHour(cron, -by)])
      if (shifted !== null && touchedRuns(shifted, zone, from).length === 0) return shifted;
  }
  return null;
}

interface Change {
  at: number;
  /** Minutes ahead of UTC. */
  before: number;
  after: number;
}

function changesOf(name: string, from: number, to: number): Change[] {
  const zone = tableZone(name);
  const changes: Change[] = [];
  for (let at = Math.floor(from / minuteMs) * minuteMs; at < to; at += stepMs) {
    let [low, high] = [at, at + stepMs];
    const [before, after] = [zone.offset(low), zone.offset(high)];
    if (before === after) continue;
    while (high - low > minuteMs) {
      const middle = low + Math.floor((high - low) / 2 / minuteMs) * minuteMs;
      if (zone.offset(middle) === before) low = middle;
      else high = middle;
    }
    changes.push({ at: high, before, after });
  }
  return changes;
}

/** Finds the first matching run in the skipped or repeated minutes. */
function touchedBy({ at, before, after }: Change, matches: (wall: DateTime) => boolean): TouchedRun[] {
  const first = at + Math.min(before, after) * minuteMs;
  for (let minute = 0; minute < Math.abs(after - before); minute += 1) {
    const wall = DateTime.fromMillis(first + minute * minuteMs, { zone: 'utc' });
    if (!matches(wall)) continue;
    const effect = after > before ? 'skipped' : 'doubled';
    // Of a repeated time the server takes the later where the zone is ahead of UTC (Go's time.Date), and runs once.
    if (effect === 'doubled' && wall.toMillis() >= at) return [];
    return [{ effect, local: wall.toFormat("yyyy-MM-dd'T'HH:mm"), at: effect === 'skipped' ? at : wall.toMillis() - before * minuteMs }];
  }
  return [];
}

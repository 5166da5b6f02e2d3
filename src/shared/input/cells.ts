import { remember } from '../../rules/collections.ts';
import { timeZone } from '../../rules/hours/time-zone.ts';

export type InstantKind = 'start' | 'end';

const written = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?(?: ?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d))?)?$/i;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Fix for an unreadable time cell. */
export const instantForms = 'write 2026-11-30, 2026-11-30 17:00, or 2026-11-30T17:00:00-05:00';

/**
 * Epoch ms of a time cell: an instant with UTC offset, or a local date or date and time. Over several zones the latest start and the
 * earliest end, so both apply wherever the recipient is; without zones, anywhere on earth. A date alone covers its whole day. Null:
 * unreadable.
 */
export function readInstant(cell: string, kind: InstantKind, zones: readonly string[]): number | null {
  const match = written.exec(cell);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction, offset] = match;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const time = [hour, minute, second].map((part) => Number(part ?? 0)) as [number, number, number];
  // `Date.UTC` rolls a nonexistent day into the next month and maps two-digit years to the last century.
  const isDate = new Date(date).toISOString().startsWith(`${String(year)}-${String(month)}-${String(day)}`);
  if (!isDate || time[0] > 23 || time[1] > 59 || time[2] > 59) return null;
  const local = date + time[0] * hourMs + time[1] * minuteMs + time[2] * 1000 + Number((fraction ?? '').padEnd(3, '0'));
  if (offset !== undefined) return local - offsetOf(offset);
  const wall = hour === undefined && kind === 'end' ? local + dayMs : local;
  if (zones.length === 0) return kind === 'start' ? wall + 12 * hourMs : wall - 14 * hourMs;
  const instants = zones.map((zone) => instantIn(zone, wall, kind));
  return kind === 'start' ? Math.max(...instants) : Math.min(...instants);
}

function offsetOf(text: string): number {
  if (text.toUpperCase() === 'Z') return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(-2));
  return (text.startsWith('-') ? -minutes : minutes) * minuteMs;
}

/**
 * Instant at which a zone's clock shows `wall` (ms as if UTC). For a repeated time: the later as start, the earlier as end; a skipped time
 * moves forward by the gap.
 */
function instantIn(zone: string, wall: number, kind: InstantKind): number {
  const { before, after } = offsetsIn(zone)(Math.floor(wall / dayMs));
  if (before === after) return wall - before;
  const shown = [before, after].map((offset) => wall - offset).filter((at) => wall - at === offsetAt(zone, at));
  if (shown.length === 0) return wall - before;
  return kind === 'start' ? Math.max(...shown) : Math.min(...shown);
}

const mostDays = 1_000;

/**
 * UTC offsets a day before and after a local day, by zone. Cached: lists repeat zones and days, and the look-up costs more than the rest of
 * a row.
 */
const offsetsIn = remember((zone: string) =>
  remember((day: number) => ({ before: offsetAt(zone, (day - 1) * dayMs), after: offsetAt(zone, (day + 2) * dayMs) }), mostDays),
);

function offsetAt(zone: string, at: number): number {
  return timeZone(zone).offset(at) * minuteMs;
}

const errorValue = /^#(?:N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NULL!|NUM!|SPILL!|CALC!|GETTING_DATA|#+)$/i;

/** Why a template cell must not be spoken (a spreadsheet error value), else null. */
export function describeSpreadsheetError(cell: string): string | null {
  if (!cell.startsWith('#') || !errorValue.test(cell)) return null;
  return `${JSON.stringify(cell.slice(0, 20))} is an error or a filler of a spreadsheet; repair the formula or widen the column, and export again`;
}

/** True when scientific notation lost digits, as in `1.23457E+17`. */
export function isRoundedNumber(cell: string): boolean {
  return /^[+-]?\d(?:[.,]\d+)?E\+\d{2,3}$/i.test(cell);
}

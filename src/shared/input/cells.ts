import { remember } from '../../rules/collections.ts';
import { timeZone } from '../../rules/hours/time-zone.ts';

export type InstantKind = 'start' | 'end';

const written = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?(?: ?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d))?)?$/i;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** What a cell with a time may hold, as the fix of one that cannot be read. */
export const instantForms = 'write 2026-11-30, 2026-11-30 17:00, or 2026-11-30T17:00:00-05:00';

/**
 * Epoch milliseconds of a cell: an instant with its offset from UTC, or a date or a date and time by the clock of the recipient. With
 * several zones the start is the latest of them and the end the earliest, so that both hold wherever the recipient is; with none, wherever
 * on earth. A date alone starts with the day and ends with it. Null when the cell cannot be read.
 */
export function readInstant(cell: string, kind: InstantKind, zones: readonly string[]): number | null {
  const match = written.exec(cell);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction, offset] = match;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const time = [hour, minute, second].map((part) => Number(part ?? 0)) as [number, number, number];
  // A day that does not exist is counted on into the next month, and a year of two digits is one of the last century.
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
 * When the clock of a zone shows a time, given as milliseconds that would be right in UTC. Of a time that comes twice the later one is a
 * start and the earlier an end; one that the clock skips is as much after the change as it was meant to be after the hour before.
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
 * Offsets from UTC a day before and a day after a local day, by zone: the same unless the clock changes near it. Lists repeat zones and
 * days, and to ask the zone takes longer than all else about a row.
 */
const offsetsIn = remember((zone: string) =>
  remember((day: number) => ({ before: offsetAt(zone, (day - 1) * dayMs), after: offsetAt(zone, (day + 2) * dayMs) }), mostDays),
);

function offsetAt(zone: string, at: number): number {
  return timeZone(zone).offset(at) * minuteMs;
}

const errorValue = /^#(?:N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NULL!|NUM!|SPILL!|CALC!|GETTING_DATA|#+)$/i;

/** Why a cell that a template uses must not be spoken, when it holds what a spreadsheet shows instead of a value; else null. */
export function describeSpreadsheetError(cell: string): string | null {
  if (!cell.startsWith('#') || !errorValue.test(cell)) return null;
  return `${JSON.stringify(cell.slice(0, 20))} is an error or a filler of a spreadsheet; repair the formula or widen the column, and export again`;
}

/** Whether a number has lost digits to scientific notation, as `1.23457E+17`. */
export function isRoundedNumber(cell: string): boolean {
  return /^[+-]?\d(?:[.,]\d+)?E\+\d{2,3}$/i.test(cell);
}

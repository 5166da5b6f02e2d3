import { remember } from '../collections.ts';
import type { DatedCalendar } from './calling-window.ts';
import { readWindows, weeklyHours, windowText, type WrittenWindow } from './weekly-hours.ts';
import { weekdays, type Weekday, type WeeklyHours } from '../campaign-rules.ts';

/** A window as written and as read, with its first and last day; null: every day. */
interface Entry {
  span: readonly [first: Weekday, last: Weekday] | null;
  text: string;
  window: WrittenWindow;
}

const example = '"14:00-16:00", "Mon-Fri 18:00-20:00", or several windows with commas between them';
const day = '(mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)';
const entryPattern = new RegExp(`^(?:${day}(?:\\s*[-–]\\s*${day})?\\s+)?(\\d.*)$`, 'i');

/**
 * Reads a row's own hours: windows as in a campaign file, all or none of them after a weekday or a range of weekdays; without one, for
 * every day. Returns the form that `ownCalendar` takes, or what to write.
 */
export function readOwnHours(cell: string): { value: string } | { fix: string } {
  const entries = readEntries(cell);
  if ('fix' in entries) return { fix: `write ${example}${entries.fix === '' ? '' : ` (${entries.fix})`}` };
  return { value: entries.map(entryText).join(', ') };
}

/** Reads the same format as the hours of a week, or returns what to write. */
export function readWeek(text: string): WeeklyHours | { fix: string } {
  const entries = readEntries(text);
  return 'fix' in entries ? { fix: `write ${example}${entries.fix === '' ? '' : ` (${entries.fix})`}` } : weekOf(entries);
}

function weekOf(entries: readonly Entry[]): WeeklyHours {
  const windowsOn = (name: Weekday) => entries.filter((entry) => isOn(entry, name)).map(({ window }) => window);
  return weeklyHours(Object.fromEntries(weekdays.map((name) => [name, windowsOn(name)])));
}

/** Cached calendars; rows use few different hours. */
const mostAtHand = 1_000;

/** Calendar of such hours. Cached as an object, since results are cached per calendar. */
export const ownCalendar = remember((hours: string): DatedCalendar => {
  const read = readEntries(hours);
  // Unreadable hours are never open.
  return { hours: weekOf('fix' in read ? [] : read), closedOn: [], isOwn: true };
}, mostAtHand);

function readEntries(text: string): Entry[] | { fix: string } {
  const entries: Entry[] = [];
  for (const part of text.split(/[,;]/)) {
    const [, first, last, window = ''] = entryPattern.exec(part.trim()) ?? [];
    const read = readWindows(window);
    if ('fix' in read) return { fix: window === '' ? '' : read.fix };
    const nameOf = (written: string) => written.slice(0, 3).toLowerCase() as Weekday;
    const span = first === undefined ? null : ([nameOf(first), nameOf(last ?? first)] as const);
    for (const each of read) entries.push({ span, text: window, window: each });
  }
  if (new Set(entries.map(({ span }) => span === null)).size > 1) return { fix: 'the days before each window, or before none' };
  for (const name of weekdays) {
    const windows = entries.flatMap((entry) => (isOn(entry, name) ? [entry.text] : []));
    const read = windows.length === 0 ? [] : readWindows(windows);
    if ('fix' in read) return read;
  }
  return entries;
}

/** A span may wrap: Friday to Monday includes Saturday and Sunday. */
function isOn({ span }: Entry, name: Weekday): boolean {
  if (span === null) return true;
  const [first, last, weekday] = [weekdays.indexOf(span[0]), weekdays.indexOf(span[1]), weekdays.indexOf(name)];
  return first <= last ? first <= weekday && weekday <= last : first <= weekday || weekday <= last;
}

function entryText({ span, window }: Entry): string {
  if (span === null) return windowText(window);
  const [first, last] = span.map((name) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`) as [string, string];
  return `${first === last ? first : `${first}-${last}`} ${windowText(window)}`;
}

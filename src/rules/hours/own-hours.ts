import { remember } from '../collections.ts';
import type { DatedCalendar } from './calling-window.ts';
import { readWindows, weeklyHours, windowText, type WrittenWindow } from './weekly-hours.ts';
import { weekdays, type Weekday, type WeeklyHours } from '../campaign-rules.ts';

/** A window, as written and as read, and from which day to which it holds; null: every day. */
interface Entry {
  span: readonly [first: Weekday, last: Weekday] | null;
  text: string;
  window: WrittenWindow;
}

const example = '"14:00-16:00", "Mon-Fri 18:00-20:00", or several windows with commas between them';
const day = '(mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)';
const entryPattern = new RegExp(`^(?:${day}(?:\\s*[-–]\\s*${day})?\\s+)?(\\d.*)$`, 'i');

/**
 * Reads the hours that a row sets for itself: windows as a campaign file has them, each with a weekday or several from one to another
 * before it, or none of them: then they hold every day. Answers them in the one form that `ownCalendar` takes, or what to write.
 */
export function readOwnHours(cell: string): { value: string } | { fix: string } {
  const entries = readEntries(cell);
  if ('fix' in entries) return { fix: `write ${example}${entries.fix === '' ? '' : ` (${entries.fix})`}` };
  return { value: entries.map(entryText).join(', ') };
}

/** Reads the same as the hours of a week; what to write instead when they cannot be read. */
export function readWeek(text: string): WeeklyHours | { fix: string } {
  const entries = readEntries(text);
  return 'fix' in entries ? { fix: `write ${example}${entries.fix === '' ? '' : ` (${entries.fix})`}` } : weekOf(entries);
}

function weekOf(entries: readonly Entry[]): WeeklyHours {
  const windowsOn = (name: Weekday) => entries.filter((entry) => isOn(entry, name)).map(({ window }) => window);
  return weeklyHours(Object.fromEntries(weekdays.map((name) => [name, windowsOn(name)])));
}

/** Calendars of so many kinds of hours are at hand; people choose among few. */
const mostAtHand = 1_000;

/** The calendar of such hours; the same one while few kinds are asked for, since what is worked out for a calendar is kept with it. */
export const ownCalendar = remember((hours: string): DatedCalendar => {
  const read = readEntries(hours);
  // What cannot be read is never open.
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

/** From Friday to Monday there are Friday, Saturday, Sunday and Monday. */
function isOn({ span }: Entry, name: Weekday): boolean {
  if (span === null) return true;
  const [first, last, asked] = [weekdays.indexOf(span[0]), weekdays.indexOf(span[1]), weekdays.indexOf(name)];
  return first <= last ? first <= asked && asked <= last : first <= asked || asked <= last;
}

function entryText({ span, window }: Entry): string {
  if (span === null) return windowText(window);
  const [first, last] = span.map((name) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`) as [string, string];
  return `${first === last ? first : `${first}-${last}`} ${windowText(window)}`;
}

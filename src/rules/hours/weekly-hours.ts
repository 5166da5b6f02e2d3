import { weekdays, type DailyWindow, type Weekday, type WeeklyHours } from '../campaign-rules.ts';

/** Minutes since midnight; a `to` at or before `from` is on the next day. */
export interface WrittenWindow {
  from: number;
  to: number;
}

/** Reads `09:00-17:00`, or `22:00-02:00` for one that ends on the next day; null: unreadable or empty. */
export function readWindow(value: unknown): WrittenWindow | null {
  const match = typeof value === 'string' ? /^(\d\d?):(\d\d)\s*[-–]\s*(\d\d?):(\d\d)$/.exec(value.trim()) : null;
  if (match === null) return null;
  const [fromHour, fromMinute, toHour, toMinute] = match.slice(1).map(Number) as [number, number, number, number];
  const window = { from: fromHour * 60 + fromMinute, to: toHour * 60 + toMinute };
  const isTime = fromMinute < 60 && toMinute < 60 && window.from < 1440 && window.to <= 1440;
  return isTime && window.from !== window.to ? window : null;
}

const windowsFix =
  'write "09:00-17:00", "22:00-02:00" for one that ends on the next day, or a list of windows that do not overlap; leave a closed day out';
/** A longer window that ends on the next day has its times reversed. */
const longestNight = 12 * 60;

/** Reads one window or a list of them from a campaign file; if unusable, what to write instead. */
export function readWindows(value: unknown): WrittenWindow[] | { fix: string } {
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  const windows: WrittenWindow[] = [];
  for (const text of texts) {
    const window = readWindow(text);
    if (window === null) return { fix: isEmptyWindow(text) ? emptyFix : windowsFix };
    if (window.to < window.from && window.to + 1440 - window.from > longestNight) return { fix: reversedFix };
    windows.push(window);
  }
  if (windows.length === 0) return { fix: windowsFix };
  const overlap = findOverlap(windows);
  return overlap === null ? windows : { fix: overlapFix(...overlap) };
}

/** `09:00-17:00`, as in a campaign file. */
export function windowText({ from, to }: WrittenWindow): string {
  return `${clockText(from)}-${clockText(to)}`;
}

/** `mon-fri 09:00-20:00`, several windows separated by commas, as `readWeek` takes it. */
export function weekText(hours: WeeklyHours): string {
  const stretches: { from: string; to: string; open: string[] }[] = [];
  for (const day of weekdays) {
    const open = (hours[day] ?? []).map(windowText);
    const last = stretches.at(-1);
    if (last?.open.join() === open.join()) last.to = day;
    else stretches.push({ from: day, to: day, open });
  }
  return stretches.flatMap(({ from, to, open }) => open.map((window) => `${from === to ? from : `${from}-${to}`} ${window}`)).join(', ');
}

function clockText(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

function overlapFix(first: WrittenWindow, second: WrittenWindow): string {
  const both = `"${windowText(first)}" and "${windowText(second)}" overlap`;
  return `write windows that do not overlap: ${both}; let one end before the other begins, or make them one`;
}

const emptyFix = 'write an end after the start, or "00:00-24:00" for the whole day; leave a closed day out';
const reversedFix = 'write the earlier time first; a window that ends on the next day lasts 12 hours at most';

function isEmptyWindow(value: unknown): boolean {
  const [from, to] = typeof value === 'string' ? value.split(/[-–]/).map((time) => time.trim()) : [];
  return from !== undefined && from === to && readWindow(`${from}-24:00`) !== null;
}

/** Continuously open stretches of a week, by the day on which they begin; one may last several days. */
export function openStretches(hours: WeeklyHours): { day: Weekday; minutes: number }[] {
  const stretches: { day: Weekday; from: number; to: number }[] = [];
  for (const [index, day] of weekdays.entries()) {
    for (const { from, to } of hours[day] ?? []) {
      const last = stretches.at(-1);
      if (last?.to === index * 1440 + from) last.to = index * 1440 + to;
      else stretches.push({ day, from: index * 1440 + from, to: index * 1440 + to });
    }
  }
  const [first] = stretches;
  const last = stretches.at(-1);
  if (first !== undefined && last !== undefined && first !== last && first.from === 0 && last.to === 7 * 1440) {
    last.to += first.to;
    stretches.shift();
  }
  return stretches.map(({ day, from, to }) => ({ day, minutes: to - from }));
}

/** Hours per weekday: past midnight they continue on the next day, and touching windows are joined. */
export function weeklyHours(written: { [Day in Weekday]?: readonly WrittenWindow[] | undefined }): WeeklyHours {
  const open = new Map<Weekday, DailyWindow[]>();
  const add = (day: Weekday, window: DailyWindow): void => void open.set(day, [...(open.get(day) ?? []), window]);
  for (const [index, day] of weekdays.entries()) {
    for (const { from, to } of written[day] ?? []) {
      if (from < to) add(day, { from, to });
      else {
        add(day, { from, to: 1440 });
        if (to > 0) add(weekdays[(index + 1) % 7] ?? day, { from: 0, to });
      }
    }
  }
  return Object.fromEntries([...open].map(([day, windows]) => [day, joinWindows(windows)]));
}

function findOverlap(windows: readonly WrittenWindow[]): [WrittenWindow, WrittenWindow] | null {
  const spans = windows.map((window) => ({ window, end: window.from < window.to ? window.to : window.to + 1440 }));
  spans.sort((a, b) => a.window.from - b.window.from);
  for (const [index, span] of spans.entries()) {
    const next = spans[index + 1];
    if (next !== undefined && next.window.from < span.end) return [span.window, next.window];
  }
  return null;
}

function joinWindows(windows: readonly DailyWindow[]): DailyWindow[] {
  const joined: DailyWindow[] = [];
  for (const window of windows.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last !== undefined && window.from <= last.to) last.to = Math.max(last.to, window.to);
    else joined.push({ ...window });
  }
  return joined;
}

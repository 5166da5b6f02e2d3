import { weekdays, type DailyWindow, type Weekday, type WeeklyHours } from '../domain/campaign-rules.ts';

/** Minutes since midnight; a `to` at or before `from` is on the next day. */
export interface WrittenWindow {
  from: number;
  to: number;
}

/** Reads `09:00-17:00`, or `22:00-02:00` for one that ends on the next day; null when it cannot be read or is empty. */
export function readWindow(value: unknown): WrittenWindow | null {
  const match = typeof value === 'string' ? /^(\d\d?):(\d\d)\s*[-–]\s*(\d\d?):(\d\d)$/.exec(value.trim()) : null;
  if (match === null) return null;
  const [fromHour, fromMinute, toHour, toMinute] = match.slice(1).map(Number) as [number, number, number, number];
  const window = { from: fromHour * 60 + fromMinute, to: toHour * 60 + toMinute };
  const isTime = fromMinute < 60 && toMinute < 60 && window.from < 1440 && window.to <= 1440;
  return isTime && window.from !== window.to ? window : null;
}

/** Hours by weekday as they hold on each day: what lasts past midnight is open on the next day too, and what touches is one window. */
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

/** The two windows of a day that overlap, as written; null when none do. */
export function findOverlap(windows: readonly WrittenWindow[]): [WrittenWindow, WrittenWindow] | null {
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

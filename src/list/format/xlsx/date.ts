const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Day 0 of each way to count. Spreadsheets that begin in 1900 believe that it had a 29 February. */
const dayZero1900 = Date.UTC(1899, 11, 30);
const dayZero1904 = Date.UTC(1904, 0, 1);
const lastDay = 2_958_465;

/**
 * A date of a spreadsheet as ISO text without a zone: `2026-11-30`, `2026-11-30T09:30`, or `09:30`. Null when the number is no date.
 */
export function showDate(
  serial: number,
  { hasDate, hasTime }: { hasDate: boolean; hasTime: boolean },
  from1904: boolean,
): string | null {
  if (serial < 0 || serial > lastDay + 1) return null;
  // Seconds, since a time is a fraction that is hardly ever exact.
  const ms = Math.round(serial * 86_400) * 1000;
  if (!hasDate) return showTime(ms);
  const beforeLeap = !from1904 && serial < 60;
  const date = new Date((from1904 ? dayZero1904 : dayZero1900) + ms + (beforeLeap ? dayMs : 0));
  if (!from1904 && (serial < 1 || (serial >= 60 && serial < 61))) return null;
  const iso = date.toISOString();
  const isMidnight = ms % dayMs === 0;
  return hasTime && !isMidnight ? `${iso.slice(0, 10)}T${showTime(ms % dayMs)}` : iso.slice(0, 10);
}

function showTime(ms: number): string {
  const two = (count: number): string => String(count).padStart(2, '0');
  const seconds = (ms / 1000) % 60;
  return `${two(Math.floor(ms / hourMs))}:${two(Math.floor(ms / 60_000) % 60)}${seconds === 0 ? '' : `:${two(seconds)}`}`;
}

import { DateTime } from 'luxon';

/** Which end of a stretch of time a cell tells. */
export type InstantKind = 'start' | 'end';

/** Where no zone is known: the two between which every place of the earth lies. */
const anywhere = ['Etc/GMT+12', 'Etc/GMT-14'];

const written = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?: ?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d))?)?$/i;
const dateOnlyLength = '2026-11-30'.length;

/** What a cell with a time may hold, as the fix of one that cannot be read. */
export const instantForms = 'write 2026-11-30, 2026-11-30 17:00, or 2026-11-30T17:00:00-05:00';

/**
 * Epoch milliseconds of a cell: an instant with its offset from UTC, or a date or a date and time by the clock of the recipient. With several zones
 * the start is the latest of them and the end the earliest, so that both hold wherever the recipient is. A date alone starts with the day
 * and ends with it. Null when the cell cannot be read.
 */
export function readInstant(cell: string, kind: InstantKind, zones: readonly string[]): number | null {
  const match = written.exec(cell);
  if (match === null) return null;
  const text = cell
    .toUpperCase()
    .replace(/^(.{10}) /, '$1T')
    .replace(' ', '');
  if (match[1] !== undefined) return millis(DateTime.fromISO(text, { setZone: true }));
  const instants = (zones.length === 0 ? anywhere : zones).flatMap((zone) => {
    const local = DateTime.fromISO(text, { zone });
    if (!local.isValid) return [];
    const isEndOfDay = kind === 'end' && text.length === dateOnlyLength;
    return isEndOfDay ? [local.plus({ days: 1 })] : local.getPossibleOffsets();
  });
  if (instants.length === 0) return null;
  const all = instants.map((instant) => instant.toMillis());
  return kind === 'start' ? Math.max(...all) : Math.min(...all);
}

function millis(instant: DateTime): number | null {
  return instant.isValid ? instant.toMillis() : null;
}

import type { DateTime } from 'luxon';

const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

interface Field {
  name: string;
  from: number;
  to: number;
  names?: readonly string[];
  /** Number of the first name. */
  firstName?: number;
}

const fields: readonly Field[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, names: monthNames, firstName: 1 },
  { name: 'day of the week', from: 0, to: 7, names: weekdayNames, firstName: 0 },
];

const meanings: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const shorthands = Object.keys(meanings);

/**
 * Describes a fault of an expression; null when the server will read it as intended. The server accepts more: seconds, years, a zone,
 * comments, and reversed ranges, of which it keeps the first day.
 */
export function describeCronFault(expression: string): string | null {
  const text = expression.trim();
  if (text.startsWith('@')) return shorthands.includes(text.toLowerCase()) ? null : `write five fields, or one of ${shorthands.join(', ')}`;
  if (/^(CRON_)?TZ=/i.test(text)) return 'leave the zone out: --timezone names it';
  const parts = text.split(/\s+/);
  if (text === '' || parts.length !== fields.length) {
    return `write five fields (minute, hour, day of the month, month, day of the week), such as "0 9 * * mon-fri"; here are ${text === '' ? 0 : parts.length}`;
  }
  for (const [index, field] of fields.entries()) {
    const fault = describeFieldFault(parts[index] ?? '', field);
    if (fault !== null) return `${field.name} ${JSON.stringify(parts[index])}: ${fault}`;
  }
  return null;
}

/** Matches local times of a valid expression; day of month and weekday must both match, as on the server. Null when it runs every hour. */
export function cronMatcher(expression: string): ((wall: DateTime) => boolean) | null {
  const [minutes, hours, days, months, weekdays] = partsOf(expression).map((part, index) => readField(part, fields[index] as Field));
  if (hours?.size === 24) return null;
  const isIn = (values: Set<number> | undefined, value: number) => values?.has(value) ?? false;
  return ({ minute, hour, day, month, weekday }) =>
    isIn(minutes, minute) &&
    isIn(hours, hour) &&
    isIn(days, day) &&
    isIn(months, month) &&
    (isIn(weekdays, weekday) || (weekday === 7 && isIn(weekdays, 0)));
}

/** Shifts the hour; null when it is no single number, or would leave the day. */
export function withHour(expression: string, by: number): string | null {
  const [minute, hour, ...rest] = partsOf(expression);
  const shifted = Number(hour) + by;
  if (!/^\d+$/.test(hour ?? '') || shifted < 0 || shifted > 23) return null;
  return [minute, shifted, ...rest].join(' ');
}

function partsOf(expression: string): string[] {
  const text = expression.trim();
  return (meanings[text.toLowerCase()] ?? text).split(/\s+/);
}

function readField(text: string, field: Field): Set<number> {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const [range = '', step] = item.split('/');
    const [first, last] = range === '*' ? [field.from, field.to] : range.split('-').map((part) => readValue(part, field) ?? NaN);
    // A single value with a step runs to the field's end.
    const to = last ?? (step === undefined ? first : field.to);
    for (let value = first ?? NaN; value <= (to ?? NaN); value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

function describeFieldFault(text: string, field: Field): string | null {
  for (const item of text.split(',')) {
    const match = /^(?:\*|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:\/(\d{1,4}))?$/i.exec(item);
    if (match === null) return `write *, a value, a range such as ${example(field)}, or several with commas`;
    const [, first, last, step] = match;
    if (step !== undefined && Number(step) === 0) return 'a step is at least 1';
    const bounds = [first, last].filter((part) => part !== undefined).map((part) => readValue(part, field));
    const names = field.names === undefined ? '' : ` or ${field.names[0]} to ${field.names.at(-1)}`;
    if (bounds.includes(null)) return `write values from ${field.from} to ${field.to}${names}`;
    const [from, to] = bounds;
    if (from != null && to != null && to < from) return `the range ends before it begins: write ${first}-${field.to},${field.from}-${last}`;
  }
  return null;
}

function readValue(text: string, field: Field): number | null {
  const named = field.names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + (field.firstName ?? 0);
  if (!/^\d{1,2}$/.test(text)) return null;
  const value = Number(text);
  return value >= field.from && value <= field.to ? value : null;
}

function example(field: Field): string {
  return field.names === undefined ? `${field.from}-${field.to}` : `${field.names[1]}-${field.names[3]}`;
}

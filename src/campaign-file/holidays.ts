import { createRequire } from 'node:module';
import type Holidays from 'date-holidays';
import { indianHolidays } from './indian-holidays.ts';

/** A country, or a part of it: `US`, `US-LA`, `GB-ENG`. */
export interface HolidayPlace {
  country: string;
  region: string | null;
}

const load = createRequire(import.meta.url);

/** Loaded when holidays are asked for: that takes longer than most commands. */
function loadCalendars(): typeof Holidays {
  return load('date-holidays') as typeof Holidays;
}

const read = new Map<string, readonly string[]>();

/** Whether public holidays of the place are known. */
export function knowsHolidays({ country, region }: HolidayPlace): boolean {
  const calendar = new (loadCalendars())();
  if (calendar.getCountries()[country] === undefined) return false;
  return region === null || calendar.getStates(country)?.[region] !== undefined;
}

/** Local dates (`2026-12-25`) of the public holidays, substitute days included, of `years` years from `firstYear` on. */
export function holidayDates({ country, region }: HolidayPlace, firstYear: number, years: number): readonly string[] {
  const key = `${country}-${region ?? ''}:${firstYear}+${years}`;
  const known = read.get(key);
  if (known !== undefined) return known;
  const Calendar = loadCalendars();
  const calendar = region === null ? new Calendar(country) : new Calendar(country, region);
  if (country === 'IN') for (const [rule, name] of indianHolidays) calendar.setHoliday(rule, { name, type: 'public' });
  const dates = new Set<string>();
  for (let year = firstYear; year < firstYear + years; year += 1) {
    for (const holiday of calendar.getHolidays(year)) {
      if (holiday.type === 'public') for (const date of datesOf(holiday)) dates.add(date);
    }
  }
  const sorted = Object.freeze([...dates].sort());
  read.set(key, sorted);
  return sorted;
}

/** A holiday may last several days; its own `date` names the first. */
function datesOf({ date, start, end }: { date: string; start: Date; end: Date }): string[] {
  const first = date.slice(0, 10);
  const days = Math.max(1, Math.round((end.getTime() - start.getTime()) / 86_400_000));
  return Array.from({ length: days }, (_, index) =>
    new Date(Date.parse(`${first}T00:00:00Z`) + index * 86_400_000).toISOString().slice(0, 10),
  );
}

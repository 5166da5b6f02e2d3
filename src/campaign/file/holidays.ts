import { createRequire } from 'node:module';
import type Holidays from 'date-holidays';

/** A country, or a part of it: `US`, `US-LA`, `GB-ENG`. */
export interface HolidayPlace {
  country: string;
  region: string | null;
}

const load = createRequire(import.meta.url);

/** Loaded on first use: loading takes longer than most commands. */
function loadCalendars(): typeof Holidays {
  return load('date-holidays') as typeof Holidays;
}

const read = new Map<string, readonly string[]>();

let countries: Record<string, string> | undefined;

export function knowsHolidays({ country, region }: HolidayPlace): boolean {
  const calendar = new (loadCalendars())();
  countries ??= calendar.getCountries();
  if (countries[country] === undefined) return false;
  return region === null || calendar.getStates(country)?.[region] !== undefined;
}

/** Local dates (`2026-12-25`) of public and substitute holidays for `years` years from `firstYear`. */
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

/** A holiday may last several days; its `date` names only the first. */
function datesOf({ date, start, end }: { date: string; start: Date; end: Date }): string[] {
  const first = date.slice(0, 10);
  const days = Math.max(1, Math.round((end.getTime() - start.getTime()) / 86_400_000));
  return Array.from({ length: days }, (_, index) =>
    new Date(Date.parse(`${first}T00:00:00Z`) + index * 86_400_000).toISOString().slice(0, 10),
  );
}

/**
 * Indian holidays of the lunar and solar calendars, as rules of the library, which lacks them: those of central government offices, Holi,
 * Rama Navami and Janmashtami. Islamic holidays take two days, since the moon decides; the others follow the almanac.
 */
const indianHolidays: readonly (readonly [rule: string, name: string])[] = [
  ['1 Shawwal P2D', 'Id-ul-Fitr'],
  ['10 Dhu al-Hijjah P2D', 'Id-ul-Zuha'],
  ['10 Muharram P2D', 'Muharram'],
  ['12 Rabi al-awwal P2D', 'Milad-un-Nabi'],
  ...daysOf('Holi', '2026-03-04 2027-03-22 2028-03-11 2029-03-01 2030-03-20'),
  ...daysOf('Rama Navami', '2026-03-26 2027-04-15 2028-04-03 2029-04-22 2030-04-12'),
  ...daysOf('Mahavir Jayanti', '2026-03-31 2027-04-18 2028-04-07 2029-04-26 2030-04-16'),
  ...daysOf('Buddha Purnima', '2026-05-01 2027-05-20 2028-05-08 2029-05-27 2030-05-17'),
  ...daysOf('Janmashtami', '2026-09-04 2027-08-25 2028-08-13 2029-09-01 2030-08-21'),
  ...daysOf('Dussehra', '2026-10-20 2027-10-09 2028-09-27 2029-10-16 2030-10-06'),
  ...daysOf('Diwali', '2026-11-08 2027-10-29 2028-10-17 2029-11-05 2030-10-26'),
  ...daysOf('Guru Nanak Jayanti', '2026-11-24 2027-11-14 2028-11-02 2029-11-21 2030-11-10'),
];

function daysOf(name: string, days: string): [string, string][] {
  return days.split(' ').map((day) => [day, name]);
}

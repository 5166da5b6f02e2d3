import { isSupportedCountry } from 'libphonenumber-js/max';
import { z } from 'zod';
import type { CampaignRules, Weekday } from '../../../rules/campaign-rules.ts';
import { parseInstant } from '../../../shared/input/times.ts';
import { holidayDates, knowsHolidays, type HolidayPlace } from '../holidays.ts';
import { readWindows, weeklyHours, type WrittenWindow } from '../../../rules/hours/weekly-hours.ts';
import { oneOrMore, readBy, text, textShape, rulesOf, shapeOf, duration } from '../../../shared/input/setting.ts';
import type { Setting, SettingGroup, Written } from '../../../shared/input/setting.ts';
import { usTerritories } from '../../../rules/caller-choice.ts';
import { bases, basisWords } from '../../../rules/consent.ts';

const dailyWindows = z
  .unknown()
  .transform((value, context): WrittenWindow[] => {
    const read = readWindows(value);
    if (Array.isArray(read)) return read;
    context.issues.push({ code: 'custom', message: read.fix, input: value });
    return z.NEVER;
  })
  .meta(oneOrMore({ type: 'string', pattern: '^\\s*\\d\\d?:\\d\\d\\s*[-–]\\s*\\d\\d?:\\d\\d\\s*$' }))
  .optional();

const hoursFix =
  'write the windows of each weekday, such as mon: "09:00-17:00", or hours: any to dial at any hour that the law allows (law: off lifts that too)';
const day = (label: string, usual = '') => ({
  schema: dailyWindows,
  label,
  form: {
    part: 'calls',
    placeholder: 'closed',
    between: /[,;]+/,
    usual,
  } as const,
});
const officeHours = '09:00-17:00';
const week = {
  mon: day('Monday', officeHours),
  tue: day('Tuesday', officeHours),
  wed: day('Wednesday', officeHours),
  thu: day('Thursday', officeHours),
  fri: day('Friday', officeHours),
  sat: day('Saturday'),
  sun: day('Sunday'),
} as const satisfies Record<Weekday, Setting>;
const hours = z.union(
  [
    z.literal('any').transform(() => null),
    z.strictObject(shapeOf(week)).refine((days) => Object.keys(days).length > 0, { error: hoursFix }),
  ],
  { error: hoursFix },
);

type HolidaySetting = { date: string } | HolidayPlace;

const holidayFix = 'write a country such as US, a part of one such as US-LA or GB-ENG, or a date such as 2026-12-24 in quotes';
const holiday = readBy((value): HolidaySetting | null => {
  if (typeof value !== 'string') return null;
  if (z.iso.date().safeParse(value).success) return { date: value };
  const [country = '', region = null] = value.split('-', 2);
  return knowsHolidays({ country, region }) ? { country, region } : null;
}, holidayFix).meta(textShape);
const holidays = z.array(holiday, { error: 'write a list such as [US] or [GB-ENG, "2026-12-24"]' }).default([]);

const law = z.union(
  [
    z.boolean(),
    z.literal(['on', 'off']).transform((word) => word === 'on'),
    text('write the path of a rules file', 4096).transform((path) => ({ rules: path, none: [] })),
    z
      .record(z.string(), z.unknown())
      .refine((written) => Object.entries(written).every(isLawSetting))
      .transform(({ rules, ...none }) => ({
        rules: typeof rules === 'string' ? rules : null,
        none: Object.keys(none),
      })),
  ],
  {
    error: 'write on, off, the path of a file of rules of your own, or the countries in which no rule is to hold, such as { BR: none }',
  },
);

function isLawSetting([key, value]: [string, unknown]): boolean {
  if (key === 'rules') return typeof value === 'string' && value.trim() !== '';
  // US law applies in US territories regardless, so `none` is refused for them.
  return isSupportedCountry(key) && !usTerritories.has(key) && value === 'none';
}

const instantFix = 'write a date and time with its offset from UTC, such as 2030-11-30T17:00:00-05:00';
const instant = readBy(parseInstant, instantFix).meta({ type: 'string', format: 'date-time' });

// prettier-ignore
export const timeSettings = {
  hours: { schema: hours, label: 'When people may be called', settings: week,
    help: 'Windows per weekday in the time of the recipient, or any.',
    form: { part: 'calls', usual: 'office' } },
  holidays: { schema: holidays, label: 'Closed on holidays of',
    help: 'Days on which nobody is called: dates, and public holidays of places such as US or US-LA.',
    form: { part: 'calls', between: /[\s,;]+/, isList: true,
      hint: 'Countries such as US or GB-ENG, dates such as 2030-12-24; commas between them.' } },
  law: { schema: law.prefault('on'), label: 'No rule of ours in',
    help: 'Calling hours and caps by law on top of hours and caps: on, off, a file of rules, or countries without any such as { BR: none }.',
    form: { part: 'calls', placeholder: 'such as BR',
      hint: 'Countries whose law you know and have put into the hours above, commas between them. Elsewhere the rules that we know hold, and cautious hours where we know none.' } },
  basis: { schema: z.literal(bases, { error: `write ${basisWords}` }).optional(), label: 'What the calls rest on',
    help: `What the calls rest on where the law asks for consent: ${basisWords}. Stated, not judged.`,
    form: { part: 'calls', hint: 'Some laws ask for consent, and the check says which. It is written down, not judged.' } },
  starts_at: { schema: instant.optional(), rules: 'startsAt', label: 'Begins',
    help: 'Date and time with offset, before which nothing is dialled.',
    form: { part: 'calls', hint: 'Empty: when you press Start.', type: 'datetime-local' } },
  ends_at: { schema: instant.optional(), rules: 'endsAt', label: 'Ends',
    help: 'Date and time with offset, after which nothing is dialled.',
    form: { part: 'calls', hint: 'Empty: when everyone is done.', type: 'datetime-local' } },
} as const satisfies SettingGroup;

export function timeRules(
  written: Written<typeof timeSettings>,
  law: CampaignRules['law'],
  nowMs: number,
): Pick<CampaignRules, 'calendar' | 'law' | 'basis' | 'startsAt' | 'endsAt'> {
  const { hours: week, holidays, basis } = written;
  return {
    calendar: { hours: week === null ? null : weeklyHours(week), closedOn: closedDates(holidays, nowMs) },
    law,
    ...(basis === undefined ? {} : { basis }),
    ...rulesOf(timeSettings, written),
  };
}

export function closedDates(holidays: readonly HolidaySetting[], nowMs: number): string[] {
  const year = new Date(nowMs).getUTCFullYear();
  const dates = holidays.flatMap((closed) => ('date' in closed ? [closed.date] : holidayDates(closed, year, 3)));
  return [...new Set(dates)].sort();
}

// prettier-ignore
const advancedParts = {
  dispatch_margin: { schema: duration(0).prefault('10m'), rules: 'dispatchMarginMs',
    help: 'How long a window must stay open beyond the request.' },
  settle: { schema: duration(60_000).prefault('30m'), rules: 'settleMs', help: 'No record for this long: unreached.' },
  analysis_wait: { schema: duration(0).prefault('15m'), rules: 'analysisWaitMs',
    help: 'How long the results of a finished call are awaited.' },
  late_delivery: { schema: duration(0).prefault('15m'), rules: 'lateDeliveryMs',
    help: 'How long a server that hung may still act on a request.' },
  late_lookback: { schema: duration(60_000).prefault('2h'), rules: 'lateLookbackMs',
    help: 'How far back each look at the list of the service reads at least.' },
  poll: { schema: duration(1000).prefault('10s'), rules: 'pollMs', help: 'Pause between two looks at the list while calls are open.' },
  clock_tolerance: { schema: duration(10_000).prefault('5m'), rules: 'clockToleranceMs',
    help: 'By how much a time in a record may be off, and clocks may differ for anyone to be dialled.' },
  ring_limit: { schema: duration(0).prefault('60s'), rules: 'ringLimitMs',
    help: 'A record without words may have lasted this long and still count as a call that nobody answered, where the service counts the ringing.' },
} as const satisfies SettingGroup;
const advanced = z.strictObject(shapeOf(advancedParts), { error: 'write a mapping of durations' }).prefault({});

/** Assumptions where the service documents nothing. */
export const advancedSettings = {
  advanced: { schema: advanced, help: 'Times that rarely need to be changed.' },
} as const satisfies SettingGroup;

export function timingRules({ advanced }: Written<typeof advancedSettings>): CampaignRules['timing'] {
  return rulesOf(advancedParts, advanced);
}

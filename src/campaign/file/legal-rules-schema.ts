import { isSupportedCountry } from 'libphonenumber-js/max';
import { z } from 'zod';
import { unruledCountries, weekdays, type Weekday } from '../../rules/campaign-rules.ts';
import { knowsHolidays } from './holidays.ts';
import { readRegion } from '../../shared/geography/number-places.ts';
import { duration, whole } from '../../shared/input/setting.ts';
import { readWindow, type WrittenWindow } from '../../rules/hours/weekly-hours.ts';
import { usTerritories } from '../../rules/caller-choice.ts';
import { consentKinds } from '../../rules/consent.ts';

/* As in a campaign file every message is the fix. A slip in a rule must not loosen the law, so what is doubtful is refused. */

const windowFix = 'write a window such as "08:00-21:00", a list of windows one after the other, or "closed"';
const midnightFix = 'write the earlier time first, such as "08:00-20:00": hours by law do not go on past midnight';
const window = z.unknown().transform((value, context): readonly WrittenWindow[] => {
  if (value === 'closed') return [];
  const windows = (Array.isArray(value) ? value : [value]).map(readWindow);
  const read = windows.filter((one) => one !== null);
  const isRead = read.length > 0 && read.length === windows.length;
  const isDay = read.every(({ from, to }) => from < to);
  if (isRead && isDay && read.every(({ from }, index) => from > (read[index - 1]?.to ?? -1))) return read;
  context.issues.push({ code: 'custom', message: isRead && !isDay ? midnightFix : windowFix, input: value });
  return z.NEVER;
});
const days = Object.fromEntries(weekdays.map((day) => [day, window.optional()])) as Record<Weekday, z.ZodOptional<typeof window>>;
const localDate = z.iso.date({ error: 'write a date such as 2026-01-31' });
const closedFix = "write days in quotes, such as '01-08' for every year or '2026-11-27'";
const closedDay = z
  .string({ error: closedFix })
  // A leap year contains every possible day, 29 February included.
  .refine((day) => z.iso.date().safeParse(day.length === 5 ? `2028-${day}` : day).success, { error: closedFix });

const hoursFix = 'write a mapping such as { daily: "08:00-21:00" }';
const hours = z
  .strictObject({ daily: window.optional(), ...days }, { error: hoursFix })
  .refine((written) => Object.keys(written).length > 0, { error: hoursFix });

const capFix = 'write a mapping such as { calls: 3, within: 24h }';
const cap = z.strictObject({ calls: whole(1, 1000), within: duration(1000) }, { error: capFix });

const idFix = 'write an id of its own';
const countryFix = 'write a two-letter country code in capitals, such as US or GB';
const country = z
  .string({ error: countryFix })
  .refine((code) => code === unruledCountries || isSupportedCountry(code), { error: countryFix });
const sourceFix = 'say where the rule comes from';
const unconfirmedFix = 'say what of it could not be read at its source, such as hours, or leave it out';
const partsFix = 'hours, caps or consent';

const rule = z
  .strictObject(
    {
      id: z.string({ error: idFix }).min(1, { error: idFix }),
      country,
      region: z.string({ error: 'write the code of a state or province, such as FL' }).optional(),
      hours: hours.optional(),
      holidays: z.literal('closed', { error: 'write closed, or leave it out' }).optional(),
      eves: window.optional(),
      closed_on: z.array(closedDay, { error: closedFix }).optional(),
      caps: z
        .array(cap, { error: 'write a list such as [{ calls: 3, within: 24h }]' })
        .max(20, { error: 'write at most 20 caps' })
        .optional(),
      consent: z.literal(consentKinds, { error: `write ${consentKinds.join(' or ')}, or leave it out` }).optional(),
      unconfirmed: z.string({ error: unconfirmedFix }).min(1, { error: unconfirmedFix }).optional(),
      from: localDate.optional(),
      until: localDate.optional(),
      source: z.string({ error: sourceFix }).min(1, { error: sourceFix }),
    },
    { error: `write a mapping with id, country, source, and ${partsFix}` },
  )
  .superRefine((written, context) => {
    const problem = (path: string[], message: string): void => context.addIssue({ code: 'custom', path, message });
    const regionFix = readsAsRegion(written);
    if (regionFix !== null) problem(['region'], regionFix);
    else if (written.holidays !== undefined && !closesKnownHolidays(written))
      problem(['holidays'], 'leave it out, and list the days in the campaign file: no public holidays are known there');
    if (written.eves !== undefined && written.holidays === undefined)
      problem(['eves'], 'write holidays: closed as well: eves are the days before them');
    if (written.from !== undefined && written.until !== undefined && written.until < written.from)
      problem(['until'], `write a date that is not before from (${written.from})`);
    const parts = [written.hours, written.holidays, written.closed_on, written.caps, written.consent];
    if (parts.every((part) => part === undefined)) problem([], `write ${partsFix}: a rule without any says nothing`);
  });

export const legalRulesSchema = z
  .strictObject(
    {
      as_of: localDate,
      rules: z
        .array(rule, { error: `write a list of rules, each with "- id:", country, source, and ${partsFix}` })
        .min(1, { error: 'write at least one rule' }),
    },
    { error: 'write a mapping with as_of: and rules:' },
  )
  .superRefine(({ rules }, context) => {
    for (const [index, { id }] of rules.entries()) {
      const first = rules.findIndex((other) => other.id === id);
      if (first === index) continue;
      const message = `choose another id, or make one rule of the two: rules[${first}] has this id already`;
      context.addIssue({ code: 'custom', path: ['rules', index, 'id'], message });
    }
  });

export type LegalRule = z.output<typeof rule> & {
  asOf?: string;
};

/** Countries without a rule of their own get their holidays when the list has a number there. */
function closesKnownHolidays({ country: code, region }: { country: string; region?: string | undefined }): boolean {
  return code === unruledCountries || knowsHolidays({ country: code, region: region ?? null });
}

/** The fix for an invalid region, or null. A region that no number or row can have would apply to no call. */
function readsAsRegion({ country: code, region }: { country: string; region?: string | undefined }): string | null {
  if (region === undefined) return null;
  if (code === unruledCountries) return 'leave it out: the rule is for every country without hours of its own';
  if (usTerritories.has(code)) return `leave it out, or write country: US and region: ${code}`;
  const known = readRegion(region, code);
  if (known === region) return null;
  if (known !== null) return `write ${known}`;
  if (code === 'US') return 'write the two letters of a state, such as FL';
  return code === 'CA' ? 'write the two letters of a province, such as ON' : 'write a code of one to three capitals or digits, such as ENG';
}

import { join, resolve } from 'node:path';
import { z } from 'zod';
import { weekdays, type LegalHours, type Weekday } from '../domain/campaign-rules.ts';
import { describeIssues } from './campaign-problems.ts';
import { readCampaignText } from './campaign-text.ts';
import { CampaignFileError } from './errors.ts';
import { holidayDates, knowsHolidays } from './holidays.ts';
import { packageFolder } from './package-folder.ts';
import { readWindow, weeklyHours, type WrittenWindow } from './weekly-hours.ts';

const windowFix = 'write a window such as "08:00-21:00", or "closed"';
const window = z.unknown().transform((value, context): readonly WrittenWindow[] => {
  if (value === 'closed') return [];
  const read = readWindow(value);
  if (read !== null) return [read];
  context.issues.push({ code: 'custom', message: windowFix, input: value });
  return z.NEVER;
});
const days = Object.fromEntries(weekdays.map((day) => [day, window.optional()])) as Record<
  Weekday,
  z.ZodOptional<typeof window>
>;
const dateFix = 'write a date such as 2026-01-31';
const localDate = z.iso.date({ error: dateFix });

const rule = z.strictObject(
  {
    id: z.string({ error: 'write an id of its own' }).min(1),
    country: z.string({ error: 'write a two-letter country code' }).regex(/^[A-Z]{2}$/, {
      error: 'write a two-letter country code in capitals, such as US',
    }),
    region: z
      .string()
      .regex(/^[A-Z0-9]{1,3}$/, { error: 'write the code of a state or province, such as FL' })
      .optional(),
    hours: z.strictObject(
      { daily: window.optional(), ...days },
      { error: 'write a mapping such as { daily: "08:00-21:00" }' },
    ),
    holidays: z.literal('closed', { error: 'write closed, or leave it out' }).optional(),
    from: localDate.optional(),
    until: localDate.optional(),
    source: z.string({ error: 'say where the rule comes from' }).min(1),
  },
  { error: 'write a mapping with id, country, hours and source' },
);
const schema = z.strictObject(
  { as_of: localDate, rules: z.array(rule) },
  { error: 'write a mapping with as_of: and rules:' },
);

/** One rule of a rules file. */
export type LegalRule = z.output<typeof rule>;

/** Years of holidays that are worked out: no campaign runs longer. */
const holidayYears = 3;

/**
 * The package's rules, and those of the user's own file, which replace rules of the same id.
 * @throws CampaignFileError with everything that is wrong with a file.
 */
export async function readLegalRules(ownPath: string | null): Promise<LegalRule[]> {
  const rules = new Map<string, LegalRule>();
  const paths = [join(packageFolder('rules'), 'calling-hours.yaml'), ...(ownPath === null ? [] : [resolve(ownPath)])];
  for (const path of paths) for (const read of await readRules(path)) rules.set(read.id, read);
  return [...rules.values()];
}

async function readRules(path: string): Promise<LegalRule[]> {
  const { content, lineOf } = await readCampaignText(path);
  const parsed = schema.safeParse(content);
  if (!parsed.success) throw new CampaignFileError(path, describeIssues(parsed.error.issues, content, schema, lineOf));
  for (const [index, { country, region, holidays }] of parsed.data.rules.entries()) {
    if (holidays === undefined || knowsHolidays({ country, region: region ?? null })) continue;
    const at = ['rules', index, 'holidays'];
    const message = `no public holidays of ${country}${region === undefined ? '' : `-${region}`} are known; leave it out, and list the days in the campaign file`;
    throw new CampaignFileError(path, [{ line: lineOf(at), path: at.join('.'), message }]);
  }
  return parsed.data.rules;
}

/** The rules as a campaign keeps them from its start on, with the holidays of its time written out. */
export function legalHours(rules: readonly LegalRule[], nowMs: number): LegalHours[] {
  const year = new Date(nowMs).getUTCFullYear();
  return rules.map(({ id, country, region = null, hours, holidays, from = null, until = null, source }) => {
    const { daily, ...own } = hours;
    const week = Object.fromEntries(weekdays.map((day) => [day, own[day] ?? daily ?? []]));
    const closedOn = holidays === undefined ? [] : holidayDates({ country, region }, year, holidayYears);
    return { id, country, region, hours: weeklyHours(week), closedOn, from, until, source };
  });
}

import { z } from 'zod';
import { adjustableDelays, type AdjustableDelay, type AdjustableTerms, type RetryDelays } from '../../../rules/campaign-rules.ts';
import { readWeek } from '../../../rules/hours/own-hours.ts';
import { weekText } from '../../../rules/hours/weekly-hours.ts';
import { durationText } from '../../../shared/input/times.ts';
import { parseRetryDelays, delaysFix, retrySettings } from './retry.ts';

interface AdjustableTerm<Value> {
  /** Command-line flag without the dashes. */
  key: string;
  label: string;
  help: string;
  schema: z.ZodType<Value, string>;
  write: (value: Value) => string;
}

const anyHour = 'any';
const hours = z.string().transform((text, context): AdjustableTerms['hours'] => {
  if (text.trim() === anyHour) return null;
  const read = readWeek(text);
  if (!('fix' in read)) return read;
  context.issues.push({ code: 'custom', message: `${read.fix}; or ${anyHour} for any hour that the law allows`, input: text });
  return z.NEVER;
});

const delays = z.string().transform((text, context): RetryDelays => {
  const written = text.split(/[,;]/).map((part) => part.trim());
  const read = parseRetryDelays(written[0] === 'never' && written.length === 1 ? 'never' : written);
  if (read !== null) return read;
  context.issues.push({ code: 'custom', message: delaysFix, input: text });
  return z.NEVER;
});

const { settings } = retrySettings.retry;
const { max_attempts: attempts } = settings;
const mostAttempts = z
  .string()
  .transform((text) => (/^\d+$/.test(text.trim()) ? Number(text) : Number.NaN))
  .pipe(attempts.schema.unwrap());

function writeDelays(written: RetryDelays): string {
  return written === 'never' ? written : written.map((delay) => (delay === 'next_day' ? delay : durationText(delay))).join(', ');
}

function delayTerm(name: AdjustableDelay): AdjustableTerm<RetryDelays> {
  const { label, help } = settings[name];
  const more = 'Such as 30m, "2h, next_day" or never; for calls that end from now on.';
  return { key: `retry-${name.replaceAll('_', '-')}`, label, help: `${help} ${more}`, schema: delays, write: writeDelays };
}

export const adjustableTerms: { readonly [Name in keyof AdjustableTerms]: AdjustableTerm<AdjustableTerms[Name]> } = {
  hours: {
    key: 'hours',
    label: 'Calling hours',
    help: `When people may be called, by their own clock: such as "mon-fri 09:00-17:00, sat 10:00-12:00", or ${anyHour}. The law holds besides.`,
    schema: hours,
    write: (week) => (week === null ? anyHour : weekText(week)),
  },
  maxAttempts: {
    key: 'max-attempts',
    label: attempts.label,
    help: `${attempts.help} Whoever has used up a lower number is not called again.`,
    schema: mostAttempts,
    write: String,
  },
  ...(Object.fromEntries(adjustableDelays.map((name) => [name, delayTerm(name)])) as Record<AdjustableDelay, AdjustableTerm<RetryDelays>>),
};

export const adjustableTermNames = Object.keys(adjustableTerms) as (keyof AdjustableTerms)[];

export function termText<Name extends keyof AdjustableTerms>(name: Name, terms: Pick<AdjustableTerms, Name>): string {
  return adjustableTerms[name].write(terms[name]);
}

export function termTexts(terms: AdjustableTerms): Record<keyof AdjustableTerms, string> {
  return Object.fromEntries(adjustableTermNames.map((name) => [name, termText(name, terms)])) as Record<keyof AdjustableTerms, string>;
}

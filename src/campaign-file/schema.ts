import { isSupportedCountry } from 'libphonenumber-js/max';
import { z } from 'zod';
import { bases, basisWords, weekdays, type Weekday, usTerritories } from '../domain/campaign-rules.ts';
import { isJsonObject, splitOpeningLine, type Json, type JsonObject } from '../domain/conversation-override.ts';
import { cap, needlessCaps } from './caps-schema.ts';
import { knowsHolidays, type HolidayPlace } from './holidays.ts';
import { preDial, toldHook } from './hooks-schema.ts';
import { parseInstant } from '../input/instant.ts';
import { isTimeZoneName } from './zone-setting.ts';
import { literalSecrets } from './literal-secrets.ts';
import { breaker } from './settings/breaker.ts';
import { pacing } from './settings/pacing.ts';
import { correlation, dispositionRules, optOut } from './record-rules-schema.ts';
import { retry } from './retry-schema.ts';
import { duration, oneOrMore, readBy, scalarShape, text, textShape } from './settings/kinds.ts';
import { openStretches, readWindows, weeklyHours, type WrittenWindow } from './weekly-hours.ts';

/** What the service does not bound: a template longer than this is a mistake in quoting, not an opening line. */
const longestTemplate = 10_000;
const longestOverride = 200_000;
const deepestOverride = 20;

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
const week = Object.fromEntries(weekdays.map((day) => [day, dailyWindows])) as Record<Weekday, typeof dailyWindows>;
const hours = z.union(
  [
    z.literal('any').transform(() => null),
    z.strictObject(week).refine((days) => Object.keys(days).length > 0, { error: hoursFix }),
  ],
  { error: hoursFix },
);

const holidayFix =
  'write a country such as US, a part of one such as US-LA or GB-ENG, or a date such as 2026-12-24 in quotes';
const holidaysFix = 'write a list such as [US] or [GB-ENG, "2026-12-24"]';
const holiday = readBy((value): HolidaySetting | null => {
  if (typeof value !== 'string') return null;
  if (z.iso.date().safeParse(value).success) return { date: value };
  const [country = '', region = null] = value.split('-', 2);
  return knowsHolidays({ country, region }) ? { country, region } : null;
}, holidayFix).meta(textShape);

const lawSetting = z.union(
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
    error:
      'write on, off, the path of a file of rules of your own, or the countries in which no rule is to hold, such as { BR: none }',
  },
);

function isLawSetting([key, value]: [string, unknown]): boolean {
  if (key === 'rules') return typeof value === 'string' && value.trim() !== '';
  // The law of the US holds in its territories whatever is said of them.
  return isSupportedCountry(key) && !usTerritories.has(key) && value === 'none';
}

const instantFix = 'write a date and time with its offset from UTC, such as 2030-11-30T17:00:00-05:00';
const instant = readBy(parseInstant, instantFix).meta({ type: 'string', format: 'date-time' });

const region = readBy((value) => {
  const code = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return isSupportedCountry(code) ? code : null;
}, 'write a two-letter country code such as US or GB').meta({ type: 'string', pattern: '^[A-Za-z]{2}$' });

const zone = readBy(
  (value) => (typeof value === 'string' && isTimeZoneName(value) ? value : null),
  'write the name of a time zone such as America/New_York',
).meta(textShape);

const columnFix = 'write the name of a column of the list';
const list = z.strictObject(
  {
    file: text('write the path of the list (CSV or .xlsx), relative to this campaign file', 4096),
    delimiter: z
      .string({ error: 'write one character in quotes, such as "," or ";" or "\\t"' })
      .regex(/^[\t!#-/:-@[-`{-~]$/, { error: 'write one character in quotes, such as "," or ";" or "\\t"' })
      .optional(),
    sheet: text('write the name of a sheet of the workbook', 100).optional(),
    phone: text(columnFix, 1000),
    id: text(columnFix, 1000).optional(),
    timezone: text(columnFix, 1000).optional(),
    country: text(columnFix, 1000).optional(),
    state: text(columnFix, 1000).optional(),
    zip: text(columnFix, 1000).optional(),
    not_before: text(columnFix, 1000).optional(),
    expires_at: text(columnFix, 1000).optional(),
    fallback_timezone: zone.optional(),
    default_region: region.optional(),
  },
  { error: 'write a mapping with at least file: and phone:' },
);

const templateFix = `write text of at most ${String(longestTemplate)} characters, such as "Hello {{ first_name }}", in quotes`;
const template = readBy((value) => {
  const written = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof written === 'string' && written.length <= longestTemplate ? written : null;
}, templateFix).meta(scalarShape);

const overrideFix =
  'write a mapping of settings of the conversation, such as { agent: { prompt: { prompt: "You call {{ first_name }}." } } }';
const override = readBy(readOverride, overrideFix).meta({ type: 'object' });

const nameFix = 'write a name of letters, digits, "_" or "-", at most 64 characters';
const name = z.string({ error: nameFix }).regex(/^[A-Za-z0-9_-]{1,64}$/, { error: nameFix });
const variables = z
  .strictObject(
    {
      key: name.default('variables'),
      reference: z
        .union([name, z.null(), z.literal(false)], { error: `${nameFix}, or null to send none` })
        .default('carillon_ref'),
      values: z.record(name, template, { error: 'write a mapping of variable names to templates' }).default({}),
    },
    { error: 'write a mapping with values:' },
  )
  .refine(
    (sent) => sent.reference === null || sent.reference === false || !Object.hasOwn(sent.values, sent.reference),
    {
      path: ['reference'],
      error: 'choose a name that is not among the values, so that neither overwrites the other',
    },
  );

const advanced = z.strictObject(
  {
    dispatch_margin: duration(0).prefault('10m'),
    settle: duration(60_000).prefault('30m'),
    analysis_wait: duration(0).prefault('15m'),
    late_delivery: duration(0).prefault('15m'),
    late_lookback: duration(60_000).prefault('2h'),
    poll: duration(1000).prefault('10s'),
    clock_tolerance: duration(10_000).prefault('5m'),
    ring_limit: duration(0).prefault('60s'),
  },
  { error: 'write a mapping of durations' },
);

const callerFix = 'write the id of the imported caller number, in quotes if it is all digits, or a list of such ids';
const caller = text(callerFix);
const callers = z
  .union([caller.transform((one) => [one]), z.array(caller).min(1).max(100)], { error: callerFix })
  .refine((numbers) => new Set(numbers).size === numbers.length, { error: 'name each number once' });

const idFix = 'write 1 to 64 lower-case letters, digits, ".", "_" or "-", beginning with a letter or digit';

const campaign = z.strictObject(
  {
    id: z
      .string({ error: idFix })
      .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, { error: idFix })
      .refine((id) => id !== 'account', {
        error: 'choose another id: "account" is the scope of do-not-call entries for all campaigns',
      }),
    name: text('write text of at most 200 characters').optional(),
    agent_id: text('write the id of the agent that speaks, in quotes if it is all digits'),
    from_phone_number_id: callers,
    caller_choice: z.literal(['region', 'rotation'], { error: 'write region or rotation' }).default('region'),
    list,
    first_message: template.optional(),
    conversation_config_override: override.optional(),
    variables: variables.optional(),
    hours,
    holidays: z.array(holiday, { error: holidaysFix }).default([]),
    law: lawSetting.prefault('on'),
    basis: z.literal(bases, { error: `write ${basisWords}` }).optional(),
    starts_at: instant.optional(),
    ends_at: instant.optional(),
    caps: z
      .array(cap, { error: 'write a list such as [{ calls: 3, within: 24h }]' })
      .max(20, { error: 'write at most 20 caps' })
      .default([]),
    retry: retry.prefault({}),
    pacing: pacing.prefault({}),
    on_unknown: z.literal(['hold', 'redial'], { error: 'write hold or redial' }).default('hold'),
    shared_words: z.literal(['wait', 'unresolved'], { error: 'write wait or unresolved' }).default('wait'),
    breaker: breaker.prefault({}),
    pre_dial: preDial.optional(),
    on_completion: toldHook.optional(),
    on_pause: toldHook.optional(),
    opt_out: optOut,
    dispositions: dispositionRules,
    correlation: correlation.prefault({}),
    advanced: advanced.prefault({}),
  },
  { error: 'write a mapping that begins with id:' },
);

/** What may stand in a campaign file. Its output holds milliseconds, minutes and defaults; its keys are the file's own. */
export const campaignSchema = campaign.superRefine((settings, context) => {
  const problem = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
  const {
    first_message: line,
    conversation_config_override: settingsOfCall,
    starts_at: start,
    ends_at: end,
  } = settings;
  if (line !== undefined && settingsOfCall !== undefined && splitOpeningLine(settingsOfCall).line !== undefined)
    problem(
      ['first_message'],
      'write the opening line in one place: here, or as agent.first_message of conversation_config_override',
    );
  if (start !== undefined && end !== undefined && start >= end) problem(['ends_at'], 'write a time after starts_at');
  if (settings.retry.reset_after !== undefined && end === undefined)
    problem(
      ['retry', 'reset_after'],
      'set ends_at as well: with a budget that is renewed the campaign would never end by itself',
    );
  if (Array.isArray(settings.retry.unknown) && settings.on_unknown === 'hold')
    problem(
      ['retry', 'unknown'],
      'write on_unknown: redial as well, knowing that somebody may be called twice; or leave it out, and a person decides',
    );
  for (const [index, { by }] of settings.caps.entries())
    if (by === 'person' && settings.list.id === undefined)
      problem(['caps', index, 'by'], 'name the column of the person with list.id, or count by number');
  for (const { index, fix } of needlessCaps(settings.caps)) problem(['caps', index], fix);
  for (const { path, fix } of literalSecrets(settings))
    context.addIssue({ code: 'custom', path, message: fix, params: { secret: true } });
  const marginMinutes = settings.advanced.dispatch_margin / 60_000;
  const stretches = settings.hours === null ? [] : openStretches(weeklyHours(settings.hours));
  const windowFix =
    'write a longer window: nothing is dialled in its last part, advanced.dispatch_margin (10m by default)';
  for (const { day, minutes } of stretches) if (minutes <= marginMinutes) problem(['hours', day], windowFix);
});

/** Plain JSON, no deeper than anybody writes by hand; the opening line in it must be text. */
function readOverride(value: unknown): JsonObject | null {
  const parsed = z.json().safeParse(value);
  if (!parsed.success || !isJsonObject(parsed.data) || depthOf(parsed.data) > deepestOverride) return null;
  const { line } = splitOpeningLine(parsed.data);
  const isLine = line === undefined || (typeof line === 'string' && line.length <= longestTemplate);
  return isLine && JSON.stringify(parsed.data).length <= longestOverride ? parsed.data : null;
}

function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** A day or the public holidays of a place, on which nobody is called. */
export type HolidaySetting = { date: string } | HolidayPlace;

export type CampaignSettings = z.output<typeof campaignSchema>;

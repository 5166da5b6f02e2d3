import { isSupportedCountry } from 'libphonenumber-js/max';
import { DateTime } from 'luxon';
import { z } from 'zod';
import { weekdays, type RetryDelays, type Weekday } from '../domain/campaign-rules.ts';
import { isJsonObject, splitOpeningLine, type Json, type JsonObject } from '../domain/conversation-override.ts';
import { cap } from './caps-schema.ts';
import { parseDuration } from './duration.ts';
import { knowsHolidays, type HolidayPlace } from './holidays.ts';
import { isTimeZoneName } from './list-time-zone.ts';
import { duration, readBy, text, whole } from './setting-kinds.ts';
import { findOverlap, readWindow, weeklyHours, type WrittenWindow } from './weekly-hours.ts';

/*
 * Every message here is the fix, as an instruction; `campaign-problems.ts` puts the path, the line and the value before it.
 */

/** What the service does not bound: a template longer than this is a mistake in quoting, not an opening line. */
const longestTemplate = 10_000;
const longestOverride = 200_000;
const deepestOverride = 20;

function parseRetryDelays(value: unknown): RetryDelays | null {
  if (value === 'never') return 'never';
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  const delays = texts.map(parseDuration).filter((ms): ms is number => ms !== null && ms > 0);
  return delays.length === texts.length && delays.length > 0 && delays.length <= 20 ? delays : null;
}

const retryDelays = readBy(
  parseRetryDelays,
  'write a duration such as 5m, a list of up to 20 durations for the first, second, … retry, or never',
).optional();

function parseWindows(value: unknown): WrittenWindow[] | null {
  const windows = (Array.isArray(value) ? value : [value]).map(readWindow);
  return windows.length > 0 && windows.every((window) => window !== null) && findOverlap(windows) === null
    ? windows
    : null;
}

const dailyWindows = readBy(
  parseWindows,
  'write "09:00-17:00", "22:00-02:00" for one that ends on the next day, or a list of windows that do not overlap; leave a closed day out',
).optional();

const hoursFix = 'write the windows of each weekday, such as mon: "09:00-17:00", or hours: any to dial at any hour';
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
const holiday = readBy((value): HolidaySetting | null => {
  if (typeof value !== 'string') return null;
  if (z.iso.date().safeParse(value).success) return { date: value };
  const [country = '', region = null] = value.split('-', 2);
  return knowsHolidays({ country, region }) ? { country, region } : null;
}, holidayFix);

const lawSetting = z.union(
  [
    z.boolean(),
    z.literal(['on', 'off']).transform((word) => word === 'on'),
    text('write the path of a rules file', 4096),
  ],
  { error: 'write on, off, or the path of a file of rules of your own' },
);

function parseInstant(value: unknown): number | null {
  if (typeof value !== 'string' || !/T\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/.test(value)) return null;
  const instant = DateTime.fromISO(value, { setZone: true });
  return instant.isValid ? instant.toMillis() : null;
}

function parseRegion(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const region = value.trim().toUpperCase();
  return isSupportedCountry(region) ? region : null;
}

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const optOutFix = 'write { collected: key, equals: value } or { evaluation: key, equals: value }';
const equalsFix = 'write the value, or the list of values, that means "do not call again", such as [true, "yes"]';
const equals = readBy((value) => {
  const parsed = z
    .array(scalar)
    .min(1)
    .safeParse(Array.isArray(value) ? value : [value]);
  return parsed.success ? parsed.data : null;
}, equalsFix);
const optOutRule = z
  .strictObject(
    { collected: text(optOutFix).optional(), evaluation: text(optOutFix).optional(), equals },
    { error: optOutFix },
  )
  .refine((rule) => (rule.collected === undefined) !== (rule.evaluation === undefined), { error: optOutFix });

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
    fallback_timezone: readBy(
      (value) => (typeof value === 'string' && isTimeZoneName(value) ? value : null),
      'write the name of a time zone such as America/New_York',
    ).optional(),
    default_region: readBy(parseRegion, 'write a two-letter country code such as US or GB').optional(),
  },
  { error: 'write a mapping with at least file: and phone:' },
);

const templateFix = `write text of at most ${String(longestTemplate)} characters, such as "Hello {{ first_name }}", in quotes`;
const template = readBy((value) => {
  const written = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof written === 'string' && written.length <= longestTemplate ? written : null;
}, templateFix);

const overrideFix =
  'write a mapping of settings of the conversation, such as { agent: { prompt: { prompt: "You call {{ first_name }}." } } }';
const override = readBy(readOverride, overrideFix);

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

const retry = z.strictObject(
  {
    max_attempts: whole(1, 100).default(3),
    max_uncounted: whole(1, 100).default(3),
    busy: retryDelays,
    no_answer: retryDelays,
    unreached: retryDelays,
    voicemail: retryDelays,
    failed: retryDelays,
    unknown: retryDelays,
  },
  { error: 'write a mapping such as { max_attempts: 3, busy: 30m }' },
);

const pacing = z
  .strictObject(
    {
      max_concurrent_calls: whole(1, 100_000).default(10),
      starts_per_minute: whole(1, 1_000_000).optional(),
      batch_size: whole(1, 1000).default(20),
      refill_threshold: whole(1, 100_000).optional(),
    },
    { error: 'write a mapping such as { max_concurrent_calls: 10 }' },
  )
  .refine((limits) => (limits.refill_threshold ?? 1) <= limits.max_concurrent_calls, {
    path: ['refill_threshold'],
    error: 'write at most max_concurrent_calls: more slots than that are never free',
  });

const advanced = z.strictObject(
  {
    dispatch_margin: duration(0).prefault('10m'),
    settle: duration(60_000).prefault('30m'),
    analysis_wait: duration(0).prefault('15m'),
    late_delivery: duration(0).prefault('15m'),
    late_lookback: duration(60_000).prefault('2h'),
    poll: duration(1000).prefault('10s'),
  },
  { error: 'write a mapping of durations' },
);

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
    from_phone_number_id: text('write the id of the imported caller number, in quotes if it is all digits'),
    list,
    first_message: template.optional(),
    conversation_config_override: override.optional(),
    variables: variables.optional(),
    hours,
    holidays: z.array(holiday, { error: holidayFix }).default([]),
    law: lawSetting.default(true),
    ends_at: readBy(
      parseInstant,
      'write a date and time with its offset from UTC, such as 2030-11-30T17:00:00-05:00',
    ).optional(),
    caps: z
      .array(cap, { error: 'write a list such as [{ calls: 3, within: 24h }]' })
      .max(20, { error: 'write at most 20 caps' })
      .default([]),
    retry: retry.prefault({}),
    pacing: pacing.prefault({}),
    opt_out: z.array(optOutRule, { error: optOutFix }).max(100, { error: 'write at most 100 rules' }).default([]),
    advanced: advanced.prefault({}),
  },
  { error: 'write a mapping that begins with id:' },
);

/** What may stand in a campaign file. Its output holds milliseconds, minutes and defaults; its keys are the file's own. */
export const campaignSchema = campaign.superRefine((settings, context) => {
  const { first_message: line, conversation_config_override: settingsOfCall } = settings;
  if (line !== undefined && settingsOfCall !== undefined && splitOpeningLine(settingsOfCall).line !== undefined) {
    const message =
      'write the opening line in one place: here, or as agent.first_message of conversation_config_override';
    context.addIssue({ code: 'custom', path: ['first_message'], message });
  }
  if (settings.list.id === undefined) {
    settings.caps.forEach(({ by }, index) => {
      if (by !== 'person') return;
      const message = 'name the column of the person with list.id, or count by number';
      context.addIssue({ code: 'custom', path: ['caps', index, 'by'], message });
    });
  }
  for (const [index, later] of settings.caps.entries()) {
    const same = settings.caps
      .slice(0, index)
      .some((cap) => cap.by === later.by && cap.within === later.within && cap.after_talk === undefined);
    if (!same || later.after_talk !== undefined) continue;
    const message = 'leave one of them out: two caps over the same time say different things';
    context.addIssue({ code: 'custom', path: ['caps', index], message });
  }
  const marginMinutes = settings.advanced.dispatch_margin / 60_000;
  for (const [day, windows] of Object.entries(settings.hours === null ? {} : weeklyHours(settings.hours))) {
    // One that touches midnight may go on there.
    const short = windows.find(({ from, to }) => from > 0 && to < 1440 && to - from <= marginMinutes);
    if (short === undefined) continue;
    const message =
      'write a longer window: nothing is dialled in its last part, advanced.dispatch_margin (10m by default)';
    context.addIssue({ code: 'custom', path: ['hours', day], message });
  }
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

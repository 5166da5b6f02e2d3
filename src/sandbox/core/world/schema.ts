import { z } from 'zod';
import { isZone } from '../times.ts';
import { languages, moods, personas } from './person.ts';
import { lateness, recordQuirks } from './record-habits.ts';

const chance = z.number().min(0, 'Must be a chance from 0 to 1.').max(1, 'Must be a chance from 0 to 1.');
const sentence = z.string().trim().min(1, 'Must not be empty.').max(2_000, 'Must have at most 2000 characters.');
export const isTimeOfDay = /^([01]\d|2[0-3]):[0-5]\d$|^24:00$/;
const timeOfDay = z.string().regex(isTimeOfDay, 'Must be a time of day as "HH:MM" in quotes, from "00:00" to "24:00".');
const zone = z.string().refine(isZone, 'Must be a time zone such as America/New_York or Europe/London.');
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** Chances of not reaching the person; the rest is answered. */
const reach = z
  .strictObject({ busy: chance.default(0), absent: chance.default(0), voicemail: chance.default(0), failed: chance.default(0) })
  .refine(
    ({ busy, absent, voicemail, failed }) => busy + absent + voicemail + failed <= 1 + 1e-9,
    'The chances busy, absent, voicemail and failed must not sum to more than 1.',
  );

const period = z
  .strictObject({ days: z.array(z.enum(weekdays)).min(1).optional(), from: timeOfDay, to: timeOfDay, reach })
  .refine(({ from, to }) => from !== to, 'The times from and to must differ.');

const scriptLine = z.union(
  [sentence, z.strictObject({ say: sentence.nullable(), interrupts: z.boolean().default(false), hangs_up: z.boolean().default(false) })],
  { error: 'Must be a line, or an object with say (a line, or null for silence), interrupts and hangs_up.' },
);

const minutes = z.number().min(0, 'Must be minutes, 0 or more.').max(10_080, 'Must be at most a week of minutes.');
const findings = {
  collected: z.record(z.string().min(1), z.json()).optional(),
  evaluation: z.record(z.string().min(1), z.enum(['success', 'failure', 'unknown'])).optional(),
};

/** Replaces the analysis of the talk. Minutes count from the end of the call. */
export const analysisScript = z
  .strictObject({
    after_minutes: z
      .union([minutes, z.literal('never')], { error: 'Must be minutes after the end of the call, 0 to 10080, or "never".' })
      .optional(),
    ...findings,
    later: z.strictObject({ after_minutes: minutes, ...findings }).optional(),
  })
  .refine(({ after_minutes: first = 0, later }) => later === undefined || (first !== 'never' && first < later.after_minutes), {
    path: ['later', 'after_minutes'],
    error: 'Must be above the after_minutes of the analysis itself, which must not be "never".',
  });
export type AnalysisScript = z.output<typeof analysisScript>;

const traits = {
  name: sentence.optional(),
  persona: z.enum(personas).optional(),
  mood: z.enum(moods).optional(),
  language: z.enum(languages).optional(),
  answers: z.record(z.string().min(1), z.union([sentence, z.number(), z.boolean()])).optional(),
  greeting: sentence.optional(),
  greets_first: z.boolean().optional(),
  script: z.array(scriptLine).min(1).max(100).optional(),
  opts_out: z.union([z.boolean(), sentence]).optional(),
  wrong_person: z.union([z.boolean(), sentence]).optional(),
  silent: z.boolean().optional(),
  interrupts: z.union([z.boolean(), chance]).optional(),
  hangs_up: z
    .strictObject({ after_seconds: z.number().min(0.5).max(3_600).optional(), after_turns: z.number().int().min(1).max(100).optional() })
    .optional(),
  talks_on: z.boolean().optional(),
  zone: zone.optional(),
  reach: reach.optional(),
  hours: z.array(period).min(1).max(50).optional(),
  analysis: analysisScript.optional(),
};

const e164 = z.string().regex(/^\+[1-9]\d{6,14}$/, 'Must be a number in E.164 format in quotes, such as "+12125550142".');
const digits = z.string().regex(/^\d{1,12}$/, 'Must be digits in quotes, such as "0142".');
const leading = z.string().regex(/^\+\d{1,12}$/, 'Must be a plus sign and leading digits in quotes, such as "+1212".');

const personSchema = z
  .strictObject({
    number: e164.optional(),
    numbers: z.array(e164).min(1).max(10_000).optional(),
    starts_with: leading.optional(),
    ends_with: digits.optional(),
    ...traits,
  })
  .refine(
    (who) => [who.number, who.numbers, who.starts_with ?? who.ends_with].filter((value) => value !== undefined).length === 1,
    'Say whose phone this is: give number, or numbers, or a pattern of starts_with and ends_with.',
  );

const kind = z.strictObject({ weight: z.number().positive('Must be a number above 0.').default(1), ...traits });

export const worldSchema = z.strictObject({
  version: z.literal(1, 'Must be 1; this program reads no other version of world files.').default(1),
  people: z.array(personSchema).max(100_000).default([]),
  population: z.array(kind).min(1).max(1_000).optional(),
  records: recordQuirks.optional(),
  late_rings: lateness.optional(),
});

export type WorldInput = z.input<typeof worldSchema>;
export type World = z.output<typeof worldSchema>;
export type PersonInput = z.output<typeof personSchema>;
export type KindInput = z.output<typeof kind>;
export type Reach = z.output<typeof reach>;
export type Period = z.output<typeof period>;

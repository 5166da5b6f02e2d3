import { z } from 'zod';
import { parseDuration } from './times.ts';

/** All that is known of one setting of the campaign file. The page, commands, events, schemas and rules take it from here. */
export interface Setting {
  /** Bounds and default; its messages say what to write instead. Its output is what the rules hold: milliseconds, minutes. */
  schema: z.ZodType;
  /** What it is for: its description in the JSON Schema, and in the help of commands and pages. Its group says it where it is left out. */
  help?: string;
  /** What people call it: in forms, and in the sentences of events. */
  label?: string;
  /** Its name in the frozen rules, within those of its group. */
  rules?: string;
  /** How the page asks for it; left out: it does not, and what holds then is the default. */
  form?: FormField;
  /** What stands below it, where the page asks for that. */
  settings?: SettingGroup;
}

export interface FormField {
  /** Of the page of a new campaign. */
  part: 'columns' | 'words' | 'calls' | 'name';
  hint?: string;
  type?: 'number' | 'datetime-local';
  placeholder?: string;
  /** What stands there before anybody has written something. */
  usual?: string;
  /** What stands between several values; one alone is no list, unless it has to be one. */
  between?: RegExp;
  isList?: boolean;
}

export type SettingGroup = Readonly<Record<string, Setting>>;

export function shapeOf<Group extends SettingGroup>(group: Group): { [Key in keyof Group]: Group[Key]['schema'] } {
  const shape = Object.entries(group).map(([key, { schema, help }]) => [
    key,
    help === undefined ? schema : schema.meta({ description: help }),
  ]);
  return Object.fromEntries(shape) as { [Key in keyof Group]: Group[Key]['schema'] };
}

/** What a campaign file says in settings of a group, with defaults. */
export type Written<Group extends SettingGroup> = z.output<z.ZodObject<{ [Key in keyof Group]: Group[Key]['schema'] }>>;

type Frozen<Value> = undefined extends Value ? Exclude<Value, undefined> | null : Value;
type RulesName<Entry> = Entry extends { rules: infer Name extends string } ? Name : never;

/** The frozen rules that settings of a group become, in their order; null: left out. */
export function rulesOf<Group extends SettingGroup, Values extends { [Key in keyof Group]?: unknown }>(
  group: Group,
  values: Values,
): { [Key in keyof Group as RulesName<Group[Key]>]: Frozen<Values[Key]> } {
  const fields = Object.entries(group).flatMap(([key, { rules }]) => (rules === undefined ? [] : [[rules, values[key] ?? null]]));
  return Object.fromEntries(fields) as ReturnType<typeof rulesOf<Group, Values>>;
}

/* Every message, here and in the schemas, is the fix, as an instruction; `problems.ts` puts path, line and value before it. */

const durationFix = 'write a duration such as 90s, 5m, 2h or 1d, at most 366d';

export function text(fix: string, longest = 200) {
  return z
    .string({ error: fix })
    .max(longest, { error: fix })
    .refine((value) => value.trim() !== '', { error: fix });
}

export function whole(from: number, to: number) {
  const fix = `write a whole number from ${String(from)} to ${String(to)}`;
  return z.number({ error: fix }).int({ error: fix }).min(from, { error: fix }).max(to, { error: fix });
}

export type JsonShape = { [key: string]: unknown };

export const textShape: JsonShape = { type: 'string' };
export const scalarShape: JsonShape = { type: ['string', 'number', 'boolean'] };
export const durationShape: JsonShape = { type: 'string', pattern: '^\\s*\\d{1,9}(\\.\\d{1,3})?\\s?[smhd]\\s*$' };
export const oneOrMore = (items: JsonShape): JsonShape => ({ anyOf: [items, { type: 'array', items, minItems: 1 }] });

/** A value that `read` understands, or the fix as the problem. JSON Schema cannot see into `read`: `meta` says what may stand there. */
export function readBy<T>(read: (value: unknown) => T | null, fix: string) {
  return z.unknown().transform((value, context): T => {
    const parsed = read(value);
    if (parsed !== null) return parsed;
    context.issues.push({ code: 'custom', message: fix, input: value });
    return z.NEVER;
  });
}

export function duration(shortestMs: number) {
  const fix = shortestMs > 0 ? `${durationFix}, at least ${String(shortestMs / 1000)}s` : durationFix;
  return readBy((value) => {
    const ms = parseDuration(value);
    return ms === null || ms < shortestMs ? null : ms;
  }, fix).meta(durationShape);
}

const shareFix = 'write a share of the calls such as 50%, above 0% and at most 100%';
/** A share of calls, as parts of 1. */
export const share = readBy((value) => {
  const match = typeof value === 'string' ? /^(\d{1,3}(?:\.\d)?)\s?%$/.exec(value.trim()) : null;
  const percent = Number(match?.[1] ?? 0);
  return percent > 0 && percent <= 100 ? percent / 100 : null;
}, shareFix).meta({ type: 'string', pattern: '^\\s*\\d{1,3}(\\.\\d)?\\s?%\\s*$' });

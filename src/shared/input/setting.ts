import { z } from 'zod';
import { parseDuration } from './times.ts';

/** One setting of the campaign file: the single source for page, commands, events, schemas and rules. */
export interface Setting {
  /** Bounds and default; error messages are the fix. Output in ms or minutes, as the rules store it. */
  schema: z.ZodType;
  /** Description in JSON Schema, commands and pages; default: the group's. */
  help?: string;
  /** Name in forms and event texts. */
  label?: string;
  /** Name in the frozen rules of its group. */
  rules?: string;
  /** Form field on the page; omitted: not shown, so the default applies. */
  form?: FormField;
  /** Nested settings that the page shows. */
  settings?: SettingGroup;
}

export interface FormField {
  part: 'columns' | 'words' | 'calls' | 'name';
  hint?: string;
  type?: 'number' | 'datetime-local';
  placeholder?: string;
  /** Initial value. */
  usual?: string;
  /** Separator of several values; a single one is no list unless `isList`. */
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

/** A group's parsed settings, with defaults. */
export type Written<Group extends SettingGroup> = z.output<z.ZodObject<{ [Key in keyof Group]: Group[Key]['schema'] }>>;

type Frozen<Value> = undefined extends Value ? Exclude<Value, undefined> | null : Value;
type RulesName<Entry> = Entry extends { rules: infer Name extends string } ? Name : never;

/** Frozen rules of a group's settings; null: left out. */
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

/** A zod type from `read`, with `fix` as its error. `meta` describes the input, since JSON Schema cannot see into `read`. */
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
/** A share of calls, 0 to 1. */
export const share = readBy((value) => {
  const match = typeof value === 'string' ? /^(\d{1,3}(?:\.\d)?)\s?%$/.exec(value.trim()) : null;
  const percent = Number(match?.[1] ?? 0);
  return percent > 0 && percent <= 100 ? percent / 100 : null;
}, shareFix).meta({ type: 'string', pattern: '^\\s*\\d{1,3}(\\.\\d)?\\s?%\\s*$' });

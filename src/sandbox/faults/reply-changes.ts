import { faultableNames, listOf, type FaultableName } from '../core/operations.ts';
import { parseJson } from '../core/json.ts';
import type { Random } from '../core/random.ts';
import type { FaultHit } from './book.ts';
import type { FaultEffect } from './effect.ts';

type Fields = Record<string, unknown>;

const changeTypes = [
  'duplicate',
  'leave_out',
  'reorder',
  'missing_field',
  'unknown_field',
  'unknown_value',
  'wrong_count',
  'clock_skew',
] as const;
type ReplyChange = Extract<FaultEffect, { type: (typeof changeTypes)[number] }>;

/** Applies the hits to a reply's JSON; other replies stay unchanged. */
export function changeReply(payload: string, hits: readonly FaultHit[], operation: FaultableName | null): string {
  const changes = hits.flatMap(({ effect, draw }) => (isReplyChange(effect) ? [{ effect, draw }] : []));
  if (changes.length === 0) return payload;
  let body = parseJson(payload);
  if (body === undefined) return payload;
  for (const { effect, draw } of changes) body = change(body, effect, draw, operation);
  return JSON.stringify(body);
}

function isReplyChange(effect: FaultEffect): effect is ReplyChange {
  return (changeTypes as readonly string[]).includes(effect.type);
}

function change(body: unknown, effect: ReplyChange, draw: FaultHit['draw'], operation: FaultableName | null): unknown {
  switch (effect.type) {
    case 'duplicate':
      return withList(body, (list) => duplicateOne(list, draw()));
    case 'leave_out':
      return withList(body, (list) => list.toSpliced(Math.floor(draw().next() * list.length), 1));
    case 'reorder':
      return withList(body, (list) => shuffle(list, draw()));
    case 'missing_field':
      return withEach(body, (record) => changeAt(record, effect.field?.split('.') ?? drawField(record, draw()), {}));
    case 'unknown_field':
      return withEach(body, (record) => ({ ...record, [effect.field]: effect.value }));
    case 'unknown_value':
      return withEach(body, (record) => changeAt(record, effect.field.split('.'), { value: effect.value }));
    case 'wrong_count':
      return operation === 'batch_calls' && isFields(body) && 'calls_initiated' in body
        ? { ...body, calls_initiated: Math.max(0, Number(body['calls_initiated']) + effect.by) }
        : body;
    case 'clock_skew':
      return shiftTimes(body, '', effect.seconds);
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const listFields = faultableNames.flatMap((name) => listOf(name) ?? []);

function listField(body: unknown): string | null {
  return isFields(body) ? (listFields.find((name) => Array.isArray(body[name])) ?? null) : null;
}

function withList(body: unknown, then: (list: unknown[]) => unknown[]): unknown {
  if (Array.isArray(body)) return then(body);
  const name = listField(body);
  return name !== null && isFields(body) ? { ...body, [name]: then(body[name] as unknown[]) } : body;
}

function withEach(body: unknown, then: (record: Fields) => Fields): unknown {
  const each = (list: unknown[]): unknown[] => list.map((record) => (isFields(record) ? then(record) : record));
  if (Array.isArray(body) || listField(body) !== null) return withList(body, each);
  return isFields(body) ? then(body) : body;
}

function duplicateOne(list: unknown[], random: Random): unknown[] {
  if (list.length === 0) return list;
  const index = Math.floor(random.next() * list.length);
  return [...list.slice(0, index + 1), ...list.slice(index)];
}

/** Fisher–Yates; a list of two or more left unchanged by chance is reversed. */
function shuffle(list: unknown[], random: Random): unknown[] {
  const shuffled = [...list];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random.next() * (last + 1));
    [shuffled[last], shuffled[other]] = [shuffled[other], shuffled[last]];
  }
  return shuffled.every((entry, index) => entry === list[index]) ? shuffled.toReversed() : shuffled;
}

/** An optional field: no id, page mark or count. */
function drawField(record: Fields, random: Random): string[] {
  const names = Object.keys(record).filter((name) => !/_id$|^id$|^calls_initiated$|^signed_url$|^token$/.test(name));
  return names[0] === undefined ? [] : [random.pick(names as [string, ...string[]])];
}

/** The record with the value at a path replaced or removed; unchanged without that path. */
function changeAt(record: Fields, [name, ...rest]: string[], change: { value?: unknown }): Fields {
  if (name === undefined || !Object.hasOwn(record, name)) return record;
  const { [name]: inner, ...others } = record;
  if (rest.length > 0) return isFields(inner) ? { ...record, [name]: changeAt(inner, rest, change) } : record;
  return 'value' in change ? { ...record, [name]: change.value } : others;
}

const isoInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const unixField = /(_unix_secs|_unix|_unix_ms)$/;

/** Shifts ISO instants anywhere, and Unix times by field name. */
function shiftTimes(value: unknown, name: string, seconds: number): unknown {
  if (Array.isArray(value)) return value.map((entry) => shiftTimes(entry, name, seconds));
  if (isFields(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shiftTimes(inner, key, seconds)]));
  }
  if (typeof value === 'string' && isoInstant.test(value)) return new Date(Date.parse(value) + seconds * 1000).toISOString();
  if (typeof value === 'number' && unixField.test(name)) return value + seconds * (name.endsWith('_ms') ? 1000 : 1);
  return value;
}

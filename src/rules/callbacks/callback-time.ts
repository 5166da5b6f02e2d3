import { DateTime } from 'luxon';
import type { ConversationFacts } from '../conversation-facts.ts';
import type { CallbackRules, CallbackSource, UnclearReason } from '../callback-rules.ts';
import { plainValueNamed, type ValueReading } from '../talk-results.ts';
import { timeZone } from '../hours/time-zone.ts';
import { instantsOf, wallText } from '../hours/local-time.ts';

/** `said`: the record's text, shortened; null: none. `local`: the wall time, if the record gave one (`2030-11-30 17:00`). */
export type ReadCallback =
  | { kind: 'clear'; at: number; local: string | null; said: string | null }
  | { kind: 'unclear'; reason: UnclearReason; said: string | null };

/** Facts about a recipient and a call for reading a callback time. */
export interface CallbackQuestion {
  /** When the recipient said it: the end of the call. */
  toldAt: number;
  /** All possible zones of the recipient. */
  zones: readonly string[];
  now: number;
  /** Whether hours, law and ends allow a call at an instant. */
  isOpen: (at: number) => boolean;
}

const maxTextLength = 200;

/** Reads a callback time; with several zones the latest reading counts. Never guesses: past, too far ahead or closed is unclear. */
export function readCallback(
  rules: CallbackRules,
  facts: Pick<ConversationFacts, 'collected'>,
  question: CallbackQuestion,
  reading: ValueReading = {},
): ReadCallback {
  const text = textIn(rules.at, facts, reading);
  const shown = text?.slice(0, maxTextLength) ?? null;
  if (text === null) return { kind: 'unclear', reason: 'no_time', said: null };
  const found = rules.at.kind === 'in' ? readMinutes(text, question) : readTime(text, rules, question);
  if (typeof found === 'string') return { kind: 'unclear', reason: found, said: shown };
  const read = { ...found, at: toWholeSecond(found.at) };
  const reason = faultOf(read.at, rules, question);
  return reason === null ? { kind: 'clear', ...read, said: shown } : { kind: 'unclear', reason, said: shown };
}

/** Rounds up to a whole second, the precision of the service's clock, by which the callback must also be due. */
export function toWholeSecond(at: number): number {
  return Math.ceil(at / 1000) * 1000;
}

/** Why no callback is possible at this instant; null: it is. */
export function faultOf(
  at: number,
  { lateMs, horizonMs }: Pick<CallbackRules, 'lateMs' | 'horizonMs'>,
  { toldAt, now, isOpen }: Pick<CallbackQuestion, 'toldAt' | 'now' | 'isOpen'>,
): UnclearReason | null {
  // Includes the time of a callback that this very call fulfilled.
  if (at <= toldAt || at + lateMs <= now) return 'past';
  if (at > now + horizonMs) return 'too_far';
  return isOpen(Math.max(at, now)) ? null : 'outside_hours';
}

function textIn(source: CallbackSource, { collected }: Pick<ConversationFacts, 'collected'>, reading: ValueReading): string | null {
  const of = (key: string): string => {
    const value = plainValueNamed(collected, key, reading);
    return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  };
  const raw = source.kind === 'date_and_time' ? (of(source.date) === '' ? '' : `${of(source.date)} ${of(source.time)}`) : of(source.key);
  // Some agents end a value with a full stop.
  const text = raw.trim().replace(/[\s.]+$/, '');
  return text === '' ? null : text;
}

type Read = { at: number; local: string | null } | UnclearReason;

function readMinutes(text: string, { toldAt }: CallbackQuestion): Read {
  const minutes = Number(text);
  return Number.isFinite(minutes) && minutes > 0 ? { at: toldAt + Math.round(minutes * 60_000), local: null } : 'not_understood';
}

const withOffset = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i;
const localForm = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::00)?$/;

function readTime(text: string, { lateMs }: CallbackRules, question: CallbackQuestion): Read {
  if (withOffset.test(text)) {
    const instant = DateTime.fromISO(text.replace(' ', 'T'), { zone: 'utc' });
    return instant.isValid ? { at: instant.toMillis(), local: null } : 'not_understood';
  }
  const local = localForm.exec(text);
  return local === null ? 'not_understood' : atLocal(`${local[1]} ${local[2]}`, question, lateMs);
}

/** Instant of a local callback time in these zones; an unclear reason when they disagree. */
export function atLocal(local: string, { toldAt, zones }: CallbackQuestion, lateMs: number): Read {
  if (zones.length === 0 || !zones.every((zone) => timeZone(zone).isValid)) return 'unknown_timezone';
  const wall = DateTime.fromFormat(local, 'yyyy-MM-dd HH:mm', { zone: 'utc' });
  if (!wall.isValid) return 'not_understood';
  const instants = zones.map((zone) => instantsOf(wall.toMillis(), zone).find((at) => at > toldAt) ?? null).filter((at) => at !== null);
  if (instants.length < zones.length) return 'past';
  const latest = Math.max(...instants);
  return latest - Math.min(...instants) > lateMs ? 'zones_apart' : { at: latest, local: wallText(wall.toMillis()) };
}

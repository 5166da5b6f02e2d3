import { DateTime } from 'luxon';
import type { ConversationFacts } from '../conversation-facts.ts';
import type { CallbackRules, CallbackSource, UnclearReason } from '../callback-rules.ts';
import { plainValueNamed, type ValueReading } from '../talk-results.ts';
import { timeZone } from '../hours/time-zone.ts';
import { instantsOf, wallText, wallTime } from '../hours/local-time.ts';
import { readSpokenTime } from './spoken-time.ts';

/** `said`: what the record says, shortened; null: nothing. `local`: what the wall shows then, where that was said (`2030-11-30 17:00`). */
export type ReadCallback =
  | { kind: 'clear'; at: number; local: string | null; said: string | null }
  | { kind: 'unclear'; reason: UnclearReason; said: string | null };

/** What there is to know of a person and a call, to read when they want to be called back. */
export interface CallbackQuestion {
  /** When the person said it: as their call ended. */
  toldAt: number;
  /** All zones in which they may be. */
  zones: readonly string[];
  now: number;
  /** Whether they may be called at an instant, as far as hours, law and ends are concerned. */
  isOpen: (at: number) => boolean;
}

const longestSaid = 200;

/**
 * When somebody asked to be called back, by what was collected from them. Of several zones the latest reading counts. Never guesses: what
 * is past, too far ahead, closed, or may mean more than one time is unclear.
 */
export function readCallback(
  rules: CallbackRules,
  facts: Pick<ConversationFacts, 'collected'>,
  question: CallbackQuestion,
  reading: ValueReading = {},
): ReadCallback {
  const said = saidIn(rules.at, facts, reading);
  const shown = said?.slice(0, longestSaid) ?? null;
  if (said === null) return { kind: 'unclear', reason: 'no_time', said: null };
  const found = rules.at.kind === 'in' ? readMinutes(said, question) : readTime(said, rules, question);
  if (typeof found === 'string') return { kind: 'unclear', reason: found, said: shown };
  const read = { ...found, at: toWholeSecond(found.at) };
  const reason = faultOf(read.at, rules, question);
  return reason === null ? { kind: 'clear', ...read, said: shown } : { kind: 'unclear', reason, said: shown };
}

/** The first whole second that is not earlier. A promise must have come by the clock of the service too, which tells seconds. */
export function toWholeSecond(at: number): number {
  return Math.ceil(at / 1000) * 1000;
}

/** What speaks against a promise for this instant; null: nothing. */
export function faultOf(
  at: number,
  { lateMs, horizonMs }: Pick<CallbackRules, 'lateMs' | 'horizonMs'>,
  { toldAt, now, isOpen }: Pick<CallbackQuestion, 'toldAt' | 'now' | 'isOpen'>,
): UnclearReason | null {
  // Also one that was asked for in the very call that was made for it.
  if (at <= toldAt || at + lateMs <= now) return 'past';
  if (at > now + horizonMs) return 'too_far';
  return isOpen(Math.max(at, now)) ? null : 'outside_hours';
}

function saidIn(source: CallbackSource, { collected }: Pick<ConversationFacts, 'collected'>, reading: ValueReading): string | null {
  const of = (key: string): string => {
    const value = plainValueNamed(collected, key, reading);
    return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  };
  const said = source.kind === 'date_and_time' ? (of(source.date) === '' ? '' : `${of(source.date)} ${of(source.time)}`) : of(source.key);
  // Words that were taken down as a sentence end as one.
  const told = said.trim().replace(/[\s.]+$/, '');
  return told === '' ? null : told;
}

type Read = { at: number; local: string | null } | UnclearReason;

function readMinutes(said: string, { toldAt }: CallbackQuestion): Read {
  const minutes = Number(said);
  return Number.isFinite(minutes) && minutes > 0 ? { at: toldAt + Math.round(minutes * 60_000), local: null } : 'not_understood';
}

const withOffset = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i;
const localForm = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::00)?$/;

function readTime(said: string, rules: CallbackRules, question: CallbackQuestion): Read {
  if (withOffset.test(said)) {
    const instant = DateTime.fromISO(said.replace(' ', 'T'), { zone: 'utc' });
    return instant.isValid ? { at: instant.toMillis(), local: null } : 'not_understood';
  }
  const local = localForm.exec(said);
  if (local === null && rules.words === null) return 'not_understood';
  const written = local === null ? null : `${local[1]} ${local[2]}`;
  return atWalls(question, rules.lateMs, (now) => (written === null ? readSpokenTime(said, now) : wallOf(written)));
}

/** The wall time of `2030-11-30 17:00`. */
function wallOf(local: string): { kind: 'at'; walls: number[] } | { kind: 'unclear'; reason: 'not_understood' } {
  const wall = DateTime.fromFormat(local, 'yyyy-MM-dd HH:mm', { zone: 'utc' });
  return wall.isValid ? { kind: 'at', walls: [wall.toMillis()] } : { kind: 'unclear', reason: 'not_understood' };
}

/** The instant of a local time that was promised, in these zones; an unclear reason where they do not agree on one. */
export function atLocal(local: string, question: CallbackQuestion, lateMs: number): Read {
  return atWalls(question, lateMs, () => wallOf(local));
}

function atWalls(question: CallbackQuestion, lateMs: number, read: (now: number) => ReturnType<typeof readSpokenTime>): Read {
  const { toldAt, zones } = question;
  if (zones.length === 0 || !zones.every((zone) => timeZone(zone).isValid)) return 'unknown_timezone';
  const readings = zones.map((zone) => {
    const spoken = read(wallTime(toldAt, zone));
    if (spoken.kind !== 'at') return spoken;
    const instants = spoken.walls.map((wall) => instantsOf(wall, zone).find((at) => at > toldAt) ?? null);
    return { kind: 'at' as const, choices: spoken.walls.map((wall, index) => ({ wall, at: instants[index] ?? null })) };
  });
  const unclear = readings.find((reading) => reading.kind === 'unclear');
  if (unclear !== undefined) return unclear.reason;
  const [first] = readings;
  if (first?.kind === 'after') return { at: toldAt + first.ms, local: null };
  const choices = readings.flatMap((reading) => (reading.kind === 'at' ? [reading.choices] : []));
  const meant = (choices[0] ?? []).flatMap((_, index) => {
    const each = choices.map((ofZone) => ofZone[index]);
    const instants = each.flatMap((choice) => (choice?.at == null ? [] : [choice.at]));
    return instants.length < each.length
      ? []
      : [{ at: Math.max(...instants), apart: Math.max(...instants) - Math.min(...instants), wall: each[0]?.wall ?? 0 }];
  });
  if (meant.length === 0) return 'past';
  const likely = meant.length === 1 ? meant : meant.filter(({ at }) => question.isOpen(at));
  const [only] = likely;
  if (only === undefined) return 'outside_hours';
  if (likely.length > 1) return 'ambiguous';
  if (only.apart > lateMs) return 'zones_apart';
  return { at: only.at, local: wallText(only.wall) };
}

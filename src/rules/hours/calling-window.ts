import type { Zone } from 'luxon';
import { type LegalHours, weekdays, type CallingCalendar, type DailyWindow } from '../campaign-rules.ts';
import { firstThat } from '../collections.ts';
import { timeZone } from './time-zone.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** How far ahead to search for an opening: beyond a month of holidays, short of a clock change half a year away. */
export const windowHorizonMs = 45 * dayMs;
const wholeDay: readonly DailyWindow[] = [{ from: 0, to: 1440 }];

/** A calendar and its dates of validity. `isOwn`: the row's own. */
export type DatedCalendar = CallingCalendar & Partial<Pick<LegalHours, 'from' | 'until' | 'eves'>> & { isOwn?: true };

/** Input of one calling-window decision. */
export interface WindowInput {
  /** All that apply to the recipient; every one must be open. Empty: open at any hour. */
  calendars: readonly DatedCalendar[];
  /** All possible zones of the number; every one must be open. */
  zones: readonly string[];
  /** Epoch ms, service time. */
  at: number;
  /** How long the window must stay open beyond `at`, campaign end included. */
  marginMs: number;
  endsAt: number | null;
}

/** Whether the calling window is open, and when that changes. Instants are epoch ms, service time. */
export type WindowState =
  | {
      open: true;
      /** First closed instant, in any zone or by the campaign end; null: none in the next 45 days. */
      closesAt: number | null;
    }
  | {
      open: false;
      /** `never_opens`: not within 45 days, or not before the campaign end. */
      reason: 'outside_hours' | 'unknown_zone' | 'never_opens';
      /** Earliest later instant at which the window is open. */
      opensAt: number | null;
    };

/**
 * Whether a recipient may be called now: from `at` through `at + marginMs` every calendar is open in every zone, and the campaign has not
 * ended. A skipped hour is never open, a repeated one twice; with a calendar, a missing or unknown zone is never open.
 */
export function windowAt(input: WindowInput): WindowState {
  const { zones, at, marginMs } = input;
  const end = input.endsAt ?? Infinity;
  const calendars = input.calendars.filter(restricts);
  if (calendars.length === 0) {
    if (at + marginMs < end) return { open: true, closesAt: input.endsAt };
    return { open: false, reason: 'never_opens', opensAt: null };
  }
  const intervals = commonIntervals(calendars, zones, at);
  if (intervals === null) return { open: false, reason: 'unknown_zone', opensAt: null };
  for (const interval of intervals) {
    const opensAt = Math.max(interval.from, at);
    if (opensAt > at + windowHorizonMs) break;
    const closesAt = Math.min(interval.to, end);
    if (closesAt <= opensAt + marginMs) continue;
    if (opensAt === at) return { open: true, closesAt: Number.isFinite(closesAt) ? closesAt : null };
    return { open: false, reason: 'outside_hours', opensAt };
  }
  return { open: false, reason: 'never_opens', opensAt: null };
}

const yearMs = 400 * dayMs;

/** Whether a call can begin at any time in the year from `at` on, holidays and clock changes included. */
export function opensInYear(input: Omit<WindowInput, 'endsAt'>): boolean {
  for (let { at } = input; at < input.at + yearMs; at += windowHorizonMs) {
    const window = windowAt({ ...input, at, endsAt: null });
    if (window.open || window.opensAt !== null) return true;
  }
  return false;
}

/** `to` is exclusive. */
interface Interval {
  from: number;
  to: number;
}

function restricts({ hours, closedOn }: DatedCalendar): boolean {
  return hours !== null || closedOn.length > 0;
}

/** Ascending and disjoint; null: an unknown zone. */
function commonIntervals(calendars: readonly DatedCalendar[], zones: readonly string[], at: number): readonly Interval[] | null {
  if (!zones.every((zone) => timeZone(zone).isValid)) return null;
  let common: readonly Interval[] | null = null;
  for (const calendar of calendars) {
    for (const zone of zones) {
      const intervals = zoneIntervals(calendar, zone, at);
      common = common === null ? intervals : intersect(common, intervals);
      if (common.length === 0) return common;
    }
  }
  return common;
}

function intersect(left: readonly Interval[], right: readonly Interval[]): Interval[] {
  const both: Interval[] = [];
  let i = 0;
  let j = 0;
  for (let a = left[i], b = right[j]; a !== undefined && b !== undefined; a = left[i], b = right[j]) {
    const from = Math.max(a.from, b.from);
    const to = Math.min(a.to, b.to);
    if (from < to) both.push({ from, to });
    if (a.to < b.to) i++;
    else j++;
  }
  return both;
}

interface ZoneDay {
  day: number;
  intervals: readonly Interval[];
}

/** One entry per calendar object and zone, for the last requested day: a plan checks many recipients at one instant. */
const cache = new WeakMap<object, Map<string, ZoneDay>>();

function zoneIntervals(calendar: DatedCalendar, zone: string, at: number): readonly Interval[] {
  const day = Math.floor(at / dayMs);
  let zones = cache.get(calendar);
  if (zones === undefined) cache.set(calendar, (zones = new Map()));
  const known = zones.get(zone);
  if (known?.day === day) return known.intervals;
  const intervals = computeIntervals(calendar, timeZone(zone), day * dayMs);
  zones.set(zone, { day, intervals });
  return intervals;
}

/** Open intervals for any instant of this UTC day; one that outlasts them ends in infinity. */
function computeIntervals(calendar: DatedCalendar, zone: Zone, from: number): Interval[] {
  const to = from + dayMs + windowHorizonMs + 7 * dayMs;
  const intervals: Interval[] = [];
  const closed = new Set(calendar.closedOn.map(localDayOf));
  const eves = new Set(calendar.eves?.dates.map(localDayOf));
  const firstRuled = calendar.from == null ? -Infinity : localDayOf(calendar.from);
  const lastRuled = calendar.until == null ? Infinity : localDayOf(calendar.until);
  const windowsOf = (day: number): readonly DailyWindow[] => {
    if (day < firstRuled || day > lastRuled) return wholeDay;
    if (closed.has(day)) return [];
    const usual = calendar.hours === null ? wholeDay : (calendar.hours[weekdayOf(day)] ?? []);
    return eves.has(day) && usual.length > 0 ? (calendar.eves?.windows ?? []) : usual;
  };
  for (const segment of segmentsOf(zone, from, to)) {
    const firstDay = Math.floor((segment.from + segment.offsetMs) / dayMs);
    const lastDay = Math.floor((segment.to + segment.offsetMs) / dayMs);
    for (let localDay = firstDay; localDay <= lastDay; localDay++) {
      const midnight = localDay * dayMs - segment.offsetMs;
      for (const window of windowsOf(localDay)) {
        const opens = Math.max(midnight + window.from * minuteMs, segment.from);
        const closes = Math.min(midnight + window.to * minuteMs, segment.to);
        if (opens >= closes) continue;
        const last = intervals.at(-1);
        if (last?.to === opens) last.to = closes;
        else intervals.push({ from: opens, to: closes });
      }
    }
  }
  const last = intervals.at(-1);
  if (last?.to === to) last.to = Infinity;
  return intervals;
}

interface OffsetSegment extends Interval {
  offsetMs: number;
}

/** Segments per zone for the last requested day, shared by all calendars. */
const segmentCache = new Map<string, { from: number; segments: readonly OffsetSegment[] }>();

function segmentsOf(zone: Zone, from: number, to: number): readonly OffsetSegment[] {
  const known = segmentCache.get(zone.name);
  if (known?.from === from) return known.segments;
  const segments = offsetSegments(zone, from, to);
  segmentCache.set(zone.name, { from, segments });
  return segments;
}

/** Spans in which the zone keeps one offset; two changes within one day are not found. */
function offsetSegments(zone: Zone, from: number, to: number): OffsetSegment[] {
  const offsetAt = (at: number): number => zone.offset(at) * minuteMs;
  const segments: OffsetSegment[] = [];
  let current: OffsetSegment = { from, to, offsetMs: offsetAt(from) };
  for (let at = from; at < to; at += dayMs) {
    const offsetMs = offsetAt(at + dayMs);
    if (offsetMs === current.offsetMs) continue;
    const changesAt = firstThat((instant) => offsetAt(instant) === offsetMs, at, at + dayMs);
    segments.push({ ...current, to: changesAt });
    current = { from: changesAt, to, offsetMs };
  }
  segments.push(current);
  return segments;
}

/** Days since the epoch of a local date such as `2026-12-25`. */
function localDayOf(date: string): number {
  return Math.round(Date.parse(`${date}T00:00:00Z`) / dayMs);
}

function weekdayOf(localDay: number): (typeof weekdays)[number] {
  // Day 0 of the epoch was a Thursday; the remainder stays positive before it.
  const index = (((localDay + 3) % 7) + 7) % 7;
  const weekday = weekdays[index];
  if (weekday === undefined) throw new RangeError(`No weekday for day ${localDay}.`);
  return weekday;
}

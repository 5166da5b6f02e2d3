import { firstThat } from '../collections.ts';
import { timeZone } from './time-zone.ts';
import { windowAt, type WindowInput } from './calling-window.ts';
import { localTime } from './local-time.ts';

const minuteMs = 60_000;
const dayMinutes = 24 * 60;
/** The longest day of any zone, with room for its clock changes. */
const mostDayMs = 50 * 60 * minuteMs;

/** A local day: its first instant, and that of the next one. */
export interface LocalDay {
  date: string;
  from: number;
  to: number;
}

/** The day that a calendar on the wall shows at an instant; null for a zone that does not exist. */
export function localDay(at: number, zone: string): LocalDay | null {
  const today = localTime(at, zone)?.date;
  if (today === undefined) return null;
  const dateAt = (instant: number): string => localTime(instant, zone)?.date ?? today;
  const from = firstThat((instant) => dateAt(instant) >= today, at - mostDayMs, at);
  return { date: today, from, to: firstThat((instant) => dateAt(instant) > today, at, at + mostDayMs) };
}

/** Minutes after midnight that a clock on the wall shows. */
export function wallMinutes(at: number, zone: string): number {
  const local = Math.floor(at / minuteMs) + timeZone(zone).offset(at);
  return ((local % dayMinutes) + dayMinutes) % dayMinutes;
}

/** The instants between `from` and `to` at which `windowAt` lets a call begin, as stretches. */
export function openStretches(input: Omit<WindowInput, 'at'>, { from, to }: { from: number; to: number }): { from: number; to: number }[] {
  const stretches: { from: number; to: number }[] = [];
  let at = from;
  while (at < to) {
    const state = windowAt({ ...input, at });
    if (state.open) {
      const until = Math.min(to, state.closesAt === null ? to : state.closesAt - input.marginMs);
      stretches.push({ from: at, to: until });
      at = until;
    } else {
      at = state.opensAt ?? to;
    }
  }
  return stretches;
}

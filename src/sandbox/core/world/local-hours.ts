import { localTime } from '../zone-time.ts';
import type { Period, Reach } from './world-schema.ts';

const weekdayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/**
 * The first period that covers `at` on the person's own clock, else null. A period whose end is not after its beginning runs
 * past midnight, and belongs to the day on which it began.
 */
export function periodAt(periods: readonly Period[], zone: string, at: number): Reach | null {
  const local = localTime(zone, at);
  if (local === null) return null;
  const { minute, weekday: today } = local;
  const holds = ({ days, from, to }: Period): boolean => {
    const on = (day: number): boolean => days === undefined || days.includes(weekdayNames[(day + 7) % 7] ?? 'mon');
    const [begin, end] = [minutesOf(from), minutesOf(to)];
    if (begin < end) return on(today) && minute >= begin && minute < end;
    return (on(today) && minute >= begin) || (on(today - 1) && minute < end);
  };
  return periods.find(holds)?.reach ?? null;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

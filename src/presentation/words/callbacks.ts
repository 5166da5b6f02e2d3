import type { Callback } from '../../ledger/people/callbacks.ts';
import type { CallbackCounts } from '../../ledger/rows/promises.ts';
import type { UnclearReason } from '../../rules/callback-rules.ts';
import { wallText, wallTime } from '../../rules/hours/local-time.ts';
import { count, plural, span } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';
import { reasonText as otherReason } from './causes.ts';

const reasons: Readonly<Record<UnclearReason | 'late' | 'talked_to' | 'corrected' | 'row_corrected' | 'promised' | 'decided', string>> = {
  no_time: 'no time was said',
  not_understood: 'the words are not understood',
  ambiguous: 'it may mean more than one time',
  past: 'the time had passed already',
  too_far: 'later than callback.horizon',
  unknown_timezone: 'the time zone is not known',
  zones_apart: 'several time zones are possible',
  outside_hours: 'calling hours are closed then',
  promised_elsewhere: 'another campaign is to call the number back',
  too_often: 'they asked for it in each call, as often as callback.most allows',
  late: 'nobody could dial in time',
  talked_to: 'another call has talked to them',
  corrected: 'the call in which they asked was another one',
  row_corrected: 'the row was corrected',
  promised: 'its time had passed',
  decided: 'an operator decided',
};

export function reasonText(reason: string): string {
  return (reasons as Readonly<Record<string, string>>)[reason] ?? printable(otherReason(reason));
}

/** `2030-11-30 17:00, America/New_York`: the recipient's local time; `-`: no time is known. */
export function localTimeText({ dueAt, local, zones }: Pick<Callback, 'dueAt' | 'local'> & { zones: readonly string[] }): string {
  const [zone] = zones;
  if (dueAt === null) return '-';
  if (zone === undefined) return local ?? '-';
  return `${wallText(wallTime(dueAt, zone))}, ${zone}`;
}

export function scheduledRunText({ result }: { result: string }): string {
  return result === 'callbacks' ? 'only calls back are left' : result;
}

/** `3 open (the next in 12 min), 1 of them overdue · 5 kept · 2 unclear`; empty if there never were any. `now`: service time. */
export function callbackCounts(counts: CallbackCounts | null, now: number): string {
  if (counts === null) return '';
  const { open, overdue, nextDueAt, unclear, ended } = counts;
  const waitMs = nextDueAt === null ? 0 : nextDueAt - now;
  const next = waitMs > 0 ? ` (the next in ${span(waitMs)})` : '';
  const parts = [
    ...(open === 0 ? [] : [`${count(open)} open${next}${overdue === 0 ? '' : `, ${plural(overdue, 'of them', 'of them')} overdue`}`]),
    ...Object.entries(ended).flatMap(([state, times]) => (times === 0 ? [] : [`${state} ${count(times)}`])),
    ...(unclear === 0 ? [] : [`unclear ${count(unclear)}`]),
  ];
  return parts.join(' · ');
}

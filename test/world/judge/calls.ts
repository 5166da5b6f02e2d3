import type { Call, Evidence } from './evidence.ts';

/** Instants of a call: allowed by the ledger, accepted by the service (by its clock or a real one), rung. */
export type By = 'allowed' | 'accepted' | 'real' | 'rang';

/** The caller's own name for the request is `<campaign>/<round>/<batch>/<k>`. */
export function campaignOf({ requestId }: Pick<Call, 'requestId'>): string | undefined {
  return requestId?.split('/')[0];
}

export function tell({ requestId, result, acceptedAt }: Call): string {
  return `call of ${requestId} at ${new Date(acceptedAt).toISOString().slice(5, 19)} (${result ?? 'under way'})`;
}

/** A call that nothing has allowed comes after everything. */
export function dateOf(call: Call, by: By): number {
  if (by === 'allowed') return call.allowed ?? Infinity;
  if (by === 'real') return call.realAcceptedAt;
  return by === 'rang' ? (call.dialedAt ?? call.acceptedAt) : call.acceptedAt;
}

export function inOrder(calls: readonly Call[], by: By = 'accepted'): Call[] {
  return calls.toSorted((a, b) => dateOf(a, by) - dateOf(b, by));
}

export function groupBy<Value, Key>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
}

/** The calls to each person in order; the numbers of one row are one person's. */
export function callsByPerson({ calls, rows }: Pick<Evidence, 'calls' | 'rows'>): Call[][] {
  const first = new Map(rows.flatMap(({ numbers }) => (numbers.length > 1 ? numbers.map((each) => [each, numbers[0]] as const) : [])));
  return [...groupBy(inOrder(calls), ({ to }) => first.get(to) ?? to).values()];
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** A wall clock of the zone, by Node, such as `2030-03-09T17:00`; independent of the program. */
export function wallOf(at: number, zone: string): string {
  let format = formats.get(zone);
  if (format === undefined) {
    // To make one takes longer than to ask it a hundred times.
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
    formats.set(zone, format);
  }
  return format.format(at).replace(' ', 'T');
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

export function weekdayOf(wall: string): string {
  return weekdays[new Date(`${wall.slice(0, 10)}T00:00Z`).getUTCDay()] ?? '';
}

const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** Whether the zone's clock is within hours such as `Mon-Fri 22:00-02:00, Sat 10:00-12:00`. */
export function isWithin(hours: string, zone: string, at: number): boolean {
  const wall = wallOf(at, zone);
  const [today, now] = [days.indexOf(weekdayOf(wall).slice(0, 3)), wall.slice(11)];
  return hours.split(/\s*[,;]\s*/).some((part) => {
    const [, first = 'Mon', last = first, from = '', to = ''] = /^(?:(\w{3})(?:-(\w{3}))? )?([\d:]+)-([\d:]+)$/.exec(part) ?? [];
    const isNamed = /^[A-Z]/.test(part);
    const holds = (day: number) => !isNamed || (day - days.indexOf(first) + 7) % 7 <= (days.indexOf(last) - days.indexOf(first) + 7) % 7;
    if (from < to) return holds(today) && from <= now && now < to;
    return (holds(today) && from <= now) || (holds((today + 6) % 7) && now < to);
  });
}

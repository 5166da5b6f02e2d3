import type { LoggedEvent } from '../book.ts';
import type { Line } from '../line.ts';
import { numberOf, textOf, type Calendar, type Cap, type AuditedAccountRules, type AuditedRules, type Law } from '../judged-rules.ts';
import { hourMs, localTime, minuteMs } from '../local-time.ts';
import type { PlacedCall } from '../number-book.ts';

/** Where a call went. Null: not logged, so every law of the country applies. */
interface Place {
  country: string | null;
  regions: readonly string[] | null;
}

function placeOf({ data = {} }: LoggedEvent): Place {
  const regions = data['regions'];
  return { country: textOf(data['country']), regions: Array.isArray(regions) ? (regions as string[]) : null };
}

/** US territories with a country code of their own. */
const partsOfUs = ['AS', 'GU', 'MP', 'PR', 'VI'];

/**
 * Law of the country and of each possible part; if no rule sets hours for the whole country, also the rules for all such countries (`*`).
 */
export function lawAt({ law }: AuditedRules, { country, regions }: Place): Law[] {
  const holds = (rule: Law, land: string | null, parts: readonly string[] | null): boolean =>
    rule.country === land && (rule.region === null || parts === null || parts.includes(rule.region));
  const found = law.filter(
    (rule) => holds(rule, country, regions) || (country !== null && partsOfUs.includes(country) && holds(rule, 'US', regions ?? [country])),
  );
  const isRuled = found.some((rule) => rule.region === null && rule.hours !== null);
  return isRuled ? found : found.concat(law.filter((rule) => rule.country === '*'));
}

/** Null: allowed. Checks every minute, from the request on, in which the phone may ring. */
export function auditHours(rules: AuditedRules, event: LoggedEvent, accountRules: AuditedAccountRules | null = null): string | null {
  const { at, data = {} } = event;
  const until = at + rules.timing.dispatchMarginMs;
  if (rules.startsAt !== null && at < rules.startsAt) return 'before the campaign was to begin';
  if (at < (numberOf(data['notBefore']) ?? at)) return 'before its row allowed it';
  if (rules.endsAt !== null && until >= rules.endsAt) return 'too near to the end of the campaign';
  if (until >= (numberOf(data['expiresAt']) ?? Infinity)) return 'too near to the end of its row';
  const own = typeof data['hours'] === 'string' ? [ownHours(data['hours'])] : [];
  const accountCalendars = accountRules === null ? [] : [accountRules.calendar];
  const calendars: DatedCalendar[] = [rules.calendar, ...accountCalendars, ...lawAt(rules, placeOf(event)), ...own].filter(restricts);
  if (calendars.length === 0) return null;
  const zones = data['zones'] as readonly string[];
  if (zones.length === 0) return 'where nobody knows what time it is';
  for (const zone of zones)
    for (let minute = Math.floor(at / minuteMs); minute <= Math.floor(until / minuteMs); minute += 1)
      if (!calendars.every((calendar) => isOpen(calendar, zone, minute * minuteMs)))
        return `when it must not be (${zone}, ${new Date(minute * minuteMs).toISOString()})`;
  return null;
}

type DatedCalendar = Calendar & Partial<Pick<Law, 'from' | 'until' | 'eves'>>;

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** Hours of a row, such as `Mon-Fri 22:00-02:00, Sat 10:00-12:00`, by day; any other form is closed. */
function ownHours(text: string): Calendar {
  const hours: Record<string, { from: number; to: number }[]> = {};
  for (const part of text.split(', ')) {
    const form = /^(?:([A-Z][a-z]{2})(?:-([A-Z][a-z]{2}))? )?(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(part);
    if (form === null) continue;
    const [, first = 'Mon', last = form[1] ?? 'Sun', ...times] = form;
    const [h = 0, m = 0, toH = 0, toM = 0] = times.map(Number);
    const [from, to] = [h * 60 + m, toH * 60 + toM];
    const end = weekdays.indexOf(last.toLowerCase());
    for (let day = weekdays.indexOf(first.toLowerCase()); ; day = (day + 1) % 7) {
      const open = (at: number, window: { from: number; to: number }) => (hours[weekdays[at % 7] ?? ''] ??= []).push(window);
      open(day, { from, to: from < to ? to : 1440 });
      if (from >= to) open(day + 1, { from: 0, to });
      if (day === end) break;
    }
  }
  return { hours, closedOn: [] };
}

function restricts({ hours, closedOn }: Calendar): boolean {
  return hours !== null || closedOn.length > 0;
}

function isOpen({ hours, closedOn, from, until, eves }: DatedCalendar, zone: string, at: number): boolean {
  const local = localTime(zone, at);
  if (local === null) return false;
  const { date, weekday, minute } = local;
  // ISO dates compare as texts.
  if (date < (from ?? date) || date > (until ?? date)) return true;
  if (closedOn.includes(date)) return false;
  const opens = ({ from: first, to: end }: { from: number; to: number }) => minute >= first && minute < end;
  const usual = hours === null ? [{ from: 0, to: 1440 }] : (hours[weekday] ?? []);
  return (usual.length > 0 && eves?.dates.includes(date) === true ? eves.windows : usual).some(opens);
}

/** The earliest zone reaches a date 14 hours before UTC, the latest leaves it 12 hours after. */
const aheadMs = 14 * hourMs;
const behindMs = 12 * hourMs;

/** The first cap of campaign, law and account that forbids the call; null: none. */
export function brokenCap({ book: { numbers }, campaign: { rules }, event, number, person }: Line): string | null {
  const { at } = event;
  const inForce = lawAt(rules, placeOf(event)).filter(
    ({ from, until }) =>
      (from === null || at >= Date.parse(from) - aheadMs) && (until === null || at < Date.parse(until) + 24 * hourMs + behindMs),
  );
  const caps = [...rules.caps, ...inForce.flatMap((law) => law.caps), ...(numbers.house?.caps ?? [])];
  const broken = caps.find((cap) =>
    isBroken(cap, cap.by === 'number' ? numbers.placed('number', number) : numbers.placed('person', person), at),
  );
  if (broken === undefined) return null;
  if ('afterTalkMs' in broken) return `${broken.afterTalkMs} ms after a talk with the ${broken.by}`;
  return `${broken.calls} calls per ${broken.withinMs} ms to the ${broken.by}`;
}

/** An earlier call counts from its request until its last possible ring; the new one rings no sooner than its request. */
function isBroken(cap: Cap, calls: readonly PlacedCall[], at: number): boolean {
  if ('afterTalkMs' in cap) return calls.some((call) => call.talked && call.at > at - cap.afterTalkMs);
  return calls.filter((call) => call.rangBy > at - cap.withinMs).length >= cap.calls;
}

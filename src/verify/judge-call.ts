import type { JudgedLine } from './campaign-book.ts';
import type { LoggedEvent } from './log-types.ts';
import {
  textOf,
  type Cap,
  type JudgedHouse,
  type JudgedRules,
  numberOf,
  readJudgedHouse,
  type Calendar,
  type Law,
} from './judged-rules.ts';
import { hourMs, localTime, minuteMs } from './local-time.ts';
import type { NumberBook, PlacedCall } from './number-book.ts';

type JudgedCall = Omit<JudgedLine, 'campaign'> & { campaign: Pick<JudgedLine['campaign'], 'rules'> };

/** What is wrong with placing this call, apart from what its own campaign had done before. */
export function judgeCall({ campaign, numbers, event, data, violate }: JudgedCall): void {
  const { rules } = campaign;
  const { attemptId, at, campaignId } = event;
  const number = String(data['e164']);
  const { house } = numbers;
  const closed = Array.isArray(data['zones']) ? judgeHours(rules, event, house) : null;
  if (!Array.isArray(data['zones'])) violate('log_incomplete', `the log does not tell where ${attemptId} went`);
  if (closed !== null) violate('outside_hours', `call ${attemptId} was placed ${closed}`);
  if (numbers.isSuppressed(number, campaignId, at))
    violate('suppressed_dialled', `call ${attemptId} went to a number on the do-not-call list`);
  const unconsented = numbers.isRevoked(number, rules.purpose, at) ? 'after consent was taken back' : judgeConsent(rules, event);
  if (unconsented !== null) violate('without_consent', `call ${attemptId} was placed ${unconsented}`);
  const other = numbers.openCall(number);
  if (other !== undefined && other !== attemptId)
    violate('calls_overlap', `call ${attemptId} began while ${other} to the same number was open`);
  const lacked = lackedBy(rules, house);
  if (lacked !== null) violate('house_broken', `call ${attemptId} was placed by a campaign without ${lacked}, which the house requires`);
  const broken = [...capsAt(rules, event), ...(house?.caps ?? [])].find((cap) => {
    const whom = cap.by === 'number' ? number : personOf(data);
    return isBroken(cap, numbers.placedTo(cap.by, whom), at);
  });
  if (broken !== undefined) violate('cap_exceeded', `call ${attemptId} was placed before ${describeCap(broken)} allowed it`);
}

/** Whom caps by person count: by a key of its own, else by the row's own id. */
export function personOf(data: Record<string, unknown>): string | null {
  return textOf(data['personKey']) ?? textOf(data['person']);
}

/** Other rules hold for all campaigns from here on. */
export function noteHouse(numbers: NumberBook, data: Record<string, unknown>): void {
  numbers.house = readJudgedHouse(data['rules']);
  numbers.houseVersion = Number(data['version']);
}

/** What the house requires and the campaign does not have; null: nothing. */
function lackedBy({ consent, optOut, dispositions }: JudgedRules, house: JudgedHouse | null): string | null {
  if (house?.requires.consent === true && consent === null) return 'consent';
  const hears = optOut.length > 0 || dispositions.some((rule) => (rule as { disposition?: unknown }).disposition === 'opted_out');
  return house?.requires.optOut === true && !hears ? 'opt_out' : null;
}

/** What is wrong with the consent of a row, of which the log tells when it was given; null: nothing, or none is asked for. */
function judgeConsent({ consent, timing }: JudgedRules, { at, data = {} }: LoggedEvent): string | null {
  if (consent === null) return null;
  const given = numberOf(data['consentedAt']);
  if (given === null) return 'without a consent';
  if (given > at) return 'before its consent was given';
  return consent.maxAgeMs !== null && at + timing.dispatchMarginMs >= given + consent.maxAgeMs ? 'with a consent that was too old' : null;
}

/** The first clock of the earth to show a date is 14 hours ahead, the last one 12 behind. */
const aheadMs = 14 * hourMs;
const behindMs = 12 * hourMs;

/** Every cap that holds for the call: the campaign's, and the law's where and while it may hold. */
function capsAt(rules: JudgedRules, event: LoggedEvent): Cap[] {
  const inForce = lawAt(rules, placeOf(event)).filter(
    ({ from, until }) =>
      (from === null || event.at >= Date.parse(from) - aheadMs) &&
      (until === null || event.at < Date.parse(until) + 24 * hourMs + behindMs),
  );
  return [...rules.caps, ...inForce.flatMap(({ caps }) => caps)];
}

/**
 * A cap counts rings: an earlier call has its place in it from its request until its phone has rung for the last time that is possible,
 * and the new one rings no sooner than its request.
 */
function isBroken(cap: Cap, calls: readonly PlacedCall[], at: number): boolean {
  if ('afterTalkMs' in cap) return calls.some((call) => call.talked && call.at > at - cap.afterTalkMs);
  const recent = calls.filter((call) => call.rangBy > at - cap.withinMs);
  return recent.length >= cap.calls;
}

function describeCap(cap: Cap): string {
  if ('afterTalkMs' in cap) return `${cap.afterTalkMs} ms after a talk with the ${cap.by}`;
  return `${cap.calls} calls per ${cap.withinMs} ms to the ${cap.by}`;
}

/** Where the log says that a call went. What it does not tell is not known, and then every law of the country holds. */
interface Place {
  country: string | null;
  regions: readonly string[] | null;
}

function placeOf({ data = {} }: LoggedEvent): Place {
  const regions = data['regions'];
  return { country: textOf(data['country']), regions: Array.isArray(regions) ? (regions as string[]) : null };
}

/** Parts of the US with a code of their own. */
const partsOfUs = ['AS', 'GU', 'MP', 'PR', 'VI'];

/**
 * The law that holds for somebody who may be there: of the country, and of each part of it that is possible; where no rule tells the hours
 * of the whole country, also the rules for all such countries.
 */
export function lawAt({ law }: JudgedRules, { country, regions }: Place): Law[] {
  const holds = (rule: Law, land: string | null, parts: readonly string[] | null): boolean =>
    rule.country === land && (rule.region === null || parts === null || parts.includes(rule.region));
  const found = law.filter(
    (rule) => holds(rule, country, regions) || (country !== null && partsOfUs.includes(country) && holds(rule, 'US', regions ?? [country])),
  );
  const isRuled = found.some((rule) => rule.region === null && rule.hours !== null);
  return isRuled ? found : found.concat(law.filter((rule) => rule.country === '*'));
}

/** Why a call must not be placed at this time, or null. From the request on, every minute in which the phone may ring is looked at. */
export function judgeHours(rules: JudgedRules, event: LoggedEvent, house: JudgedHouse | null = null): string | null {
  const { at, data = {} } = event;
  const until = at + rules.timing.dispatchMarginMs;
  if (rules.startsAt !== null && at < rules.startsAt) return 'before the campaign was to begin';
  if (at < (numberOf(data['notBefore']) ?? at)) return 'before its row allowed it';
  if (rules.endsAt !== null && until >= rules.endsAt) return 'too near to the end of the campaign';
  if (until >= (numberOf(data['expiresAt']) ?? Infinity)) return 'too near to the end of its row';
  const own = typeof data['hours'] === 'string' ? [ownHours(data['hours'])] : [];
  const ofHouse = house === null ? [] : [house.calendar];
  const calendars: DatedCalendar[] = [rules.calendar, ...ofHouse, ...lawAt(rules, placeOf(event)), ...own].filter(restricts);
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

/** Hours of a row, such as `Mon-Fri 22:00-02:00, Sat 10:00-12:00`, day by day; what is not of this form is closed. */
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
  // Dates of one form are in order as texts.
  if (date < (from ?? date) || date > (until ?? date)) return true;
  if (closedOn.includes(date)) return false;
  const opens = ({ from: first, to: end }: { from: number; to: number }) => minute >= first && minute < end;
  const usual = hours === null ? [{ from: 0, to: 1440 }] : (hours[weekday] ?? []);
  return (usual.length > 0 && eves?.dates.includes(date) === true ? eves.windows : usual).some(opens);
}

import { windowAt, type WindowInput } from '../../rules/hours/calling-window.ts';
import { calendarsFor, lawFor } from '../../rules/hours/legal-hours.ts';
import { localDay, openStretches, wallMinutes, type LocalDay } from '../../rules/hours/local-day.ts';
import { localTime } from '../../rules/hours/local-time.ts';
import { groupBy } from '../../rules/collections.ts';
import { placeOf, sqlLaterTerm } from '../rows/row-terms.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';

/** What decides when a call may begin: hours of the campaign, of the law (by its id) or of the row, or the campaign's beginning or end. */
export interface HoursBound {
  rule: 'campaign' | 'law' | 'row' | 'starts' | 'ends' | 'unknown_zone';
  /** Of the law; else null. */
  law: string | null;
  /** Whether it is closed all of that day, as a holiday. */
  holiday: boolean;
  /** The zone in which it is closed, where that is another one in which the same rows may be; else null. */
  zone: string | null;
}

/** Rows that wait and may be in one time zone, and when hours let them be called. A row that may be in several is in each of them. */
export interface ClockZone {
  zone: string;
  rows: number;
  /** Minutes after midnight by its clock; null: there is no such zone. */
  wallMinutes: number | null;
  /** Its day, in such minutes, where at least one row may be called; `rows` that may. Ascending and disjoint. */
  today: { from: number; to: number; rows: number }[];
  /** Rows that hours let be called now. */
  open: number;
  /** The first later instant at which hours let one of the others be called; null: all may be now, or none within 45 days. */
  opensAt: number | null;
  /** When the first of those that may be called now no longer may; null: none may now, or nothing ends it. */
  closesAt: number | null;
  /** From `ahead.from` to `ahead.to`, in instants: when at least one row may be called, and when the law alone would let it. */
  ahead: { open: Stretch[]; lawful: Stretch[] };
  /** The same by its own clock; `date` is null where it is today. */
  opensThere: { date: string | null; wallMinutes: number } | null;
  /** What keeps the others; where all may be called, what ends that next. */
  boundBy: HoursBound[];
}

interface Stretch {
  from: number;
  to: number;
}

export interface ClockStrip {
  /** The day that lies ahead: it begins with a full hour before now. */
  ahead: Stretch;
  /** Those with the most rows first. */
  zones: ClockZone[];
  /** Zones that are left out. */
  more: number;
}

const mostZones = 24;
const hourMs = 3_600_000;
/** How much of the day is shown that has passed. */
const behindMs = 4 * hourMs;

/** Waiting rows to which the same hours apply. */
export interface HourKind {
  rows: number;
  window: Omit<WindowInput, 'at'>;
  /** Names of the calendars in `window`, in their order. */
  names: readonly Pick<HoursBound, 'rule' | 'law'>[];
}

/**
 * The hours of the rows that wait, by time zone, as the planner judges them: with the campaign's hours, the law and the holidays. What else
 * may keep a row, such as its own beginning or a frequency cap, is not looked at.
 */
export async function readClockStrip(db: Queries, campaign: Campaign, now: number): Promise<ClockStrip> {
  const kinds = await readHourKinds(db, campaign);
  const startsAt = campaign.state === 'scheduled' ? campaign.rules.startsAt : null;
  const byZone = groupBy(
    kinds.flatMap((kind) => kind.window.zones.map((zone) => ({ zone, kind }))),
    ({ zone }) => zone,
  );
  const counted = [...byZone].map(([zone, entries]) => ({
    zone,
    kinds: entries.map(({ kind }) => kind),
    rows: entries.reduce((sum, { kind }) => sum + kind.rows, 0),
  }));
  const ranked = counted.toSorted((a, b) => b.rows - a.rows || a.zone.localeCompare(b.zone));
  const from = Math.floor(now / hourMs) * hourMs - behindMs;
  const ahead = { from, to: from + 24 * hourMs };
  const zones = ranked.slice(0, mostZones).map((entry) => judgeZone(entry, { now, startsAt, ahead }));
  return { ahead, zones, more: Math.max(0, ranked.length - mostZones) };
}

export async function readHourKinds(db: Queries, { campaignId, rules }: Campaign): Promise<HourKind[]> {
  const hours = sqlLaterTerm(db, 'hours');
  const groups = await db
    .selectFrom('recipients')
    .select((eb) => ['zones', 'country', 'regions', hours.as('hours'), eb.fn.countAll<number>().as('rows')])
    .where('campaign_id', '=', campaignId)
    .where('state', '=', 'waiting')
    .groupBy(['zones', 'country', 'regions', hours])
    .execute();
  const kinds = new Map<string, HourKind>();
  for (const group of groups) {
    const laws = lawFor(rules, placeOf(group));
    const key = `${group.zones} ${laws.map(({ id }) => id).join()} ${group.hours}`;
    const known = kinds.get(key);
    if (known !== undefined) {
      known.rows += group.rows;
      continue;
    }
    // The campaign's, the law's, and then the row's.
    const calendars = calendarsFor(rules, { ...placeOf(group), hours: group.hours });
    const named = [{ rule: 'campaign', law: null } as const, ...laws.map(({ id }) => ({ rule: 'law', law: id }) as const)];
    const names = [...named, { rule: 'row', law: null } as const];
    const zones = JSON.parse(group.zones) as string[];
    const window = { calendars, zones, marginMs: rules.timing.dispatchMarginMs, endsAt: rules.endsAt };
    kinds.set(key, { rows: group.rows, window, names });
  }
  return [...kinds.values()];
}

function judgeZone(
  { zone, kinds, rows }: { zone: string; kinds: readonly HourKind[]; rows: number },
  { now, startsAt, ahead }: { now: number; startsAt: number | null; ahead: Stretch },
): ClockZone {
  const day = localDay(now, zone);
  const from = Math.max(now, startsAt ?? now);
  const looks = kinds.map((kind) => {
    const then = windowAt({ ...kind.window, at: from });
    const isOpen = from === now && then.open;
    const opensAt = isOpen ? null : then.open ? from : then.opensAt;
    return { kind, isOpen, opensAt, closesAt: isOpen ? then.closesAt : null };
  });
  const closed = looks.filter(({ isOpen }) => !isOpen);
  const [closing] = nextClosings(looks);
  const bounds =
    closed.length > 0
      ? closed.flatMap(({ kind }) => (from > now ? [starts] : boundsAt(kind, zone, now)))
      : nextClosings(looks).flatMap(({ kind, closesAt }) => boundsAt(kind, zone, closesAt - kind.window.marginMs));
  const openings = closed.flatMap(({ opensAt }) => (opensAt === null ? [] : [opensAt]));
  const opensAt = openings.length === 0 ? null : Math.min(...openings);
  return {
    zone,
    rows,
    wallMinutes: day === null ? null : wallMinutes(now, zone),
    today: day === null ? [] : windowsOf(kinds, zone, { ...day, from: Math.max(day.from, startsAt ?? day.from) }),
    open: looks.reduce((sum, { kind, isOpen }) => sum + (isOpen ? kind.rows : 0), 0),
    opensAt,
    closesAt: closing === undefined ? null : closing.closesAt - closing.kind.window.marginMs,
    ahead: {
      open: joined(kinds.flatMap(({ window }) => openStretches(window, { ...ahead, from: Math.max(ahead.from, startsAt ?? ahead.from) }))),
      // All but the hours of the campaign.
      lawful: joined(kinds.flatMap(({ window }) => openStretches({ ...window, calendars: window.calendars.slice(1) }, ahead))),
    },
    opensThere: opensAt === null || day === null ? null : thereAt(opensAt, zone, day),
    boundBy: [...new Map(bounds.map((bound) => [JSON.stringify(bound), bound])).values()],
  };
}

/** Stretches that overlap or touch become one. */
function joined(stretches: readonly Stretch[]): Stretch[] {
  const found: Stretch[] = [];
  for (const { from, to } of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

function thereAt(at: number, zone: string, today: LocalDay): ClockZone['opensThere'] {
  const date = localTime(at, zone)?.date ?? null;
  return { date: date === today.date ? null : date, wallMinutes: wallMinutes(at, zone) };
}

const starts: HoursBound = { rule: 'starts', law: null, holiday: false, zone: null };

function nextClosings(looks: readonly { kind: HourKind; closesAt: number | null }[]): { kind: HourKind; closesAt: number }[] {
  const known = looks.flatMap(({ kind, closesAt }) => (closesAt === null ? [] : [{ kind, closesAt }]));
  const first = Math.min(...known.map(({ closesAt }) => closesAt));
  return known.filter(({ closesAt }) => closesAt === first);
}

/** Which calendars let no call of these rows begin at an instant at which none may; those of this zone before those of another. */
function boundsAt({ window, names }: HourKind, zone: string, at: number): HoursBound[] {
  const { calendars, zones, marginMs, endsAt } = window;
  const plain = { law: null, holiday: false, zone: null };
  if (endsAt !== null && at + marginMs >= endsAt) return [{ ...plain, rule: 'ends' }];
  const boundsIn = (place: string): HoursBound[] =>
    calendars.flatMap((calendar, index) => {
      const state = windowAt({ calendars: [calendar], zones: [place], at, marginMs, endsAt: null });
      const name = names[index];
      if (state.open || name === undefined) return [];
      if (state.reason === 'unknown_zone') return [{ ...plain, rule: 'unknown_zone', zone: place === zone ? null : place }];
      const holiday = calendar.closedOn.includes(localTime(at, place)?.date ?? '');
      return [{ ...name, holiday, zone: place === zone ? null : place }];
    });
  const here = boundsIn(zone);
  return here.length > 0 ? here : zones.filter((other) => other !== zone).flatMap(boundsIn);
}

/** The stretches of a local day in which rows may be called, cut where their number changes. */
function windowsOf(kinds: readonly HourKind[], zone: string, day: LocalDay): ClockZone['today'] {
  const open = kinds.flatMap(({ rows, window }) => openStretches(window, day).map((stretch) => ({ ...stretch, rows })));
  const cuts = [...new Set(open.flatMap(({ from, to }) => [from, to]))].toSorted((a, b) => a - b);
  const pieces: ClockZone['today'] = [];
  for (const [index, from] of cuts.entries()) {
    const to = cuts[index + 1];
    const rows = open.reduce((sum, part) => sum + (part.from <= from && from < part.to ? part.rows : 0), 0);
    if (to === undefined || rows === 0) continue;
    const begin = wallMinutes(from, zone);
    // The instant at which the day ends is midnight of the next one.
    const end = to >= day.to ? 24 * 60 : wallMinutes(to, zone);
    const last = pieces.at(-1);
    if (last?.to === begin && last.rows === rows) last.to = end;
    else if (begin < end) pieces.push({ from: begin, to: end, rows });
  }
  return pieces;
}

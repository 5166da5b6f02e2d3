import { withAdjustments, type AdjustableRules } from '../../rules/campaign-rules.ts';
import { windowAt, type WindowInput } from '../../rules/hours/calling-window.ts';
import { timeZone } from '../../rules/hours/time-zone.ts';
import { groupBy } from '../../rules/collections.ts';
import { countRows } from '../reads.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';
import { readWaitingGroups } from './waiting.ts';

/** Waiting rows that may be in one zone, and their hours; a row counts in each of its zones. */
export interface ClockZone {
  zone: string;
  isKnown: boolean;
  rows: number;
  /** Rows whose hours are open now. */
  open: number;
  /** When hours open next for one of the other rows; null: all are open, or none opens within 45 days. */
  opensAt: number | null;
  /** When the first open row closes; null: none is open, or none closes. */
  closesAt: number | null;
  /** Instants within `ahead` at which at least one row may be called, and at which the law alone would allow it. */
  ahead: { open: Stretch[]; lawful: Stretch[] };
}

interface Stretch {
  from: number;
  to: number;
}

export interface ClockStrip {
  /** The day shown; it begins with a full hour before now. */
  ahead: Stretch;
  /** Most rows first. */
  zones: ClockZone[];
  /** Zones left out. */
  more: number;
}

const mostZones = 24;
const hourMs = 3_600_000;
/** Past part of the day shown. */
const behindMs = 4 * hourMs;

interface HourKind {
  rows: number;
  window: Omit<WindowInput, 'at'>;
}

/** As the planner evaluates them: campaign hours, law and holidays. Ignores other limits, such as a row's own start or a frequency cap. */
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
  const zones = ranked.slice(0, mostZones).map((entry) => evaluateZone(entry, { now, startsAt, ahead }));
  return { ahead, zones, more: Math.max(0, ranked.length - mostZones) };
}

async function readHourKinds(db: Queries, campaign: Pick<Campaign, 'campaignId' | 'rules'>): Promise<HourKind[]> {
  const { endsAt, timing } = campaign.rules;
  const groups = await readWaitingGroups(db, campaign, null);
  return groups.map(({ count: rows, calendars, zones }) => ({
    rows,
    window: { calendars, zones, marginMs: timing.dispatchMarginMs, endsAt },
  }));
}

function evaluateZone(
  { zone, kinds, rows }: { zone: string; kinds: readonly HourKind[]; rows: number },
  { now, startsAt, ahead }: { now: number; startsAt: number | null; ahead: Stretch },
): ClockZone {
  const from = Math.max(now, startsAt ?? now);
  const states = kinds.map(({ rows: alike, window }) => {
    const then = windowAt({ ...window, at: from });
    if (!then.open) return { open: 0, opensAt: then.opensAt, closesAt: null };
    if (from > now) return { open: 0, opensAt: from, closesAt: null };
    return { open: alike, opensAt: null, closesAt: then.closesAt === null ? null : then.closesAt - window.marginMs };
  });
  const windows = kinds.map(({ window }) => window);
  return {
    zone,
    isKnown: timeZone(zone).isValid,
    rows,
    open: states.reduce((sum, { open }) => sum + open, 0),
    opensAt: firstOf(states.map(({ opensAt }) => opensAt)),
    closesAt: firstOf(states.map(({ closesAt }) => closesAt)),
    ahead: {
      open: joined(windows.flatMap((window) => openStretches(window, { ...ahead, from: Math.max(ahead.from, startsAt ?? ahead.from) }))),
      // Without the campaign's hours, which come first.
      lawful: joined(windows.flatMap((window) => openStretches({ ...window, calendars: window.calendars.slice(1) }, ahead))),
    },
  };
}

function firstOf(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Instants from `from` to `to` at which `windowAt` lets a call begin. */
function openStretches(input: Omit<WindowInput, 'at'>, { from, to }: Stretch): Stretch[] {
  const stretches: Stretch[] = [];
  for (let at = from; at < to;) {
    const state = windowAt({ ...input, at });
    if (state.open) {
      const until = Math.min(to, state.closesAt === null ? to : state.closesAt - input.marginMs);
      stretches.push({ from: at, to: until });
      at = until;
    } else at = state.opensAt ?? to;
  }
  return stretches;
}

/** Merges overlapping and touching stretches. */
function joined(stretches: readonly Stretch[]): Stretch[] {
  const found: Stretch[] = [];
  for (const { from, to } of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

export interface AdjustEffect {
  waiting: number;
  /** Rows with open hours, before and after the change. */
  openNow: { before: number; after: number };
  /** Rows that the change leaves without hours before the campaign's end, or at all. */
  neverOpen: number;
  /** Rows whose attempts the change uses up: they end as not reached when due. */
  usedUp: number;
}

/** Changes nothing. The cost grows with the waiting rows. */
export async function readAdjustEffect(
  db: Queries,
  { campaignId, rules: known }: Campaign,
  { wish: changes, now }: { wish: Partial<AdjustableRules>; now: number },
): Promise<AdjustEffect> {
  const rules = withAdjustments(known, changes);
  const count = async (held: Campaign['rules']) => {
    const found = { waiting: 0, open: 0, shut: 0 };
    for (const { rows, window } of await readHourKinds(db, { campaignId, rules: held })) {
      const then = windowAt({ ...window, at: now });
      found.waiting += rows;
      if (then.open) found.open += rows;
      else if (then.opensAt === null) found.shut += rows;
    }
    return found;
  };
  const before = await count(known);
  const after = await count(rules);
  const { maxAttempts } = rules.retry;
  const isSame = maxAttempts >= known.retry.maxAttempts || known.retry.resetAfterMs !== null;
  const waiting = db.selectFrom('recipients').where('campaign_id', '=', campaignId).where('state', '=', 'waiting');
  return {
    waiting: before.waiting,
    openNow: { before: before.open, after: after.open },
    neverOpen: Math.max(0, after.shut - before.shut),
    usedUp: isSame ? 0 : await countRows(waiting.where('counted', '>=', maxAttempts)),
  };
}

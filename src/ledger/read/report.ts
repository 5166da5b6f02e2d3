import { localTime, type LocalTime } from '../../rules/hours/local-time.ts';
import { groupBy } from '../../rules/collections.ts';
import { isAnswered } from '../../rules/disposition.ts';
import { calledOutcomes, outcomes } from '../../rules/outcome.ts';
import { goalShare } from '../../rules/talk-results.ts';
import { readAggregates, type Aggregate } from '../aggregates.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { countBy } from '../reads.ts';
import { countUnresolved } from './doubt-counts.ts';
import type { Queries, Store } from '../tx.ts';
import { groupCalls, type CallDimension, type CallGroup } from './call-groups.ts';

export const reportDimensions = [
  'outcome',
  'disposition',
  'result',
  'attempt',
  'hour',
  'week',
  'day',
  'zone',
  'caller',
  'collected',
  'evaluation',
] as const;
export type ReportDimension = (typeof reportDimensions)[number];

export interface CountLine {
  value: string;
  count: number;
  /** Of the whole table, 0 to 1. */
  share: number;
}

export interface CallLine {
  value: string | number;
  calls: number;
  /** Calls without a known end. */
  open: number;
  /** Answered by a human, opt-outs included. */
  answered: number;
  /** Of ended calls, 0 to 1; null: none has ended. */
  answerRate: number | null;
  /** Of calls with a recorded duration; null: none. */
  talkSeconds: number | null;
}

/** In the recipients' local time. */
export interface WeekHour extends Omit<CallLine, 'value'> {
  /** 0 for Monday to 6 for Sunday. */
  weekday: number;
  /** 0 to 23. */
  hour: number;
}

export interface CallerLine extends CallLine {
  days: CallLine[];
}

/** Printed by `carillon report --json`; tables not requested are missing. */
export type Report = Awaited<ReturnType<typeof readReport>>;

const unknownZone = 'unknown';

/** Uses running counts where they exist; else the database groups the calls. */
export async function readReport(store: Store, campaign: Campaign, dimensions: readonly ReportDimension[]) {
  const { campaignId, name, state, rowsTotal, rules } = campaign;
  const aggregates = await readAggregates(store.db, campaignId, ['outcome', 'result', 'collected', 'evaluation']);
  const ended = aggregates.filter((row) => row.kind === 'outcome').reduce((sum, row) => sum + row.count, 0);
  const wants = (dimension: ReportDimension): boolean => dimensions.includes(dimension);
  const callDimensions: CallDimension[] = [
    ...(wants('attempt') ? (['attempt'] as const) : []),
    ...(wants('caller') ? (['caller'] as const) : []),
    ...(wants('zone') ? (['zone'] as const) : []),
    ...((['hour', 'week', 'day', 'caller'] as const).some(wants) ? (['time'] as const) : []),
  ];
  const groups = callDimensions.length > 0 || wants('disposition') ? await groupCalls(store, campaignId, callDimensions) : null;
  const calls = groups ?? [];
  const doubt = wants('outcome') ? linesOf(await countUnresolved(store.db, campaignId)) : [];
  const unreached = wants('outcome') ? linesOf(await countUnreached(store.db, campaignId)) : [];
  return {
    campaignId,
    name,
    state,
    rows: { total: rowsTotal, ended },
    /** All calls; null: no table of calls requested. */
    calls: groups === null ? null : sumUp(groups),
    ...(wants('outcome') ? { outcome: outcomeLines(aggregates, rowsTotal) } : {}),
    /** Unresolved rows by cause; beside the outcomes, if any. */
    ...(doubt.length > 0 ? { doubt } : {}),
    /** Exhausted rows by reason; beside the outcomes, if any. */
    ...(unreached.length > 0 ? { unreached } : {}),
    ...(wants('disposition') ? { disposition: mostFirst(divide(calls, (group) => group.disposition ?? 'open')) } : {}),
    ...(wants('result') && rules.results !== undefined ? await resultTables(store, campaign, aggregates) : {}),
    ...(wants('attempt') ? { attempt: inOrder(divide(calls, (group) => group.attempt ?? 0)) } : {}),
    /** Local time of the first possible zone; hours without a call are left out. */
    ...(wants('hour') ? { hour: inOrder(divide(calls, hourOf)) } : {}),
    /** Hours of the week with a call; recipients without a known zone are left out. */
    ...(wants('week') ? { week: weekOf(calls) } : {}),
    /** By the recipient's local date. */
    ...(wants('day') ? { day: byDay(calls) } : {}),
    ...(wants('zone') ? { zone: mostFirst(divide(calls, zoneOf)) } : {}),
    ...(wants('caller') ? { caller: callerLines(calls) } : {}),
    /** Per collected value and evaluation, most frequent first. */
    ...(wants('collected') ? { collected: valueTables(aggregates, 'collected') } : {}),
    ...(wants('evaluation') ? { evaluation: valueTables(aggregates, 'evaluation') } : {}),
  };
}

function zoneOf({ zones }: CallGroup): string {
  return zones === null || zones.length === 0 ? unknownZone : zones.join(' or ');
}

function timeOf({ zones, quarterAt }: CallGroup): LocalTime | null {
  const zone = zones?.[0];
  return zone === undefined || quarterAt === null ? null : localTime(quarterAt, zone);
}

function hourOf(group: CallGroup): number | string {
  return timeOf(group)?.hour ?? unknownZone;
}

function byDay(groups: readonly CallGroup[]): CallLine[] {
  const lines = divide(groups, (group) => timeOf(group)?.date ?? unknownZone);
  return lines.toSorted((a, b) => String(a.value).localeCompare(String(b.value)));
}

function weekOf(groups: readonly CallGroup[]): WeekHour[] {
  const known = groups.flatMap((group) => {
    const time = timeOf(group);
    return time === null ? [] : [{ group, slot: time.weekday * 24 + time.hour }];
  });
  return [...groupBy(known, ({ slot }) => slot)]
    .toSorted(([a], [b]) => a - b)
    .map(([slot, own]) => ({
      weekday: Math.floor(slot / 24),
      hour: slot % 24,
      ...sumUp(own.map(({ group }) => group)),
    }));
}

function callerLines(groups: readonly CallGroup[]): CallerLine[] {
  return [...groupBy(groups, ({ caller }) => caller ?? '')]
    .map(([value, own]) => ({ value, ...sumUp(own), days: byDay(own) }))
    .toSorted((a, b) => b.calls - a.calls || a.value.localeCompare(b.value));
}

function divide(groups: readonly CallGroup[], valueOf: (group: CallGroup) => string | number): CallLine[] {
  return [...groupBy(groups, valueOf)].map(([value, own]) => ({ value, ...sumUp(own) }));
}

function sumUp(groups: readonly CallGroup[]): Omit<CallLine, 'value'> {
  const sum = (of: (group: CallGroup) => number): number => groups.reduce((total, group) => total + of(group), 0);
  const calls = sum((group) => group.calls);
  const open = sum((group) => (group.disposition === null ? group.calls : 0));
  const answered = sum((group) => (isAnswered(group.disposition) ? group.calls : 0));
  const timed = sum((group) => group.timedCalls);
  return {
    calls,
    open,
    answered,
    answerRate: calls === open ? null : rounded(answered / (calls - open)),
    talkSeconds: timed === 0 ? null : Math.round(sum((group) => group.talkMs) / 1000),
  };
}

/** By number; `unknown` last. */
function inOrder(lines: readonly CallLine[]): CallLine[] {
  const rank = ({ value }: CallLine): number => (typeof value === 'number' ? value : Infinity);
  return lines.toSorted((a, b) => rank(a) - rank(b));
}

function mostFirst(lines: readonly CallLine[]): CallLine[] {
  return lines.toSorted((a, b) => b.calls - a.calls || String(a.value).localeCompare(String(b.value)));
}

function outcomeLines(aggregates: readonly Aggregate[], total: number): CountLine[] {
  const counts = new Map(aggregates.filter((row) => row.kind === 'outcome').map((row) => [row.value, row.count]));
  const ended = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const lines = outcomes.map((value) => ({ value, count: counts.get(value) ?? 0 }));
  return withShares([...lines, { value: 'in_progress', count: total - ended }].filter(({ count }) => count > 0));
}

/** Shares that reached the goal: of talks, and of called recipients with an outcome. */
async function resultTables(store: Store, { campaignId, rules }: Campaign, aggregates: readonly Aggregate[]) {
  const talks = aggregates.filter((row) => row.kind === 'result');
  const ofCampaign = store.db.selectFrom('recipients').where('campaign_id', '=', campaignId);
  const rows = await countBy(ofCampaign.where('result', 'is not', null), 'result');
  const called = aggregates.filter((row) => row.kind === 'outcome' && (calledOutcomes as readonly string[]).includes(row.value));
  const people = called.reduce((sum, row) => sum + row.count, 0);
  const ofTalks = goalShare(rules.results, Object.fromEntries(talks.map(({ value, count }) => [value, count])));
  const ofPeople = goalShare(rules.results, rows, people);
  return { result: byCount(withShares(talks)), goal: ofTalks === null || ofPeople === null ? null : { talks: ofTalks, people: ofPeople } };
}

/** By reason: attempts used up, or no retry after such a call. */
export function countUnreached(db: Queries, campaignId: string): Promise<Record<string, number>> {
  return countBy(db.selectFrom('recipients').where('campaign_id', '=', campaignId).where('outcome', '=', 'exhausted'), 'reason');
}

function linesOf(counts: Readonly<Record<string, number>>): CountLine[] {
  return byCount(withShares(Object.entries(counts).map(([value, count]) => ({ value, count }))));
}

function valueTables(aggregates: readonly Aggregate[], kind: 'collected' | 'evaluation'): Record<string, CountLine[]> {
  const own = aggregates.filter((row) => row.kind === kind);
  const keys = [...new Set(own.map((row) => row.key))].sort();
  return Object.fromEntries(keys.map((key) => [key, byCount(withShares(own.filter((row) => row.key === key)))]));
}

function withShares(lines: readonly Omit<CountLine, 'share'>[]): CountLine[] {
  const all = lines.reduce((sum, { count }) => sum + count, 0);
  return lines.map(({ value, count }) => ({ value, count, share: rounded(count / all) }));
}

function byCount(lines: readonly CountLine[]): CountLine[] {
  return lines.toSorted((a, b) => b.count - a.count || a.value.localeCompare(b.value));
}

function rounded(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}

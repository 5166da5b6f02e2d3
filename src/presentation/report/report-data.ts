import { type CampaignReport, readCampaignReport } from '../../ledger/read/campaign-report.ts';
import { type CampaignRow, readCampaignRows } from '../../ledger/read/campaign-rows.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { verifyLog, type VerifyOptions } from '../../verify/log.ts';
import type { Store } from '../../ledger/tx.ts';

/** Instants are service time. */
export interface ReportData {
  madeAt: number;
  campaigns: readonly CampaignReport[];
  proof: Proof | null;
  people: readonly People[] | null;
}

export type Proof = Awaited<ReturnType<typeof proveCampaigns>>;

export interface People {
  campaignId: string;
  rows: readonly CampaignRow[];
  more: number;
}

/** Limits on unbounded tables, so that a report stays one small file. */
export interface Detail {
  /** Most values of a collected value or evaluation, and most of those. */
  values: number;
  tables: number;
  /** Most lines of tables by zone, caller number and day. */
  lines: number;
  people: number;
  violations: number;
}

/** Most detailed first. */
export const details = [
  { values: 50, tables: 40, lines: 120, people: 500, violations: 50 },
  { values: 20, tables: 20, lines: 60, people: 200, violations: 20 },
  { values: 10, tables: 12, lines: 31, people: 100, violations: 20 },
  { values: 5, tables: 6, lines: 14, people: 50, violations: 10 },
] as const satisfies readonly Detail[];

/** Omitted lines by table name: `collected.confirmed`, `zone`. */
export type LeftOut = Record<string, number>;

/** A campaign cut to the report's limits; `leftOut` only if lines were omitted. */
export type ReportedCampaign = CampaignReport & { leftOut?: LeftOut };

/** Keeps the most frequent values, the busiest numbers and the last days. */
export function cut(data: ReportData, detail: Detail): ReportData & { campaigns: ReportedCampaign[] } {
  const { proof, people } = data;
  return {
    ...data,
    campaigns: data.campaigns.map((campaign) => cutCampaign(campaign, detail)),
    proof: proof === null ? null : { ...proof, violations: proof.violations.slice(0, detail.violations) },
    people: people?.map((own) => cutPeople(own, Math.ceil(detail.people / data.campaigns.length))) ?? null,
  };
}

function cutPeople({ campaignId, rows, more }: People, most: number): People {
  return { campaignId, rows: rows.slice(0, most), more: more + Math.max(0, rows.length - most) };
}

export function cutCampaign(campaign: CampaignReport, { values, tables, lines }: Detail): ReportedCampaign {
  const leftOut: LeftOut = {};
  const first = <Line>(name: string, all: readonly Line[], most: number): Line[] => {
    if (all.length > most) leftOut[name] = all.length - most;
    return all.slice(0, most);
  };
  const last = <Line>(name: string, all: readonly Line[]): Line[] => {
    if (all.length > lines) leftOut[name] = all.length - lines;
    return all.slice(-lines);
  };
  const valueTables = (name: 'collected' | 'evaluation') => {
    const own = first(name, Object.entries(campaign[name] ?? {}), tables);
    return Object.fromEntries(own.map(([key, counts]) => [key, first(`${name}.${key}`, counts, values)]));
  };
  const callers = first('caller', campaign.caller ?? [], Math.ceil(lines / 4));
  const daysEach = Math.max(1, Math.floor(lines / Math.max(1, callers.length)));
  const shown: ReportedCampaign = {
    ...campaign,
    attempt: first('attempt', campaign.attempt ?? [], lines),
    day: last('day', campaign.day ?? []),
    zone: first('zone', campaign.zone ?? [], lines),
    caller: callers.map((line) => {
      if (line.days.length > daysEach) leftOut[`caller.${String(line.value)}.days`] = line.days.length - daysEach;
      return { ...line, days: line.days.slice(-daysEach) };
    }),
    collected: valueTables('collected'),
    evaluation: valueTables('evaluation'),
    ...(campaign.doubt === undefined ? {} : { doubt: first('doubt', campaign.doubt, values) }),
  };
  return Object.keys(leftOut).length === 0 ? shown : { ...shown, leftOut };
}

interface ReadReportInput {
  campaigns: readonly Campaign[];
  now: number;
  people: boolean;
  verify: VerifyOptions;
}

/** Reads all report data and verifies the campaigns. Read-only. */
export async function readReportData(store: Store, input: ReadReportInput): Promise<ReportData> {
  const { campaigns, now, people, verify } = input;
  const reports = [];
  for (const campaign of campaigns) reports.push(await readCampaignReport(store, campaign, now));
  const named: People[] = [];
  if (people) for (const campaign of campaigns) named.push(await readPeople(store, campaign, now));
  return {
    madeAt: now,
    campaigns: reports,
    proof: await proveCampaigns(store, { ids: campaigns.map(({ campaignId }) => campaignId), now, verify }),
    people: people ? named : null,
  };
}

const mostPeople = Math.max(...details.map((detail) => detail.people));

async function readPeople(store: Store, { campaignId, rowsTotal }: Campaign, now: number): Promise<People> {
  const rows = await readCampaignRows(store.db, campaignId, { limit: mostPeople }, now);
  return { campaignId, rows, more: Math.max(0, rowsTotal - rows.length) };
}

/** Runs the checks of `carillon verify` on the campaigns; reads the whole log. */
export async function proveCampaigns(store: Store, { ids, now, verify }: { ids: readonly string[]; now: number; verify: VerifyOptions }) {
  const only = ids.length === 1 ? (ids[0] ?? null) : null;
  const { rules, events, calls, notes } = await verifyLog(store.db, only, verify);
  const violations = rules
    .flatMap(({ promise, violations }) => violations.map((violation) => ({ ...violation, promise })))
    .filter(({ campaignId }) => ids.includes(campaignId))
    .map(({ campaignId, promise, at, what }) => ({ campaignId, promise, at, what }));
  const found = violations.length;
  /** `events`, `calls`: verified log lines and calls; `checks`: verified rules. */
  return { judgedAt: now, ok: found === 0, events, calls, checks: rules.length, found, violations, notes };
}

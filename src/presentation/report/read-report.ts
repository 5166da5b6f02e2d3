import { readCampaignReport } from '../../ledger/read/campaign-report.ts';
import { readCampaignRows } from '../../ledger/read/campaign-rows.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { verifyLog, type VerifyOptions } from '../../verify/log.ts';
import { details, type People, type Proof, type ReportData } from './report-data.ts';

export interface ReadReportInput {
  campaigns: readonly Campaign[];
  /** Service time. */
  now: number;
  /** Whether the rows of the lists are read, too. */
  people: boolean;
  /** As for `verifyLog`. */
  verify: VerifyOptions;
}

/** Reads everything that a report tells, and has the judge of `carillon verify` look at the campaigns. Changes nothing. */
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

/** Has the judge of `carillon verify` look at the campaigns; it reads the whole log. */
export async function proveCampaigns(
  store: Store,
  { ids, now, verify }: { ids: readonly string[]; now: number; verify: VerifyOptions },
): Promise<Proof> {
  const only = ids.length === 1 ? (ids[0] ?? null) : null;
  const { rules, events, calls, notes } = await verifyLog(store.db, only, verify);
  const violations = rules
    .flatMap(({ promise, violations }) => violations.map((violation) => ({ ...violation, promise })))
    .filter(({ campaignId }) => ids.includes(campaignId))
    .map(({ campaignId, promise, at, what }) => ({ campaignId, promise, at, what }));
  const found = violations.length;
  return { judgedAt: now, ok: found === 0, events, calls, checks: rules.length, found, violations, notes };
}

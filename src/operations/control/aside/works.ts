import type { ServiceApi } from '../../../rules/service-api.ts';
import { readCampaignReport } from '../../../ledger/read/campaign-report.ts';
import { readTalkTotal } from '../../../ledger/read/call-groups.ts';
import { readClockStrip } from '../../../ledger/read/clock-strip.ts';
import { lastChange, readResults, type ResultFilter } from '../../../ledger/read/result-rows.ts';
import { readCampaignTimeline } from '../../../ledger/read/timeline.ts';
import { readWaiting } from '../../../ledger/read/waiting.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import type { BundleRequest, ConversationFile } from '../../../presentation/evidence/bundle.ts';
import type { renderResults } from '../../../presentation/results/file.ts';
import type { Store } from '../../../ledger/tx.ts';

export interface FileImport {
  path: string;
  accountId: string;
  api: ServiceApi;
  now: number;
  allowPartial: boolean;
}

/** Reads whole lists beside a server's other work. Plain data in and out; modules beyond the ledger load on demand. */
export const works = {
  forecast: async ({ db }: Store, campaign: Campaign, now: number) => (await import('./forecast.ts')).readForecast(db, campaign, now),
  waiting: async ({ db }: Store, campaign: Pick<Campaign, 'campaignId'>, now: number) => readWaiting(db, campaign, now),
  hours: async ({ db }: Store, campaign: Campaign, now: number) => readClockStrip(db, campaign, now),
  course: async ({ db }: Store, campaign: Campaign, now: number) => readCampaignTimeline(db, campaign, now),
  talk: async ({ db }: Store, { campaignId }: Pick<Campaign, 'campaignId'>) => readTalkTotal(db, campaignId),
  lastChange: async ({ db }: Store, { campaignId }: Pick<Campaign, 'campaignId'>) => lastChange(db, campaignId),
  report: async (store: Store, campaign: Campaign, now: number) => readCampaignReport(store, campaign, now),
  htmlReport: async (store: Store, request: { campaigns: readonly Campaign[]; now: number; people: boolean }) => {
    const { readReportData } = await import('../../../presentation/report/report-data.ts');
    const { renderHtmlReport } = await import('../../../presentation/report/html-report.ts');
    return renderHtmlReport(await readReportData(store, { ...request, verify: {} }));
  },
  evidence: async (store: Store, request: BundleRequest, conversations: readonly ConversationFile[]) => {
    const { makeBundle } = await import('../../../presentation/evidence/bundle.ts');
    return makeBundle(store, request, { conversations });
  },
  importFile: async (store: Store, { path, ...input }: FileImport) => {
    const { readCampaignFile } = await import('../../../campaign/file/file.ts');
    const { importList, readCampaign } = await import('../../../campaign/preflight/import-list.ts');
    return importList({ store, read: await readCampaign(await readCampaignFile(path), input.now), ...input });
  },
};

export const streams = {
  results: async function* ({ db }: Store, campaignId: string, filter: ResultFilter, table: Parameters<typeof renderResults>[1]) {
    const { renderResults: render } = await import('../../../presentation/results/file.ts');
    yield* render(readResults(db, campaignId, filter), table);
  },
};

type Works = typeof works;
type Streams = typeof streams;
type Told<Work> = Work extends (store: Store, ...ArgsOf: infer Args) => unknown ? Args : never;

/** Runs background work. Errors keep name, message and facts, but may lose their class. */
export interface Background {
  /** Reads for display: one after the other. */
  read<Name extends keyof Works>(name: Name, ...args: Told<Works[Name]>): ReturnType<Works[Name]>;
  /** Long work, parallel to reads. */
  work<Name extends keyof Works>(name: Name, ...args: Told<Works[Name]>): ReturnType<Works[Name]>;
  /** Advances only as the pieces are consumed. */
  stream<Name extends keyof Streams>(name: Name, ...args: Told<Streams[Name]>): ReturnType<Streams[Name]>;
  /** Waits for pending answers. */
  close(): Promise<void>;
}

/** Runs in this thread, for a process without other callers. */
export function backgroundInPlace(store: Store): Background {
  const run = <Name extends keyof Works>(name: Name, ...args: Told<Works[Name]>) =>
    (works[name] as (store: Store, ...args: unknown[]) => unknown)(store, ...args) as ReturnType<Works[Name]>;
  return {
    read: run,
    work: run,
    stream: (name, ...args) => (streams[name] as (store: Store, ...args: unknown[]) => ReturnType<Streams[typeof name]>)(store, ...args),
    close: async () => {},
  };
}

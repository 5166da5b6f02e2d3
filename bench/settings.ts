import type { ServiceApi } from '../src/rules/service-api.ts';

/** What the campaign bench runs; both programs and the sandbox get the same. */
export interface CampaignSettings {
  /** By which the service is asked. */
  api: ServiceApi;
  dialect: 'extended' | 'spec';
  recipients: number;
  openCalls: number;
  speed: number;
  seed: string;
  meanTalkSeconds: number;
  /** Service seconds between two looks at the list. */
  pollSeconds: number;
  batchSize: number;
  refillThreshold: number;
  /** Entries per page of the list; the sweep of the product has the same. */
  pageSize: number;
  /** Detail reads at once; the sweep of the product has the same. */
  readsAtOnce: number;
  /** Per real second, list pages included. */
  readsPerSecond: number;
  /** Per real second; the script sends as it likes. */
  submitsPerSecond: number;
}

export const campaignDefaults: CampaignSettings = {
  api: 'contract',
  dialect: 'extended',
  recipients: 4_000,
  openCalls: 200,
  speed: 5,
  seed: 'bench',
  meanTalkSeconds: 60,
  pollSeconds: 8,
  batchSize: 20,
  refillThreshold: 10,
  pageSize: 100,
  readsAtOnce: 8,
  readsPerSecond: 100,
  submitsPerSecond: 5,
};

/** More than anybody reaches. */
export const unthrottled = { readsPerSecond: 100_000, submitsPerSecond: 100_000 };

export const importRows = 1_000_000;

/** Waiting recipients from which a batch is planned. */
export const planningRows = { few: 10_000, many: 1_000_000 };

/** Campaigns at once on one worker, each with 20 lines. */
export const manyCampaigns = { campaigns: 50, recipients: 60, openCalls: 20, speed: 2 };

/** Leads that are added one by one, at the pace of people. */
export const leads = { recipients: 60, speed: 1, meanTalkSeconds: 10 };

export const rehearsalRows = 2_000;

/** Of the campaign that the console is asked for, and of the list that is imported meanwhile. */
export const consoleRows = 100_000;

/** What the sandbox bench runs. */
export interface SandboxBenchSettings {
  /** Simulated on the scaled clock, and stored while memory and reads are measured. */
  calls: number;
  lines: number;
  speed: number;
  /** How often the program is started. */
  starts: number;
  /** For which each rate of requests is measured. */
  seconds: number;
  callsPerPost: number;
}

export const sandboxDefaults: SandboxBenchSettings = {
  calls: 100_000,
  lines: 2_000,
  speed: 600,
  starts: 5,
  seconds: 5,
  callsPerPost: 100,
};

export const targets = {
  wallRatio: 1.1,
  busyShare: 0.9,
  actionsPerRecipient: 0.3,
  readsPerCall: 1.3,
  /** Where the service reports each recipient: submits, reports, records and lists together. */
  requestsPerRecipient: 1.7,
  reportingWallRatio: 1.15,
  eventsPerRun: 4_096,
  importPeakMb: 300,
  callsPerMinute: 100_000,
  sandboxMb: 400,
  sandboxStartMs: 1_000,
  rehearsalMinutes: 10,
  planningMs: 50,
  planningGrowth: 1.5,
  importRowsPerSecond: 20_000,
  importRatio: 5,
  firstByteMs: 200,
  consolePeakMb: 300,
  openPagesRatio: 1.03,
  waitForOthersSeconds: 2,
  leadSeconds: 5,
} as const;

/** What a bench process is handed on its command line. */
export interface ProgramInput {
  settings: CampaignSettings;
  /** Campaign file; its list lies beside it. */
  campaignPath: string;
  sandboxUrl: string;
}

export interface ProgramResult {
  /** From the moment at which recipients could be dialled until every result was stored. */
  wallMs: number;
  /** Processor time of the program's own process in that time. */
  cpuMs: number;
}

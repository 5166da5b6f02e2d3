import type { Control } from '../control/control.ts';
import type { ServiceClock } from '../../service/port/service-clock.ts';
import { readCampaignRows, type CampaignRow } from '../../ledger/read/campaign-rows.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { Queries } from '../../ledger/tx.ts';
import { printable } from '../../shared/input/printable.ts';
import type { OperationId, Answer, Taken } from '../list.ts';
import { ProblemError } from './problem.ts';

export interface RunEnvironment extends Control {
  /** Falls back to this machine's clock while the service does not answer. */
  clock: () => Promise<ServiceClock>;
  /** Speeds up the sandbox unless a speed was chosen. Default: no sandbox. */
  quickenSandbox?: () => void;
}

/** Service time, whole ms. */
export async function serviceNow({ clock }: Pick<RunEnvironment, 'clock'>): Promise<number> {
  return Math.round((await clock()).now());
}

/** Throws ProblemError for an unknown row. */
export async function readRow(
  db: Queries,
  { campaignId, row, now }: { campaignId: string; row: string; now: number },
): Promise<CampaignRow & { cells: string }> {
  const [found] = /^\d{1,9}$/.test(row) ? await readCampaignRows(db, campaignId, { rows: [Number(row)], cells: true }, now) : [];
  if (found === undefined) throw new ProblemError(404, 'unknown_row', `Campaign ${campaignId} has no row ${printable(row).slice(0, 40)}.`);
  return { cells: '[]', ...found };
}

export interface RunContext extends RunEnvironment {
  /** Name of the token, or the command line's. */
  by: string;
  /** `person` at the command line, else `person:` and the name. */
  source: string;
  /** The same id each time a request is repeated. */
  onceId: string;
  /** Called after the commit, before the workflow is notified. */
  onCommitted?: (campaign: Campaign) => void;
  /** Receives the count of service entries read. */
  onProgress?: (entries: number) => void;
}

interface Told<Id extends OperationId, Own> {
  /** Name in the log, where it depends on the input. */
  actionOf?: (input: Taken<Id>) => string;
  /** What is stored for replays; omitted: all. Must leave out secrets. */
  kept?: (answer: Own) => Answer<Id>;
}

export interface Done<Id extends OperationId, Own = Answer<Id>> extends Told<Id, Own> {
  /** Campaign whose log records it. Default: the input's, else all (`account`). */
  log?: (context: RunContext, input: Taken<Id>) => string | Promise<string>;
  /** Error names tell API and command line how to respond. */
  run: (context: RunContext, input: Taken<Id>) => Promise<Own>;
  prepare?: undefined;
}

interface Prepared<Id extends OperationId, Own> extends Told<Id, Own> {
  /** Validates and finds the log; only `run` changes anything. */
  prepare: (context: RunContext, input: Taken<Id>) => Promise<{ log: string; run: () => Promise<Own> }>;
}

export type Run<Id extends OperationId, Own = Answer<Id>> = Done<Id, Own> | Prepared<Id, Own>;

/** Fields beyond the schema are for commands; the API drops them. */
export const runsOf = <const Runs extends { readonly [Id in OperationId]?: Run<Id> }>(runs: Runs): Runs => runs;

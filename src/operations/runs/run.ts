import type { Control } from '../control/control.ts';
import type { ServiceClock } from '../../service/port/service-clock.ts';
import { readCampaignRows, type CampaignRow } from '../../ledger/read/campaign-rows.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { Queries } from '../../ledger/tx.ts';
import { printable } from '../../shared/input/printable.ts';
import type { OperationId, Answer, Taken } from '../list.ts';
import { ProblemError } from './problem.ts';

/** What operations are carried out with. */
export interface Room extends Control {
  /** The clock of the service, or this machine's while it does not answer. */
  clock: () => Promise<ServiceClock>;
  /** Has days of the sandbox that takes the calls pass in minutes, unless somebody chose a speed. Default: the service is no sandbox. */
  quickenSandbox?: () => void;
}

/** Service time, whole milliseconds. */
export async function serviceNow({ clock }: Pick<Room, 'clock'>): Promise<number> {
  return Math.round((await clock()).now());
}

/** The row that an address names, with its cells. Throws ProblemError where the campaign has none such. */
export async function readRow(
  db: Queries,
  { campaignId, row, now }: { campaignId: string; row: string; now: number },
): Promise<CampaignRow & { cells: string }> {
  const [found] = /^\d{1,9}$/.test(row) ? await readCampaignRows(db, campaignId, { rows: [Number(row)], cells: true }, now) : [];
  if (found === undefined) throw new ProblemError(404, 'unknown_row', `Campaign ${campaignId} has no row ${printable(row).slice(0, 40)}.`);
  return { cells: '[]', ...found };
}

/** What one operation is carried out with, and who hears of it on the way. */
export interface Doing extends Room {
  /** Name of the token in whose name it is done, or the command line's. */
  by: string;
  /** Who that is as the source of what is made: `person` at the command line, else `person:` and the name. */
  source: string;
  /** The same however often a request is sent: an id for what is made by it. */
  onceId: string;
  /** Hears of a change of a campaign as soon as it is committed, before its workflow is told. */
  onCommitted?: (campaign: Campaign) => void;
  /** Told how many entries of the service's lists have been read. */
  onProgress?: (entries: number) => void;
}

interface Told<Id extends OperationId, Own> {
  /** What the log calls the change, where that depends on what was sent. */
  actionOf?: (input: Taken<Id>) => string;
  /** What is kept of an answer for whoever asks again with the same key; left out: all of it. Secrets are kept nowhere. */
  kept?: (answer: Own) => Answer<Id>;
}

export interface Done<Id extends OperationId, Own = Answer<Id>> extends Told<Id, Own> {
  /** The campaign in whose log it stands. Left out: the one that was named, else all (`account`). */
  log?: (doing: Doing, input: Taken<Id>) => string | Promise<string>;
  /** Throws as what it calls; the names of errors say to API and command line what they mean. */
  run: (doing: Doing, input: Taken<Id>) => Promise<Own>;
  prepare?: undefined;
}

interface Prepared<Id extends OperationId, Own> extends Told<Id, Own> {
  /** Reads what was sent, to know in whose log it stands; `run` changes. */
  prepare: (doing: Doing, input: Taken<Id>) => Promise<{ log: string; run: () => Promise<Own> }>;
}

export type Run<Id extends OperationId, Own = Answer<Id>> = Done<Id, Own> | Prepared<Id, Own>;

/** Some operations, each with the types of its own schemas; what one answers besides is for commands, and the API leaves it out. */
export const runsOf = <const Runs extends { readonly [Id in OperationId]?: Run<Id> }>(runs: Runs): Runs => runs;

import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { CampaignRules } from '../../src/rules/campaign-rules.ts';
import type { CallService } from '../../src/service/port/call-service.ts';
import type { FaultRuleInput } from '../../src/sandbox/faults/rule.ts';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import type { RunningSandbox } from '../../src/sandbox/start.ts';
import type { ImportRow } from '../../src/ledger/campaign/row-hash.ts';
import type { EditResult } from '../../src/ledger/people/edit-recipients.ts';
import type { EditRow } from '../../src/ledger/people/edit-verdict.ts';
import type { Store } from '../../src/ledger/tx.ts';
import type { Strike } from './strikes.ts';

/** The input of `Drive`. What is left out does not happen. */
export interface Mix {
  seed: number | string;
  /** By which API the service is asked; the contract's when left out. */
  api?: ServiceApi;
  /** The list's lag as the look-up was proven; left out: never proven. */
  provenLagMs?: number;
  /** Stands before the service, and may not tell the truth. */
  wrapService?: (service: CallService) => CallService;
  sandbox: SandboxOptions;
  campaigns: CampaignPlan[];
  /** Of the service; added when the run begins. */
  faults?: FaultRuleInput[];
  hangs?: Hang[];
  /** Of the processes and their database. */
  strikes?: Strike[];
  /** Batch requests, by nth, during whose work a sweep runs. */
  sweepDuring?: number[];
  /** Every read fails then, in service milliseconds from the beginning. */
  readOutage?: { afterMs: number; forMs: number } | null;
  /** Recipients left to a person are dialled again once. */
  redial?: boolean;
  wrapStore?: (store: Store) => Store;
  /** A PostgreSQL database in place of a SQLite file. */
  databaseUrl?: string;
  /** Per worker: how far its wall clock is off after so many service milliseconds; one right clock when left out. */
  workers?: readonly ((passedMs: number) => number)[];
  /** How long a campaign stays paused, in service time; a few turns of the driver when left out. */
  resumeAfterMs?: number;
  events?: readonly (WorldEvent | TurnEvent)[];
  /** A paused campaign is resumed by an event alone. */
  leavesPaused?: boolean;
  /** So many turns of the driver at most. */
  mostTicks?: number;
  /** Called when all is over, while the service still answers. */
  atEnd?: (sandbox: RunningSandbox) => Promise<void>;
}

export interface CampaignPlan {
  campaignId: string;
  rules: CampaignRules;
  rows: ImportRow[];
}

/** A batch request that the service keeps waiting past the client's patience. */
export interface Hang {
  /** Which batch request, from 1. */
  nth: number;
  /** Whether the calls are queued before the wait or after it. */
  work: 'first' | 'last';
  /** Service milliseconds. */
  forMs: number;
}

export interface WorldEvent {
  /** Service milliseconds after the beginning. */
  afterMs: number;
  happen: (sandbox: RunningSandbox, hands: Hands) => Promise<unknown>;
}

/** One that comes with a turn of the driver, from 1. */
export type TurnEvent = Pick<WorldEvent, 'happen'> & { tick: number };

/** What a person can do to the campaigns, by their place in the mix. */
export interface Hands {
  change: (campaign: number, change: Change) => Promise<void>;
  /** Has another sample called before all others. */
  callSample: (campaign: number) => Promise<void>;
  /** `scope`: default the whole account. */
  suppress: (e164: string, scope?: string) => Promise<void>;
  /** Adds rows by request, as a web form does, by the right clock. */
  add: (campaign: number, rows: readonly EditRow[]) => Promise<EditResult[]>;
}

export type Change = 'pause' | 'resume' | 'cancel' | 'drain';

/** What a person did: to a campaign, or for a number (`suppress`). */
export interface Deed {
  at: number;
  of: string;
  change: Change | 'suppress';
}

import { readConfig, type Config } from '../../shared/config.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { openExistingLedger, requireCampaign, type LedgerAccess } from './ledger.ts';
import { asideInPlace, type Aside } from './aside/works.ts';
import { ReadCache } from './read-cache.ts';
import { connectTemporal } from '../../temporal/connection.ts';
import type { Store } from '../../ledger/tx.ts';

/** Settings, database, clock, and Temporal where it is needed: one for each command, one for a server. */
export interface Control extends LedgerAccess {
  /** Epoch milliseconds of this machine. */
  now(): number;
  /**
   * Temporal, connected at first use, and anew when what was connected no longer answers. The connection is the control's: leave it open.
   * `limitMs`: for connecting; default 10 s. Throws TemporalUnreachableError and ConfigError.
   */
  temporal(limitMs?: number): Promise<TemporalAccess>;
  /** What is costly to read, shared among all who ask this control for it. */
  cache: ReadCache;
  /** For what walks through lists. */
  aside: Aside;
}

export interface OpenCampaign extends Control {
  campaign: Campaign;
}

interface ControlInput extends LedgerAccess {
  now: () => number;
  connect: (limitMs?: number) => Promise<TemporalAccess>;
  /** Default: whoever asks waits for it. */
  aside?: Aside;
}

const answerLimitMs = 1_000;

/** Makes a control over a database that is open; `close` ends its connection to Temporal, and the database stays its owner's. */
export function createControl({
  config,
  store,
  now,
  connect,
  aside = asideInPlace(store),
}: ControlInput): Control & { close(): Promise<void> } {
  let kept: TemporalAccess | null = null;
  const close = async (): Promise<void> => {
    const closing = kept;
    kept = null;
    await closing?.connection.close();
  };
  return {
    config,
    store,
    now,
    cache: new ReadCache(),
    aside,
    close,
    temporal: async (limitMs) => {
      const known = kept;
      // A channel whose server was away for long tries again seldom; a new one tries at once.
      if (known !== null && (await answers(known))) return known;
      if (kept === known) await close();
      const access = await connect(limitMs);
      if (kept === null) return (kept = access);
      // Whoever asked at the same time was quicker.
      const first = kept;
      await access.connection.close();
      return first;
    },
  };
}

async function answers({ connection }: TemporalAccess): Promise<boolean> {
  try {
    await connection.withDeadline(Date.now() + answerLimitMs, () => connection.workflowService.getSystemInfo({}));
    return true;
  } catch {
    return false;
  }
}

export interface Surroundings {
  /** What to give to `readConfig`; undefined for the environment of this process. */
  env: NodeJS.ProcessEnv | undefined;
  /** Epoch milliseconds. */
  now(): number;
}

/** Opens database and control by the settings of `io` for one piece of work, and closes both. Throws what `open` throws. */
export async function withControl<Result>(
  io: Surroundings,
  work: (control: Control) => Promise<Result>,
  open: (config: Config) => Promise<Store> = openExistingLedger,
): Promise<Result> {
  const config = readConfig(io.env);
  const store = await open(config);
  const connect = (limitMs?: number): Promise<TemporalAccess> => openTemporal(io.env, config, limitMs);
  const control = createControl({ config, store, now: () => io.now(), connect });
  try {
    return await work(control);
  } finally {
    await control.close();
    await store.close();
  }
}

/** `withControl` for work on one campaign. Throws UnknownCampaignError, and as `openExistingLedger`. */
export async function withCampaign<Result>(
  io: Surroundings,
  campaignId: string,
  work: (open: OpenCampaign) => Promise<Result>,
): Promise<Result> {
  return withControl(io, async (control) => work({ ...control, campaign: await requireCampaign(control.store, campaignId) }));
}

/** The control's database and Temporal. Throws as `temporal` of the control. */
export async function connected(control: Control, limitMs?: number): Promise<Session> {
  const { config, store } = control;
  return { config, store, temporal: await control.temporal(limitMs) };
}

/**
 * Rehearses a campaign file, beside its list, with a sample of at most so many rows, and answers the report of `carillon rehearse --json`;
 * text: why there is none. `onLine`: told of each line of progress.
 */
export type Rehearse = (ask: {
  path: string;
  rows: number;
  signal: AbortSignal;
  onLine: (line: string) => void;
}) => Promise<object | string>;

/** Thrown when a campaign's state rules out the request; nothing was changed. `remedy`: what helps; the CLI names its command. */
export class WrongStateError extends Error {
  override readonly name = 'WrongStateError' as const;
  readonly isBadInput = true;
  readonly remedy: { kind: string; campaignId: string } | null;

  constructor(message: string, remedy: WrongStateError['remedy'] = null) {
    super(message);
    this.remedy = remedy;
  }
}

export type TemporalAccess = Awaited<ReturnType<typeof connectTemporal>>;

/** A database, and the Temporal that runs its campaigns. */
export interface Session extends LedgerAccess {
  temporal: TemporalAccess;
}

/** A connection by these settings; `env` undefined: this process's own. Throws TemporalUnreachableError and ConfigError. */
export function openTemporal(env: NodeJS.ProcessEnv | undefined, config: Config, timeoutMs = 10_000): Promise<TemporalAccess> {
  return connectTemporal(config, { timeoutMs, ...(env === undefined ? {} : { env: definedOnly(env) }) });
}

export function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

import { readConfig, type Config } from '../../shared/config.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { openExistingLedger, requireCampaign, type LedgerAccess } from './ledger.ts';
import { backgroundInPlace, type Background } from './aside/works.ts';
import { ReadCache } from './read-cache.ts';
import { connectTemporal } from '../../temporal/connection.ts';
import type { Store } from '../../ledger/tx.ts';

/** Settings, database, clock and Temporal: one per command or server. */
export interface Control extends LedgerAccess {
  /** Epoch ms. */
  now(): number;
  /**
   * Connects at first use, and again when Temporal no longer answers. The control owns the connection: leave it open. `limitMs`: time to
   * connect, default 10 s. Throws TemporalUnreachableError and ConfigError.
   */
  temporal(limitMs?: number): Promise<TemporalAccess>;
  /** Shared among all callers of this control. */
  cache: ReadCache;
  /** For work over whole lists. */
  aside: Background;
}

export interface OpenCampaign extends Control {
  campaign: Campaign;
}

interface ControlInput extends LedgerAccess {
  now: () => number;
  connect: (limitMs?: number) => Promise<TemporalAccess>;
  /** Default: runs in the caller's thread. */
  aside?: Background;
}

const answerLimitMs = 1_000;

/** Makes a control over an open database; `close` ends only its connection to Temporal. */
export function createControl({
  config,
  store,
  now,
  connect,
  aside = backgroundInPlace(store),
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
      // A channel whose server was long away retries seldom.
      if (known !== null && (await answers(known))) return known;
      if (kept === known) await close();
      const access = await connect(limitMs);
      if (kept === null) return (kept = access);
      // A concurrent caller connected first.
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
  /** For `readConfig`; undefined: this process's own. */
  env: NodeJS.ProcessEnv | undefined;
  /** Epoch ms. */
  now(): number;
}

/** Opens database and control by the settings of `io` for one piece of work. Throws what `open` throws. */
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

/** `withControl` for one campaign. Throws UnknownCampaignError, and as `openExistingLedger`. */
export async function withCampaign<Result>(
  io: Surroundings,
  campaignId: string,
  work: (open: OpenCampaign) => Promise<Result>,
): Promise<Result> {
  return withControl(io, async (control) => work({ ...control, campaign: await requireCampaign(control.store, campaignId) }));
}

/** Throws as the control's `temporal`. */
export async function connected(control: Control, limitMs?: number): Promise<Session> {
  const { config, store } = control;
  return { config, store, temporal: await control.temporal(limitMs) };
}

/**
 * Rehearses a campaign file and its list with a sample of limited size; answers the report of `carillon rehearse --json`, or a text why
 * there is none. `onLine`: receives progress lines.
 */
export type Rehearse = (ask: {
  path: string;
  rows: number;
  signal: AbortSignal;
  onLine: (line: string) => void;
}) => Promise<object | string>;

/** Thrown when a campaign's state rules out the request; nothing was changed. `remedy`: the CLI names its command. */
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

export interface Session extends LedgerAccess {
  temporal: TemporalAccess;
}

/** `env` undefined: this process's own. Throws TemporalUnreachableError and ConfigError. */
export function openTemporal(env: NodeJS.ProcessEnv | undefined, config: Config, timeoutMs = 10_000): Promise<TemporalAccess> {
  return connectTemporal(config, { timeoutMs, ...(env === undefined ? {} : { env: definedOnly(env) }) });
}

export function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

import { openExistingLedger } from '../../../operations/control/ledger.ts';
import { readProxies, serviceSettings, type Config } from '../../../shared/config.ts';
import { codeOf } from '../../../shared/input/errors.ts';
import { listWithWaiting } from '../../../ledger/webhooks/waiting.ts';
import { connectService, probeService, readServiceClock } from '../../../service/registry.ts';
import type { Store } from '../../../ledger/tx.ts';

/** A fault keeps Carillon from working; a warning does not. */
export interface Verdict {
  status: 'ok' | 'warning' | 'fault';
  /** Never contains a key, a password or a phone number. */
  detail: string;
  /** What to do; null when all is well. */
  advice: string | null;
}

export interface Finding extends Verdict {
  name: string;
}

export const good = (detail: string): Verdict => ({ status: 'ok', detail, advice: null });
export const doubtful = (detail: string, advice: string): Verdict => ({ status: 'warning', detail, advice });
export const bad = (detail: string, advice: string): Verdict => ({ status: 'fault', detail, advice });

type CheckOutcome = Verdict | readonly Verdict[] | null;

export interface Check {
  name: string;
  /** Null: nothing to report. */
  look: (around: Around) => CheckOutcome | Promise<CheckOutcome>;
  /** Advice if the check throws, which is a fault; null: another check reports it. */
  ifItFails?: string | null;
}

/** First line of the message, or the code if that is empty. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A refused connection to a name with several addresses has no message of its own.
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error.message.split('\n')[0] || (codeOf(error) ?? error.name);
}

export const limitMs = 5_000;
const limits = {
  timeouts: { connectMs: limitMs, headersMs: limitMs, bodyMs: limitMs },
  retriesAfter429: { reads: 0 },
};

/** Context of all checks; shared data is read once. */
export class Around {
  readonly config: Config;
  /** Epoch milliseconds of this machine. */
  readonly now: number;
  /** Campaign file whose agent and caller numbers are checked. */
  readonly campaignPath: string | null;
  readonly clock = once(() => readServiceClock(this.config.SVC_BASE_URL, limitMs, Date.now, readProxies(this.config)));
  /** One page of records, with its Date header. */
  readonly records = once(async () => connectService(this.service()).records({ pageSize: 1 }));
  /** Answers per interface; null without a key, or without a service to query. */
  readonly probes = once(async () => {
    const found = this.config.SVC_API_KEY === undefined ? null : await probeService(this.service()).catch(() => null);
    return found === null || Object.values(found).every((probe) => probe === 'unclear') ? null : found;
  });
  readonly webhooks = once(() => this.inLedger(({ db }) => listWithWaiting(db)).catch(() => []));

  constructor(config: Config, now: number, campaignPath: string | null = null) {
    this.config = config;
    this.now = now;
    this.campaignPath = campaignPath;
  }

  service() {
    return { ...serviceSettings(this.config), apiKey: this.config.SVC_API_KEY ?? '', ...limits };
  }

  /** Throws without a usable database. */
  async inLedger<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await openExistingLedger(this.config);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }
}

function once<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let kept: Promise<Result> | undefined;
  return () => (kept ??= Promise.resolve().then(read));
}

/** Runs all at once; findings are in the order of the checks. */
export async function examine(checks: readonly Check[], around: Around): Promise<Finding[]> {
  const found = await Promise.all(checks.map((check) => executeCheck(check, around)));
  return found.flat();
}

async function executeCheck({ name, look, ifItFails }: Check, around: Around): Promise<Finding[]> {
  try {
    const seen = (await look(around)) ?? [];
    return [seen].flat().map((verdict) => ({ name, ...verdict }));
  } catch (error) {
    if (ifItFails === undefined) throw error;
    return ifItFails === null ? [] : [{ name, ...bad(reasonOf(error), ifItFails) }];
  }
}

import type { Config } from '../../shared/config.ts';
import { connectTemporal } from '../../temporal/connection.ts';
import type { LedgerAccess } from './ledger.ts';

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

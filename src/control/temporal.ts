import type { Config } from '../config.ts';
import { connectTemporal } from '../temporal/connection.ts';
import type { Surroundings } from './surroundings.ts';
import type { LedgerAccess } from './ledger.ts';

export type TemporalAccess = Awaited<ReturnType<typeof connectTemporal>>;

/** What a command that steers or watches campaigns works with. */
export interface Session extends LedgerAccess {
  temporal: TemporalAccess;
}

/** A connection by the settings that the command was given. Throws TemporalUnreachableError and ConfigError. */
export function openTemporal(
  io: Pick<Surroundings, 'env'>,
  config: Config,
  timeoutMs = 10_000,
): Promise<TemporalAccess> {
  const env = io.env === undefined ? {} : { env: definedOnly(io.env) };
  return connectTemporal(config, { timeoutMs, ...env });
}

/** Connects to Temporal for one piece of work, and closes the connection. Throws what `openTemporal` throws. */
export async function withTemporal<Result>(
  io: Pick<Surroundings, 'env'>,
  access: LedgerAccess,
  work: (session: Session) => Promise<Result>,
  timeoutMs?: number,
): Promise<Result> {
  const temporal = await openTemporal(io, access.config, timeoutMs);
  try {
    return await work({ ...access, temporal });
  } finally {
    await temporal.connection.close();
  }
}

export function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

import type { Config } from '../../config.ts';
import { connectTemporal } from '../../temporal/connection.ts';
import type { Io } from '../terminal/io.ts';

export type TemporalAccess = Awaited<ReturnType<typeof connectTemporal>>;

/** A connection by the settings that the command was given. Throws TemporalUnreachableError and ConfigError. */
export function openTemporal(io: Pick<Io, 'env'>, config: Config, timeoutMs = 10_000): Promise<TemporalAccess> {
  const env = io.env === undefined ? {} : { env: definedOnly(io.env) };
  return connectTemporal(config, { timeoutMs, ...env });
}

/** Connects for as long as the work lasts. Throws as `openTemporal`. */
export async function withTemporal<Result>(
  io: Pick<Io, 'env'>,
  config: Config,
  work: (temporal: TemporalAccess) => Promise<Result>,
  timeoutMs?: number,
): Promise<Result> {
  const temporal = await openTemporal(io, config, timeoutMs);
  try {
    return await work(temporal);
  } finally {
    await temporal.connection.close();
  }
}

export function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

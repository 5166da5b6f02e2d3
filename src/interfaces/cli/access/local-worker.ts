import type { WorkerDeploymentVersion } from '@temporalio/common';
import { type Config, ConfigError, listenText, type ListenAddress } from '../../../shared/config.ts';
import type { Logger } from '../../../shared/logger.ts';
import { connectTemporalNative, type TemporalTarget } from '../../../temporal/connection.ts';
import { startHealthServer, type HealthServer } from '../../../temporal/health-server.ts';
import { installRuntime } from '../../../temporal/runtime-logger.ts';
import type { Traces } from '../../../temporal/traces.ts';
import { startWorker } from '../../../temporal/worker.ts';
import { definedOnly } from '../../../operations/control/control.ts';
import type { Io } from '../terminal/io.ts';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { codeOf } from '../../../shared/input/errors.ts';
import { describePortHolder } from '../../../sandbox/port-holder.ts';
import type { Store } from '../../../ledger/tx.ts';

export interface LocalWorker {
  address: string;
  namespace: string;
  /** Settles when the worker has stopped and its connection is closed; rejects on failure. */
  finished: Promise<void>;
  /** Takes no new work; resolves when running work has ended and the connection is closed. Leaves the database open. */
  stop(): Promise<void>;
}

interface LocalWorkerInput {
  config: Config;
  store: Store;
  logger: Logger;
  target?: TemporalTarget | null;
  version?: WorkerDeploymentVersion | undefined;
  traces?: Traces | null;
}

/**
 * Works on the campaigns of `store`; serves metrics and probes if configured. Throws TemporalUnreachableError, and ConfigError also when a
 * port is taken.
 */
export async function startLocalWorker(io: Pick<Io, 'env'>, input: LocalWorkerInput): Promise<LocalWorker> {
  const { config } = input;
  await requireFreePorts(config);
  const health = config.CARILLON_HEALTH_LISTEN === undefined ? null : await startHealthServer(config.CARILLON_HEALTH_LISTEN);
  try {
    return await connectAndWork(io, input, health);
  } catch (error) {
    await health?.close();
    throw error;
  }
}

async function connectAndWork(
  io: Pick<Io, 'env'>,
  { config, store, logger, target = null, version, traces = null }: LocalWorkerInput,
  health: HealthServer | null,
): Promise<LocalWorker> {
  installRuntime(logger, { metrics: config.CARILLON_METRICS_LISTEN });
  const { connection, address, namespace } = await connectTemporalNative(config, {
    ...(target === null ? {} : { target }),
    ...(io.env === undefined ? {} : { env: definedOnly(io.env) }),
  });
  installRuntime(logger, { address });
  try {
    const worker = await startWorker({ config, connection, namespace, store, logger, version, traces });
    health?.watch({ connection, store, isRunning: () => worker.isRunning() });
    const finished = closeAfter(worker.finished, async () => {
      await health?.close();
      await connection.close();
    });
    // Not an unhandled rejection if no caller awaits it.
    finished.catch(() => {});
    return {
      address,
      namespace,
      finished,
      stop: async () => {
        await worker.stop();
        await finished;
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function closeAfter(work: Promise<void>, close: () => Promise<void>): Promise<void> {
  try {
    await work;
  } finally {
    await close();
  }
}

export const listenVariables = ['CARILLON_METRICS_LISTEN', 'CARILLON_HEALTH_LISTEN'] as const;

type ListenConfig = Pick<Config, (typeof listenVariables)[number]>;

interface ListenFault {
  detail: string;
  advice: string;
}

/** Listens there briefly; null: the address is free. */
export async function findListenFault(variable: string, address: ListenAddress): Promise<ListenFault | null> {
  const server = createServer();
  try {
    server.listen(address.port, address.host);
    await once(server, 'listening');
    return null;
  } catch (error) {
    return explain(variable, address, codeOf(error) ?? 'unknown error');
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
}

async function explain(variable: string, address: ListenAddress, code: string): Promise<ListenFault> {
  const what = `${variable} is ${listenText(address)}`;
  if (code === 'EADDRINUSE') {
    const holder = await describePortHolder(address.host, address.port);
    return {
      detail: `${what}, and ${holder} listens there already`,
      advice: `Stop it, or give this worker another port; each worker of a machine needs one of its own.`,
    };
  }
  if (code === 'EADDRNOTAVAIL')
    return {
      detail: `${what}, which is no address of this machine`,
      advice: 'Use 127.0.0.1, 0.0.0.0 or one of its own.',
    };
  if (code === 'EACCES') return { detail: `${what}, which this user may not open`, advice: 'Use a port above 1023.' };
  return { detail: `${what}, and nothing can listen there (${code})`, advice: 'Use another address or port.' };
}

/** Throws ConfigError when a worker with these settings cannot open its ports. */
async function requireFreePorts(config: ListenConfig): Promise<void> {
  for (const variable of listenVariables) {
    const address = config[variable];
    const fault = address === undefined ? null : await findListenFault(variable, address);
    if (fault !== null) throw new ConfigError(`${fault.detail}. ${fault.advice}`);
  }
  if (isSame(config)) throw new ConfigError(`${samePort.detail}. ${samePort.advice}`);
}

export const samePort: ListenFault = {
  detail: 'CARILLON_METRICS_LISTEN and CARILLON_HEALTH_LISTEN name the same port',
  advice: 'Give each a port of its own.',
};

/** Compares ports only, because one address may cover all. */
export function isSame({ CARILLON_METRICS_LISTEN: metrics, CARILLON_HEALTH_LISTEN: health }: ListenConfig): boolean {
  return metrics !== undefined && metrics.port === health?.port;
}

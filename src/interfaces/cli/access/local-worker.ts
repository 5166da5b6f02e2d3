import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { Config } from '../../../shared/config.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { Store } from '../../../ledger/open-ledger.ts';
import { connectTemporalNative, type TemporalTarget } from '../../../temporal/connection.ts';
import { startHealthServer, type HealthServer } from '../../../temporal/health-server.ts';
import { installRuntime } from '../../../temporal/runtime-logger.ts';
import { startWorker } from '../../../temporal/worker.ts';
import { requireFreePorts } from './listen-ports.ts';
import { definedOnly } from '../../../operations/control/control.ts';
import type { Io } from '../terminal/io.ts';

export interface LocalWorker {
  address: string;
  namespace: string;
  /** Settles when the worker has stopped and its connection is closed; rejects when it failed. */
  finished: Promise<void>;
  /** Takes no new work and resolves when what is under way has ended and the connection is closed. The database is the caller's. */
  stop(): Promise<void>;
}

interface LocalWorkerInput {
  config: Config;
  store: Store;
  logger: Logger;
  target?: TemporalTarget | null;
  version?: WorkerDeploymentVersion | undefined;
}

/**
 * Connects to Temporal and works on the campaigns of `store`; serves metrics and probes where the settings say so. Throws
 * TemporalUnreachableError, and ConfigError also when a port is taken.
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
  { config, store, logger, target = null, version }: LocalWorkerInput,
  health: HealthServer | null,
): Promise<LocalWorker> {
  installRuntime(logger, { metrics: config.CARILLON_METRICS_LISTEN });
  const { connection, address, namespace } = await connectTemporalNative(config, {
    ...(target === null ? {} : { target }),
    ...(io.env === undefined ? {} : { env: definedOnly(io.env) }),
  });
  installRuntime(logger, { address });
  try {
    const worker = await startWorker({ config, connection, namespace, store, logger, version });
    health?.watch({ connection, store, isRunning: () => worker.isRunning() });
    const finished = closeAfter(worker.finished, async () => {
      await health?.close();
      await connection.close();
    });
    // Whoever waits for it is told; nobody waiting is no fault.
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

import type { Config } from '../../config.ts';
import type { Logger } from '../../logger.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { connectTemporalNative, type TemporalTarget } from '../../temporal/connection.ts';
import { installRuntime } from '../../temporal/runtime-logger.ts';
import { startWorker } from '../../temporal/worker.ts';
import { definedOnly } from './temporal.ts';
import type { Io } from '../terminal/io.ts';

export interface LocalWorker {
  address: string;
  namespace: string;
  /** Settles when the worker has stopped and its connection is closed; rejects when it failed. */
  finished: Promise<void>;
  /** Takes no new work and resolves when what is under way has ended and the connection is closed. The database is the caller's. */
  stop(): Promise<void>;
}

/** Connects to Temporal and works on the campaigns of `store`. Throws TemporalUnreachableError and ConfigError. */
export async function startLocalWorker(
  io: Pick<Io, 'env'>,
  input: { config: Config; store: Store; logger: Logger; target?: TemporalTarget | null },
): Promise<LocalWorker> {
  const { config, store, logger, target = null } = input;
  installRuntime(logger);
  const { connection, address, namespace } = await connectTemporalNative(config, {
    ...(target === null ? {} : { target }),
    ...(io.env === undefined ? {} : { env: definedOnly(io.env) }),
  });
  installRuntime(logger, address);
  try {
    const worker = await startWorker({ config, connection, namespace, store, logger });
    const finished = closeAfter(worker.finished, connection);
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

async function closeAfter(work: Promise<void>, connection: { close(): Promise<void> }): Promise<void> {
  try {
    await work;
  } finally {
    await connection.close();
  }
}

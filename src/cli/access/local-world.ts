import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { FaultRuleError } from '../../sandbox/faults/fault-rule.ts';
import type { SandboxOptions } from '../../sandbox/core/settings/settings.ts';
import { SandboxStartError } from '../../sandbox/core/start-error.ts';
import { startSandbox, type RunningSandbox } from '../../sandbox/start.ts';
import type { Logger } from '../../logger.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { resolveTemporal, type DevServerInput, type TemporalServer } from '../../temporal/dev-server.ts';
import type { Io } from '../terminal/io.ts';
import { openWorkerLedger } from './ledger.ts';
import { startLocalWorker } from './local-worker.ts';

/** Temporal, the sandbox and a worker in this process. */
export interface LocalWorld {
  sandbox: RunningSandbox;
  temporal: TemporalServer;
  store: Store;
  /** The settings that the worker runs with. */
  config: Config;
  /** Settles with a sentence when a part has ended although nobody asked it to. */
  broken: Promise<string>;
  /** Worker, database, Temporal, sandbox, in that order. */
  stop(): Promise<void>;
}

export interface LocalWorldInput {
  /** For finding the Temporal server. */
  config: Config;
  sandbox: SandboxOptions;
  temporal: Pick<DevServerInput, 'dataFile' | 'port' | 'uiPort' | 'namespace'>;
  /** The worker's settings, once the sandbox is there. */
  configure: (sandbox: RunningSandbox) => Config;
  createLog: (config: Config) => Logger;
  /** Looks at the database before anybody works on it; what it throws calls everything off. */
  mayWork?: (store: Store, config: Config) => Promise<void>;
  onProgress: (line: string) => void;
  /** Calls off what is being started. */
  signal: AbortSignal;
}

/** Thrown when a part of the local world cannot be started as asked. */
export class LocalWorldError extends Error {
  override readonly name = 'LocalWorldError' as const;
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A worker whose Temporal has died may never finish what it had begun. */
const stopLimitMs = 20_000;

/** Starts everything, or nothing: what was started before a part failed is stopped again. */
export async function startLocalWorld(io: Pick<Io, 'env'>, input: LocalWorldInput): Promise<LocalWorld> {
  const closers: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) await close();
  };
  let reportBroken: (reason: string) => void = () => {};
  const broken = new Promise<string>((resolve) => {
    reportBroken = resolve;
  });
  try {
    const sandbox = await openSandbox(input.sandbox);
    closers.push(() => sandbox.close());
    const temporal = await resolveTemporal({
      config: input.config,
      ...input.temporal,
      onProgress: input.onProgress,
      onUnexpectedEnd: reportBroken,
      signal: input.signal,
    });
    closers.push(() => temporal.stop());
    const config = input.configure(sandbox);
    const ledger = await openWorkerLedger(config);
    closers.push(() => ledger.close());
    const { store } = ledger;
    await input.mayWork?.(store, config);
    const logger = input.createLog(config);
    const worker = await startLocalWorker(io, { config, store, logger, target: temporal.target });
    let asked = false;
    closers.push(async () => {
      asked = true;
      await within(stopLimitMs, worker.stop());
    });
    void worker.finished.then(
      () => asked || reportBroken('The worker has ended although nobody asked it to.'),
      (error: unknown) => asked || reportBroken(`The worker has failed: ${(error as Error).message}`),
    );
    return { sandbox, temporal, store, config, broken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  try {
    return await startSandbox(options);
  } catch (error) {
    if (error instanceof SandboxStartError || error instanceof FaultRuleError)
      throw new LocalWorldError(error.message, 2, { cause: error });
    throw error;
  }
}

async function within(limitMs: number, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([work.catch(() => {}), limit]);
  over.abort();
}

/** The port if nobody listens on it here, else 0 for any. */
export async function portOrAny(port: number): Promise<number> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!free) return 0;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Settles when the signal is aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

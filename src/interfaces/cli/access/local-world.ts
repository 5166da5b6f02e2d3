import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfigWith, type Config } from '../../../shared/config.ts';
import { FaultRuleError } from '../../../sandbox/faults/rule.ts';
import { sandboxKey } from '../../../sandbox/http/authentication.ts';
import { type SandboxOptions, SandboxStartError } from '../../../sandbox/core/settings/settings.ts';
import { startSandbox, type RunningSandbox } from '../../../sandbox/start.ts';
import { createLogger, openLogFile } from '../../../shared/logger.ts';
import { connectTemporal } from '../../../temporal/connection.ts';
import { resolveTemporal, type DevServerInput, type TemporalServer } from '../../../temporal/dev-server.ts';
import { untilInterrupted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { openWorkerLedger } from '../../../operations/control/ledger.ts';
import { startLocalWorker } from './local-worker.ts';
import type { TemporalAccess } from '../../../operations/control/control.ts';
import type { Store } from '../../../ledger/tx.ts';

/** Temporal, the sandbox and a worker in this process. */
export interface LocalWorld {
  sandbox: RunningSandbox;
  temporal: TemporalServer;
  store: Store;
  config: Config;
  /** Connects to Temporal; closed with the world. */
  connect: () => Promise<TemporalAccess>;
  /** Stops the worker and starts another after `forMs` real milliseconds. */
  withoutWorker: (forMs: number) => Promise<void>;
}

export interface LocalWorldInput {
  sandbox: SandboxOptions;
  temporal?: Pick<DevServerInput, 'dataFile' | 'port' | 'uiPort' | 'namespace'>;
  /** Settings except the service's address and key, which are the sandbox's. */
  settings: Parameters<typeof readConfigWith>[0];
  /** Default: standard error. */
  logPath?: string;
  /** Checks the database before work starts; an error aborts the start. */
  mayWork?: (store: Store, config: Config) => Promise<void>;
  /** Added to the error when a part has ended by itself. */
  advice?: string;
}

/** Ignores the environment's databases and addresses. */
export function privateSettings(databasePath: string, limits: Readonly<Record<string, string>>): LocalWorldInput['settings'] {
  const own = {
    TEMPORAL_ADDRESS: undefined,
    TEMPORAL_NAMESPACE: undefined,
    DATABASE_URL: undefined,
    // A worker on this machine may use these ports.
    CARILLON_METRICS_LISTEN: undefined,
    CARILLON_HEALTH_LISTEN: undefined,
  };
  return { fixed: { ...own, ...limits, CARILLON_DB: databasePath } };
}

export class LocalWorldError extends Error {
  override readonly name = 'LocalWorldError' as const;
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Sets exit code 1. */
export function calledOff(io: Io, before: string): void {
  io.stderr.write(`\nStopped before ${before}.\n`);
  io.exitCode = 1;
}

/** Work on a dead Temporal may never finish. */
const stopLimitMs = 20_000;

/**
 * Starts everything, runs the work, and stops worker, database, Temporal and sandbox in that order. Returns false if an interrupt cut it
 * short. Throws LocalWorldError when a part ends by itself, and start errors of the parts.
 */
export async function inLocalWorld(
  io: Io,
  input: LocalWorldInput,
  work: (world: LocalWorld, leave: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const held = async (leaving: AbortController): Promise<boolean> => {
    const { signal: leave } = leaving;
    const closers: (() => Promise<void>)[] = [];
    let reportBroken: (reason: string) => void = () => {};
    const broken = new Promise<string>((resolve) => {
      reportBroken = resolve;
    });
    try {
      const world = await startWorld(io, input, { closers, reportBroken, leave });
      const working = work(world, leave);
      const reason = await Promise.race([broken, working.then(() => null)]);
      if (reason === null) return true;
      leaving.abort();
      await within(stopLimitMs, working);
      throw new LocalWorldError(`${reason}${input.advice ?? ''}`, 1);
    } catch (error) {
      // Failures after an interrupt are expected.
      if (!leave.aborted || error instanceof LocalWorldError) throw error;
      return false;
    } finally {
      for (const close of closers.toReversed()) await close();
    }
  };
  return untilInterrupted(io, held, { streams: true });
}

interface Start {
  /** Stop functions in start order; called in reverse. */
  closers: (() => Promise<void>)[];
  /** Called when a part ends unexpectedly. */
  reportBroken: (reason: string) => void;
  /** Aborts the start. */
  leave: AbortSignal;
}

async function startWorld(io: Io, input: LocalWorldInput, start: Start): Promise<LocalWorld> {
  const { closers, reportBroken, leave } = start;
  const { settings, logPath } = input;
  const sandbox = await openSandbox(input.sandbox);
  closers.push(() => sandbox.close());
  const temporal = await resolveTemporal({
    config: readConfigWith(settings, io.env),
    ...input.temporal,
    onProgress: (line) => io.stderr.write(`${line}\n`),
    onUnexpectedEnd: reportBroken,
    signal: leave,
  });
  closers.push(() => temporal.stop());
  const fixed = { ...settings.fixed, SVC_BASE_URL: sandbox.url, SVC_API_KEY: sandboxKey };
  const config = readConfigWith({ ...settings, fixed }, io.env);
  const ledger = await openWorkerLedger(config);
  closers.push(() => ledger.close());
  const { store } = ledger;
  await input.mayWork?.(store, config);
  const level = config.CARILLON_LOG_LEVEL;
  const logger = logPath === undefined ? createLogger(level) : openLogFile(level, logPath);
  let stopWorker = async (): Promise<void> => {};
  const beginWork = async (): Promise<void> => {
    const worker = await startLocalWorker(io, { config, store, logger, target: temporal.target });
    let isStopping = false;
    stopWorker = async () => {
      isStopping = true;
      await within(stopLimitMs, worker.stop());
    };
    void worker.finished.then(
      () => isStopping || reportBroken('The worker ended unexpectedly.'),
      (error: unknown) => isStopping || reportBroken(`The worker has failed: ${(error as Error).message}`),
    );
  };
  await beginWork();
  closers.push(() => stopWorker());
  const withoutWorker = async (forMs: number): Promise<void> => {
    await stopWorker();
    await sleep(forMs, undefined, { signal: leave }).catch(() => {});
    if (!leave.aborted) await beginWork();
  };
  const connect = async (): Promise<TemporalAccess> => {
    const access = await connectTemporal(config, temporal.target === null ? {} : { target: temporal.target });
    closers.push(() => access.connection.close());
    return access;
  };
  return { sandbox, temporal, store, config, connect, withoutWorker };
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

/** The port if it is free on this machine, else 0 (any). */
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

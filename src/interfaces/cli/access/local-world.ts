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
  /** Connects to Temporal until the world ends. */
  connect: () => Promise<TemporalAccess>;
  /** Stops the worker, and starts another after this long (real milliseconds). */
  withoutWorker: (forMs: number) => Promise<void>;
}

export interface LocalWorldInput {
  sandbox: SandboxOptions;
  temporal?: Pick<DevServerInput, 'dataFile' | 'port' | 'uiPort' | 'namespace'>;
  /** The settings but for address and key of the service, which are the sandbox's. */
  settings: Parameters<typeof readConfigWith>[0];
  /** Where the worker's log goes; default: standard error. */
  logPath?: string;
  /** Looks at the database before anybody works on it; what it throws calls everything off. */
  mayWork?: (store: Store, config: Config) => Promise<void>;
  /** What to say when a part has ended by itself. */
  advice?: string;
}

/** Settings of a world of its own, without the environment's. */
export function privateSettings(databasePath: string, limits: Readonly<Record<string, string>>): LocalWorldInput['settings'] {
  const own = {
    TEMPORAL_ADDRESS: undefined,
    TEMPORAL_NAMESPACE: undefined,
    DATABASE_URL: undefined,
    // A worker on this machine may use these.
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

/** Says that a person has left before something, which is then not done. */
export function calledOff(io: Io, before: string): void {
  io.stderr.write(`\nStopped before ${before}.\n`);
  io.exitCode = 1;
}

/** What works with a Temporal that has died may never finish what it had begun. */
const stopLimitMs = 20_000;

/**
 * Starts everything, does the work, and stops worker, database, Temporal and sandbox in that order. Answers false when a person has called
 * it off: what was started is stopped again. Throws LocalWorldError when a part ends by itself, and what the parts throw at start.
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
      // Whatever failed because it was called off is no failure.
      if (!leave.aborted || error instanceof LocalWorldError) throw error;
      return false;
    } finally {
      for (const close of closers.toReversed()) await close();
    }
  };
  return untilInterrupted(io, held, { streams: true });
}

interface Start {
  /** What stops the parts that were started, the first of them last. */
  closers: (() => Promise<void>)[];
  /** Told when a part has ended although nobody asked it to. */
  reportBroken: (reason: string) => void;
  /** Calls off what is being started. */
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
    let asked = false;
    stopWorker = async () => {
      asked = true;
      await within(stopLimitMs, worker.stop());
    };
    void worker.finished.then(
      () => asked || reportBroken('The worker ended unexpectedly.'),
      (error: unknown) => asked || reportBroken(`The worker has failed: ${(error as Error).message}`),
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

import { mkdirSync } from 'node:fs';
import { dirname, resolve as resolvePath } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../shared/config.ts';
import { tryProcessLock, type ProcessLock } from '../ledger/worker-lock.ts';
import { loadClient, withoutProxy } from './connection.ts';
import { resolveTemporalBinary } from './server-binary.ts';
import { pickFreePorts, spawnServer, type ServerProcess } from './server-process.ts';

/** A dev server on 127.0.0.1 that ends with this process. */
export interface DevServer {
  address: string;
  uiUrl: string | null;
  namespace: string;
  readonly pid: number;
  stop(): Promise<void>;
  /** SIGKILL, like a crash; `restart` brings it back. */
  kill(): void;
  /** Restarts on the same ports and data file, whether running or killed. */
  restart(): Promise<void>;
}

export interface DevServerInput {
  config: Pick<Config, 'CARILLON_TEMPORAL_BIN' | 'PATH' | 'XDG_CACHE_HOME' | 'HOME'>;
  /** SQLite file; default: in memory. One server per file: a second is refused. */
  dataFile?: string;
  /** Default true. */
  ui?: boolean;
  /** Default 0: a free one. */
  port?: number;
  /** Preferred; default 0: any free one. */
  uiPort?: number;
  namespace?: string;
  /** Default 60 s. */
  startTimeoutMs?: number;
  log?: (line: string) => void;
  onProgress?: (line: string) => void;
  /** Called once when the server ends unrequested. */
  onUnexpectedEnd?: (reason: string) => void;
  signal?: AbortSignal;
}

/** Thrown when the server does not start; the message ends with its last lines. */
export class DevServerError extends Error {
  override readonly name = 'DevServerError' as const;
  readonly isBadInput = false;
  /** True after a crash: a retry may succeed. */
  readonly hasCrashed: boolean;

  constructor(message: string, { hasCrashed = false } = {}) {
    super(message);
    this.hasCrashed = hasCrashed;
  }
}

/**
 * By default each internal queue is polled 20 times a second, so every step waits for a 50 ms tick; timers, retries included, may be a
 * second late, to allow for clocks of several hosts; and SQLite's journal costs as much again.
 */
const tuning = [
  'history.transferProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxPollRPS=1000',
  'history.visibilityProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxTimeShift="10ms"',
].flatMap((value) => ['--dynamic-config-value', value]);
const journal = ['journal_mode=wal', 'synchronous=normal'].flatMap((value) => ['--sqlite-pragma', value]);

const startTries = 3;

/** Finds or fetches the program, and waits until the namespace is served. Throws DevServerError. */
export async function startDevServer(input: DevServerInput): Promise<DevServer> {
  const { config, onProgress, signal } = input;
  const binary = await resolveTemporalBinary({ config, onProgress, signal });
  const lock = input.dataFile === undefined ? null : lockDataFile(input.dataFile);
  try {
    return await startOnPorts(input, binary.path, lock);
  } catch (error) {
    lock?.release();
    throw error;
  }
}

function lockDataFile(dataFile: string): ProcessLock {
  mkdirSync(dirname(resolvePath(dataFile)), { recursive: true, mode: 0o700 });
  const lock = tryProcessLock(`${dataFile}.lock`);
  if (lock !== null) return lock;
  throw new DevServerError(`Another process runs a Temporal dev server on ${dataFile}. Stop that one, or use another folder.`);
}

async function startOnPorts(input: DevServerInput, program: string, lock: ProcessLock | null): Promise<DevServer> {
  const chosen = [input.port ?? 0, input.uiPort ?? 0];
  for (let tries = 1; ; tries += 1) {
    const free = await pickFreePorts(2);
    const [port = 0, uiPort = 0] = chosen.map((preferred, index) => (preferred === 0 ? (free[index] ?? 0) : preferred));
    try {
      return await startServer({ ...input, port, uiPort, namespace: input.namespace ?? 'default', ui: input.ui ?? true }, program, lock);
    } catch (error) {
      if (!(error instanceof DevServerError) || tries === startTries) throw error;
      const isTaken = /address already in use/i.test(error.message);
      // The UI port was only a preference.
      if (isTaken) chosen[1] = 0;
      if (!isTaken && !error.hasCrashed) throw error;
    }
  }
}

type SettledInput = DevServerInput & Required<Pick<DevServerInput, 'port' | 'uiPort' | 'namespace' | 'ui'>>;

async function startServer(input: SettledInput, program: string, lock: ProcessLock | null): Promise<DevServer> {
  const address = `127.0.0.1:${input.port}`;
  const args = serverArguments(input);
  let isStopRequested = false;
  const launch = async (): Promise<ServerProcess> => {
    isStopRequested = false;
    const server = await spawnServer(program, args, input.log ?? (() => {}));
    await waitUntilServing(server, address, input);
    void server.ended.then((how) => {
      if (!isStopRequested) input.onUnexpectedEnd?.(describeEnd(server, how));
    });
    return server;
  };
  let server = await launch();
  return {
    address,
    uiUrl: input.ui ? `http://127.0.0.1:${input.uiPort}` : null,
    namespace: input.namespace,
    get pid() {
      return server.pid;
    },
    stop: async () => {
      isStopRequested = true;
      await server.stop();
      lock?.release();
    },
    kill: () => {
      isStopRequested = true;
      server.kill();
    },
    restart: async () => {
      isStopRequested = true;
      await server.stop();
      server = await launch();
    },
  };
}

function serverArguments(input: SettledInput): string[] {
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(input.port), '--log-level', 'error', ...tuning];
  if (input.ui) args.push('--ui-port', String(input.uiPort));
  else args.push('--headless');
  if (input.dataFile !== undefined) args.push('--db-filename', input.dataFile, ...journal);
  if (input.namespace !== 'default') args.push('--namespace', input.namespace);
  return args;
}

/** The port opens before the server works, and a new namespace takes longer still. */
async function waitUntilServing(server: ServerProcess, address: string, input: SettledInput): Promise<void> {
  const limitMs = input.startTimeoutMs ?? 60_000;
  const deadline = Date.now() + limitMs;
  const connection = (await loadClient()).Connection.lazy({
    address,
    interceptors: [],
    // By default gRPC retries a refused connection only after a second.
    channelArgs: { ...withoutProxy, 'grpc.initial_reconnect_backoff_ms': 50, 'grpc.max_reconnect_backoff_ms': 100 },
  });
  const ask = (): Promise<boolean> =>
    connection
      .withDeadline(Date.now() + 2_000, () => connection.workflowService.describeNamespace({ namespace: input.namespace }))
      .then(
        () => true,
        () => false,
      );
  try {
    while (!(await Promise.race([ask(), server.ended.then(() => false)]))) {
      if (server.hasEnded()) throw new DevServerError(describeEnd(server, await server.ended), { hasCrashed: server.hasCrashed() });
      if (Date.now() > deadline) {
        server.kill();
        await server.ended;
        throw new DevServerError(`The Temporal dev server did not serve at ${address} within ${limitMs / 1000} s.${quoteLines(server)}`);
      }
      await delay(50);
    }
  } finally {
    await connection.close();
  }
}

function describeEnd(server: ServerProcess, how: string): string {
  return `The Temporal dev server ended (${how}).${quoteLines(server)}`;
}

function quoteLines(server: ServerProcess): string {
  const lines = server.lastLines();
  return lines.length === 0 ? '' : ` Its last lines:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** The server named by `TEMPORAL_ADDRESS`, or an own dev server. */
export interface TemporalServer {
  /** Null: use the environment's settings, credentials included. */
  target: { address: string; namespace: string } | null;
  address: string;
  uiUrl: string | null;
  devServer: DevServer | null;
  /** Leaves an external server alone. */
  stop(): Promise<void>;
}

/** `TEMPORAL_ADDRESS` if set, else a dev server with `input`. Throws TemporalBinaryError and DevServerError. */
export async function resolveTemporal(input: DevServerInput & { config: Pick<Config, 'TEMPORAL_ADDRESS'> }): Promise<TemporalServer> {
  const address = input.config.TEMPORAL_ADDRESS;
  if (address !== undefined) return { target: null, address, uiUrl: null, devServer: null, stop: async () => {} };
  const devServer = await startDevServer(input);
  const { namespace, uiUrl } = devServer;
  return {
    target: { address: devServer.address, namespace },
    address: devServer.address,
    uiUrl,
    devServer,
    stop: () => devServer.stop(),
  };
}

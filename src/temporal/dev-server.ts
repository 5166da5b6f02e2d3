import { mkdirSync } from 'node:fs';
import { dirname, resolve as resolvePath } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../shared/config.ts';
import { tryProcessLock, type ProcessLock } from '../ledger/worker-lock.ts';
import { loadClient, withoutProxy } from './connection.ts';
import { resolveTemporalBinary } from './server-binary.ts';
import { pickFreePorts, spawnServer, type ServerProcess } from './server-process.ts';

/** A Temporal dev server on 127.0.0.1 that ends with this process. */
export interface DevServer {
  address: string;
  uiUrl: string | null;
  namespace: string;
  readonly pid: number;
  stop(): Promise<void>;
  /** SIGKILL, as a crash would; `restart` brings it back. */
  kill(): void;
  /** Starts it again on the same ports and data file, whether it runs or was killed. */
  restart(): Promise<void>;
}

export interface DevServerInput {
  config: Pick<Config, 'CARILLON_TEMPORAL_BIN' | 'PATH' | 'XDG_CACHE_HOME' | 'HOME'>;
  /** SQLite file that keeps the workflows between runs; without it they are in memory. One server per file: a second is refused. */
  dataFile?: string;
  /** Default true. */
  ui?: boolean;
  /** Default 0: a free one. */
  port?: number;
  /** Taken where it is free, also as the server starts; default 0: any free one. */
  uiPort?: number;
  namespace?: string;
  /** How long the server may take until it serves; default 60 s. */
  startTimeoutMs?: number;
  log?: (line: string) => void;
  onProgress?: (line: string) => void;
  /** Called once when the server ends although nobody asked it to. */
  onUnexpectedEnd?: (reason: string) => void;
  signal?: AbortSignal;
}

/** Thrown when the dev server does not come up; its message ends with the last lines that the server wrote. */
export class DevServerError extends Error {
  override readonly name = 'DevServerError' as const;
  readonly isBadInput = false;
  /** It has crashed by itself, and may come up the next time. */
  readonly hasCrashed: boolean;

  constructor(message: string, { hasCrashed = false } = {}) {
    super(message);
    this.hasCrashed = hasCrashed;
  }
}

/**
 * The defaults poll each internal queue 20 times a second, so that every step of a workflow waits for a 50 ms tick; they let a timer, a
 * retry's delay included, be a second late, to allow for the clocks of several hosts; and SQLite's default journal costs as much again.
 */
const tuning = [
  'history.transferProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxPollRPS=1000',
  'history.visibilityProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxTimeShift="10ms"',
].flatMap((value) => ['--dynamic-config-value', value]);
const journal = ['journal_mode=wal', 'synchronous=normal'].flatMap((value) => ['--sqlite-pragma', value]);

const startTries = 3;

/** Starts a tuned dev server, once its program is found or fetched, and waits until it serves its namespace. Throws DevServerError. */
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
    const [port = 0, uiPort = 0] = chosen.map((wanted, index) => (wanted === 0 ? (free[index] ?? 0) : wanted));
    try {
      return await startServer({ ...input, port, uiPort, namespace: input.namespace ?? 'default', ui: input.ui ?? true }, program, lock);
    } catch (error) {
      if (!(error instanceof DevServerError) || tries === startTries) throw error;
      const isTaken = /address already in use/i.test(error.message);
      // The UI's port was a wish: whoever looks for it is told where it is.
      if (isTaken) chosen[1] = 0;
      if (!isTaken && !error.hasCrashed) throw error;
    }
  }
}

type SettledInput = DevServerInput & Required<Pick<DevServerInput, 'port' | 'uiPort' | 'namespace' | 'ui'>>;

async function startServer(input: SettledInput, program: string, lock: ProcessLock | null): Promise<DevServer> {
  const address = `127.0.0.1:${input.port}`;
  const args = serverArguments(input);
  let asked = false;
  const launch = async (): Promise<ServerProcess> => {
    asked = false;
    const server = await spawnServer(program, args, input.log ?? (() => {}));
    await waitUntilServing(server, address, input);
    void server.ended.then((how) => {
      if (!asked) input.onUnexpectedEnd?.(describeEnd(server, how));
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
      asked = true;
      await server.stop();
      lock?.release();
    },
    kill: () => {
      asked = true;
      server.kill();
    },
    restart: async () => {
      asked = true;
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

/** Asks for the namespace until it is answered: the port opens before the server can work, and a new namespace takes a moment more. */
async function waitUntilServing(server: ServerProcess, address: string, input: SettledInput): Promise<void> {
  const limitMs = input.startTimeoutMs ?? 60_000;
  const deadline = Date.now() + limitMs;
  const connection = (await loadClient()).Connection.lazy({
    address,
    interceptors: [],
    // By default a refused connection is tried again only after a second.
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

/** A Temporal server to work with: the one that `TEMPORAL_ADDRESS` names, or a dev server of our own. */
export interface TemporalServer {
  /** What to pass to `connectTemporal`; null when the settings of the environment apply, credentials included. */
  target: { address: string; namespace: string } | null;
  address: string;
  uiUrl: string | null;
  devServer: DevServer | null;
  /** Stops the dev server; leaves a server that was there before alone. */
  stop(): Promise<void>;
}

/** `TEMPORAL_ADDRESS` if set, else starts a dev server with `input`. Throws TemporalBinaryError and DevServerError. */
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

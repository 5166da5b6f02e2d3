import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { Command } from 'commander';
import { startApi } from '../../api/server.ts';
import { installConsole } from '../../console/install-console.ts';
import { isLoopback } from '../../../rules/service-api.ts';
import { readConfig, type Config } from '../../../shared/config.ts';
import { keepServiceClock } from '../../../temporal/clock-keeper.ts';
import { realClock } from '../../../service/port/service-clock.ts';
import { createControl, type Rehearse, openTemporal } from '../../../operations/control/control.ts';
import { backgroundInThreads } from '../../../operations/control/aside/aside-threads.ts';
import { locationOf, openServedLedger } from '../../../operations/control/ledger.ts';
import { describeFileError, UsageError } from '../../../shared/input/errors.ts';
import { listTokens, createToken, revokeToken } from '../../../ledger/console/tokens.ts';
import { createLogger } from '../../../shared/logger.ts';
import { readPort } from '../terminal/command.ts';
import { untilAborted, untilInterrupted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../../../shared/input/printable.ts';
import type { LocalWorld } from '../access/local-world.ts';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const usualPort = 4080;

const examples = `
Serves the console and the HTTP API for the campaigns in one database (CARILLON_DB or DATABASE_URL). Campaigns are made, watched and
steered in the console at /; programs use the API, described at /api/v1/openapi.json. Both take a token of carillon token. Any number
may run beside the workers; none of them dials.

Only this machine can reach it, unless --host names another address. That takes a certificate (--tls-cert, --tls-key) or a proxy that
speaks TLS (--behind-proxy), since tokens go over the connection.

Ctrl-C or SIGTERM ends it after the requests in progress, with exit code 0.

Examples:
  carillon token create "front desk" --role operate
  carillon serve
  carillon serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
  carillon serve --host 0.0.0.0 --behind-proxy --port 8080`;

interface ServeFlags {
  host: string;
  port: number;
  tlsCert?: string;
  tlsKey?: string;
  behindProxy: boolean;
  json: boolean;
}

export function serveCommand(io: Io): Command {
  return new Command('serve')
    .description('Serve the console and the HTTP API until stopped')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on', readPort, usualPort)
    .option('--tls-cert <file>', 'certificate, with its chain, as PEM')
    .option('--tls-key <file>', 'key of the certificate, as PEM')
    .option('--behind-proxy', 'a proxy before it speaks TLS', false)
    .option('--json', 'print one JSON line on standard output when ready', false)
    .addHelpText('after', examples)
    .action((flags: ServeFlags) => serve(io, flags));
}

async function serve(io: Io, flags: ServeFlags): Promise<void> {
  const config = readConfig(io.env);
  const tls = await readTls(flags);
  const { host, port, behindProxy, json } = flags;
  const isOwn = isLoopback({ hostname: host.includes(':') ? `[${host}]` : host });
  if (!isOwn && tls === null && !behindProxy)
    throw new UsageError(
      `--host ${host} can be reached by others, and tokens go over the connection. Add --tls-cert and --tls-key, or --behind-proxy if a proxy before it speaks TLS.`,
    );
  await untilInterrupted(io, async ({ signal: stop }) => {
    const store = await openServedLedger(config);
    try {
      const logger = createLogger(config.CARILLON_LOG_LEVEL);
      const clock = clockOf(config, () => io.now());
      const control = createControl({
        config,
        store,
        now: () => io.now(),
        connect: (limitMs) => openTemporal(io.env, config, limitMs),
        aside: backgroundInThreads(locationOf(config)),
      });
      const context = { ...control, logger, clock, install: installConsole, rehearse: rehearseInProcess(io) };
      const api = await startApi(context, { host, port, tls, behindProxy });
      if (json) io.stdout.write(`${jsonText({ ready: true, pid: process.pid, url: api.url })}\n`);
      io.stderr.write(`The console is at ${api.url}/, the API at ${api.url}/api/v1 (openapi.json describes it). Ctrl-C stops both.\n`);
      if ((await listTokens(store)).length === 0)
        io.stderr.write('There is no token yet: carillon token create "front desk" --role operate makes one.\n');
      await untilAborted(stop);
      await api.close();
      await control.close();
      await control.aside.close();
    } finally {
      await store.close();
    }
  });
}

/** The service's clock, or this machine's while the service does not respond. */
function clockOf(config: Config, now: () => number) {
  const keep = keepServiceClock(config);
  return () => keep().catch(() => realClock(now));
}

async function readTls({ tlsCert, tlsKey }: ServeFlags): Promise<{ cert: Buffer; key: Buffer } | null> {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined) throw new UsageError('--tls-cert and --tls-key belong together: name both files.');
  const tls = { cert: await readPem('--tls-cert', tlsCert), key: await readPem('--tls-key', tlsKey) };
  try {
    createSecureContext(tls);
    return tls;
  } catch (cause) {
    throw new UsageError(`--tls-cert ${tlsCert} and --tls-key ${tlsKey} are no certificate and its key: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

async function readPem(flag: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new UsageError(`${flag} ${path}: ${describeFileError(cause)}.`, { cause });
  }
}

export interface LocalConsole {
  url: string;
  /** Opens the page and signs in. The token is behind the `#`: no server and no log sees it. */
  signInUrl: string;
}

/** Longer than a session is likely to run; a killed world cannot revoke its token. */
const tokenLastsMs = 24 * 3_600_000;

interface LocalConsoleInput extends Pick<Parameters<typeof startApi>[0], 'quickenSandbox'> {
  /** Preferred port; any free one if it is taken. */
  port: number;
  /** Whether to open a browser for the user of this terminal. */
  open: boolean;
  work: (console: LocalConsole) => Promise<void>;
}

export const noOpenHelp = 'do not open the console in the browser';

/** Their token, of the role admin, is revoked after `work`. */
export async function withLocalConsole(
  io: Io,
  { config, store, connect }: Pick<LocalWorld, 'config' | 'store' | 'connect'>,
  { port, open, quickenSandbox, work }: LocalConsoleInput,
): Promise<void> {
  const keep = keepServiceClock(config);
  const now = (): number => io.now();
  const control = createControl({ config, store, now, connect });
  // Other users of this machine see a browser's arguments: a one-time word instead of the token.
  let once: string | null = randomUUID();
  const made = await createToken(store, { name: 'this machine', role: 'admin', lastsMs: tokenLastsMs, nowReal: now() });
  const listenAt = (at: number) =>
    startApi(
      {
        ...control,
        logger: createLogger(config.CARILLON_LOG_LEVEL),
        clock: () => keep().catch(() => realClock(now)),
        install: installConsole,
        rehearse: rehearseInProcess(io),
        ...(quickenSandbox === undefined ? {} : { quickenSandbox }),
        redeem: (word) => {
          if (word !== once) return null;
          once = null;
          return made.text;
        },
      },
      { host: '127.0.0.1', port: at, tls: null },
    );
  const api = await listenAt(port).catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'EADDRINUSE') return listenAt(0);
    throw error;
  });
  try {
    if (open) openBrowser(io, config, `${api.url}/sign-in#token=${once}`);
    await work({ url: api.url, signInUrl: `${api.url}/sign-in#token=${made.text}` });
  } finally {
    await api.close();
    await control.close();
    await revokeToken(store, made.token.tokenId, now());
  }
}

/** Opens a page in a local browser; if none starts, the printed link remains. */
function openBrowser({ env, isTerminal }: Io, { DISPLAY, WAYLAND_DISPLAY }: Config, url: string): void {
  const hasDesktop = DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined;
  const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
    darwin: ['open'],
    win32: ['rundll32', 'url.dll,FileProtocolHandler'],
    ...(hasDesktop ? { linux: ['xdg-open'] } : {}),
  };
  const [command, ...args] = openers[process.platform] ?? [];
  if (!isTerminal || command === undefined) return;
  const child = spawn(command, [...args, url], { ...(env === undefined ? {} : { env }), detached: true, stdio: 'ignore' });
  child.once('error', () => {});
  child.unref();
}

/** In a separate process: a rehearsal's Temporal, sandbox, database and worker stay out of the server's. */
function rehearseInProcess({ env }: Pick<Io, 'env'>): Rehearse {
  const main = fileURLToPath(new URL('../main.js', import.meta.url));
  return async ({ path, rows, signal, onLine }) => {
    const child = spawn(process.execPath, [main, 'rehearse', path, '--rows', String(rows), '--json'], {
      ...(env === undefined ? {} : { env }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stop = (): void => void child.kill('SIGTERM');
    signal.addEventListener('abort', stop);
    const stderrLines: string[] = [];
    const lines = createInterface({ input: child.stderr }).on('line', (line) => {
      if (line.trim() === '') return;
      stderrLines.push(line);
      if (stderrLines.length > mostLines) stderrLines.shift();
      onLine(line);
    });
    try {
      const printed = await text(child.stdout);
      return printed.trim() === '' ? stderrLines.join('\n') : (JSON.parse(printed) as object);
    } finally {
      lines.close();
      signal.removeEventListener('abort', stop);
    }
  };
}

const mostLines = 30;

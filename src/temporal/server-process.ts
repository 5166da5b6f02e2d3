import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { childEnvironment } from '../shared/config.ts';

export interface ServerProcess {
  pid: number;
  /** Newest last, preceded by a crash's line however long its trace. */
  lastLines(): string[];
  /** Settles with a sentence on how the process ended. */
  ended: Promise<string>;
  hasEnded(): boolean;
  /** Whether it ended by a crash of its own, not because of its arguments. */
  hasCrashed(): boolean;
  /** Asks it to stop; kills it after ten seconds. */
  stop(): Promise<void>;
  kill(): void;
}

const keptLines = 20;
const stopLimitMs = 10_000;

/**
 * Starts the server in its own process group, so that Ctrl-C reaches only this process, which stops its parts in order. A watchdog on a
 * pipe kills the server when this process ends, even by SIGKILL.
 */
export async function spawnServer(
  program: string,
  args: readonly string[],
  onLine: (line: string) => void,
  settings: Record<string, string> = {},
): Promise<ServerProcess> {
  // The server's CLI would read clients' variables too.
  const inherited = Object.fromEntries(Object.entries(childEnvironment()).filter(([key]) => !key.startsWith('TEMPORAL_')));
  const child = spawn(program, [...args], {
    env: { ...inherited, ...settings },
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) collectLines(stream, lines, onLine);

  const watchdog = startWatchdog(pid);
  let running = true;
  const killNow = (): void => {
    if (running) child.kill('SIGKILL');
  };
  process.once('exit', killNow);
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => {
      running = false;
      process.off('exit', killNow);
      watchdog?.kill('SIGKILL');
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });
  return {
    pid,
    lastLines: () => [...lines],
    ended,
    hasEnded: () => !running,
    hasCrashed: () => !running && lines.some(isCrash),
    kill: killNow,
    stop: async () => {
      if (!running) return;
      child.kill('SIGTERM');
      const timer = setTimeout(killNow, stopLimitMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** `cat` ends when our end of its stdin closes, however this process dies. */
function startWatchdog(pid: number): ChildProcess | null {
  if (process.platform === 'win32') return null;
  const watchdog = spawn('/bin/sh', ['-c', 'cat >/dev/null; kill -9 "$1"', 'sh', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.on('error', () => {});
  watchdog.unref();
  const pipe = watchdog.stdin as unknown as { unref?: () => void } | null;
  pipe?.unref?.();
  return watchdog;
}

/** Whether a Go program reports its crash in this line. */
function isCrash(line: string): boolean {
  return /^\s*(panic|fatal error): /.test(line);
}

function collectLines(stream: NodeJS.ReadableStream, lines: string[], onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts.filter((part) => part.trim() !== '')) {
      lines.push(line);
      if (lines.length > keptLines) lines.splice(isCrash(lines[0] ?? '') ? 1 : 0, 1);
      onLine(line);
    }
  });
  stream.on('end', () => {
    if (rest.trim() !== '') lines.push(rest);
  });
}

/** Another process may take a port first: such a start is retried. */
export async function pickFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => {
    const address = server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

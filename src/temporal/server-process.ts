import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { childEnvironment } from '../shared/config.ts';

export interface ServerProcess {
  pid: number;
  /** The last lines it wrote, newest last; before them the line with which it crashed, however long the trace behind it is. */
  lastLines(): string[];
  /** Settles when the process has ended, with a sentence on how. */
  ended: Promise<string>;
  hasEnded(): boolean;
  /** Whether it ended with a crash of its own, which has nothing to do with what it was asked for. */
  hasCrashed(): boolean;
  /** Asks it to stop and kills it after ten seconds. */
  stop(): Promise<void>;
  kill(): void;
}

const keptLines = 20;
const stopLimitMs = 10_000;

/**
 * Starts the server in a process group of its own, so that Ctrl-C reaches this process alone, which then stops its parts in order. The
 * server ends with this process in every case, SIGKILL included: a watchdog holds a pipe to us and kills the server when it closes.
 */
export async function spawnServer(
  program: string,
  args: readonly string[],
  onLine: (line: string) => void,
  settings: Record<string, string> = {},
): Promise<ServerProcess> {
  // Variables for Temporal's clients are not for its server, whose CLI would read them too.
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

/** `cat` ends when our end of its standard input closes, which the kernel does whatever way this process dies. */
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

/** Whether a program written in Go says in this line that it has crashed. */
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

/** Ports on 127.0.0.1 that are free now. Someone else may take one before it is used: a start that fails for that is repeated. */
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

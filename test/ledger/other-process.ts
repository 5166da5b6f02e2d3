import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { StoreLocation } from '../../src/ledger/open-ledger.ts';

/** Runs this file's sibling; its lines come one by one. */
function startProcess(what: 'open' | 'lock' | 'write', location: StoreLocation): { child: ChildProcess; lines: AsyncIterator<string> } {
  const script = fileURLToPath(new URL('./store-process.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, what, JSON.stringify(location)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout });
  return { child, lines: lines[Symbol.asyncIterator]() };
}

async function nextLine(lines: AsyncIterator<string>): Promise<string> {
  const { value, done } = await lines.next();
  if (done === true) throw new Error('the process ended without a word');
  return value;
}

/** Answers the ledger's id. */
export async function openInAnotherProcess(location: StoreLocation): Promise<string> {
  return nextLine(startProcess('open', location).lines);
}

export async function lockInAnotherProcess(sqlitePath: string): Promise<{ said: string; kill: () => Promise<void> }> {
  const { child, lines } = startProcess('lock', { sqlitePath });
  return {
    said: await nextLine(lines),
    kill: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** A process that writes until the test ends. `wrote` answers once it has written `times` more. */
export function writeInAnotherProcess(location: StoreLocation): { wrote: (times: number) => Promise<void> } {
  const { lines } = startProcess('write', location);
  return {
    wrote: async (times) => {
      for (let time = 0; time < times; time += 1) await nextLine(lines);
    },
  };
}

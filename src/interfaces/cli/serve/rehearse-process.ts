import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Rehearse } from '../../../operations/control/control.ts';
import type { Io } from '../terminal/io.ts';

/** `carillon rehearse` in a process of its own: Temporal, sandbox, database and worker of a rehearsal stay out of the one that serves. */
export function rehearseInProcess({ env }: Pick<Io, 'env'>): Rehearse {
  const main = fileURLToPath(new URL('../main.js', import.meta.url));
  return async ({ path, rows, signal, onLine }) => {
    const child = spawn(process.execPath, [main, 'rehearse', path, '--rows', String(rows), '--json'], {
      ...(env === undefined ? {} : { env }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stop = (): void => void child.kill('SIGTERM');
    signal.addEventListener('abort', stop);
    const said: string[] = [];
    const lines = createInterface({ input: child.stderr }).on('line', (line) => {
      if (line.trim() === '') return;
      said.push(line);
      if (said.length > mostLines) said.shift();
      onLine(line);
    });
    try {
      const printed = await text(child.stdout);
      return printed.trim() === '' ? said.join('\n') : (JSON.parse(printed) as object);
    } finally {
      lines.close();
      signal.removeEventListener('abort', stop);
    }
  };
}

/** Of what it says; a refusal is shorter. */
const mostLines = 30;

import { createInterface } from 'node:readline/promises';
import type { Io } from './io.ts';

/** Asks a question; true for yes. */
export type Confirm = (question: string) => Promise<boolean>;

/** Asks on the terminal; where nobody can answer, the command itself counts as the yes. */
export function confirmOnTerminal(io: Pick<Io, 'isTerminal'>): Confirm {
  return async (question) => {
    if (!io.isTerminal || !process.stdin.isTTY) return true;
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    const given = new AbortController();
    // Ctrl-C and the end of input are a no.
    for (const event of ['SIGINT', 'close']) prompt.once(event, () => given.abort());
    try {
      return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `, { signal: given.signal })).trim());
    } catch (error) {
      if (!given.signal.aborted) throw error;
      process.stderr.write('\n');
      return false;
    } finally {
      prompt.close();
    }
  };
}

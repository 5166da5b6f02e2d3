import { fork, type ChildProcess } from 'node:child_process';
import { resolve as resolvePath } from 'node:path';

export interface Sharing<Unit, Result> {
  /** A program of this folder that answers each unit; for each process what it is to be told at its start. */
  program: string;
  processes: readonly (readonly string[])[];
  units: Iterable<Unit>;
  /** Ends it after the units that are under way. */
  stop: AbortSignal;
  /** As each is done, in no order. */
  onResult: (unit: Unit, result: Result) => void;
  /** One that has no answer after so long is given up, with its process; another process goes on with the others. */
  longestMs: number;
  onHung: (unit: Unit) => void;
}

/** Shares units of work out to processes, one at a time to each. Throws when a process fails. */
export async function shareOut<Unit extends object, Result>(sharing: Sharing<Unit, Result>): Promise<void> {
  const { processes, units, stop } = sharing;
  const queue = units[Symbol.iterator]();
  const failing = new AbortController();
  const over = AbortSignal.any([stop, failing.signal]);
  const workers = processes.map(async (args) => {
    let child: Helper<Unit, Result> | undefined;
    try {
      while (!over.aborted) {
        const next = queue.next();
        if (next.done === true) return;
        child ??= new Helper(sharing.program, args);
        const answer = await child.ask(next.value, sharing.longestMs);
        if (answer !== null) sharing.onResult(next.value, answer);
        else {
          child.end();
          child = undefined;
          sharing.onHung(next.value);
        }
      }
    } catch (error) {
      failing.abort();
      throw error;
    } finally {
      child?.end();
    }
  });
  const [problem] = (await Promise.allSettled(workers)).filter((end) => end.status === 'rejected');
  if (problem !== undefined) throw problem.reason;
}

/** One process that answers one unit after the other. */
class Helper<Unit extends object, Result> {
  readonly #child: ChildProcess;

  constructor(program: string, args: readonly string[]) {
    this.#child = fork(resolvePath(import.meta.dirname, program), [...args], { serialization: 'advanced' });
  }

  /** Null: no answer in time. */
  ask(unit: Unit, longestMs: number): Promise<Result | null> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => resolve(null)), longestMs);
      const onMessage = (message: unknown): void => settle(() => resolve(message as Result));
      const onExit = (code: number | null): void =>
        settle(() => reject(new Error(`A process of the run ended with ${code ?? 'a signal'} at ${JSON.stringify(unit)}.`)));
      const settle = (end: () => void): void => {
        clearTimeout(timer);
        this.#child.off('message', onMessage).off('exit', onExit);
        end();
      };
      this.#child.once('message', onMessage).once('exit', onExit);
      this.#child.send(unit);
    });
  }

  /** What a killed process of a campaign left waiting would keep it. */
  end(): void {
    this.#child.kill('SIGKILL');
  }
}

import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { StoreLocation } from '../../../ledger/open-ledger.ts';
import { programBeside, revivedError, startThread } from '../../../ledger/threads/thread.ts';
import type { AsideAnswer, AsideInput, AsideQuestion } from './aside-thread.ts';
import type { Aside } from './works.ts';

const program = programBeside('aside-thread', import.meta.url);
/** Imports and files at once; each holds memory. */
const mostWorks = 2;

/** Works in threads, for whoever serves many: one thread stays for what is looked at, and each other work has one until it is done. */
export function asideInThreads(location: StoreLocation): Aside {
  const reading = new AsideThread({ location });
  const free = new Turns(mostWorks);
  const inOwn = async <Result>(use: (thread: AsideThread) => Promise<Result>): Promise<Result> => {
    await free.take();
    const thread = new AsideThread({ location });
    try {
      return await use(thread);
    } finally {
      free.give();
      await thread.close();
    }
  };
  const aside = {
    read: (name: string, ...told: unknown[]) => reading.ask({ name, told }),
    work: (name: string, ...told: unknown[]) => inOwn((thread) => thread.ask({ name, told })),
    stream: async function* (name: string, ...told: unknown[]) {
      await free.take();
      const thread = new AsideThread({ location });
      try {
        yield* thread.pieces({ name, told });
      } finally {
        free.give();
        await thread.close();
      }
    },
    close: () => reading.close({ atOnce: true }),
  };
  return aside as unknown as Aside;
}

/** A thread that does one work at a time; it is started when it is first asked, and anew when it has ended. */
class AsideThread {
  readonly #input: AsideInput;
  readonly #turns = new Turns(1);
  #worker: Worker | null = null;

  constructor(input: AsideInput) {
    this.#input = input;
  }

  async ask(question: AsideQuestion): Promise<unknown> {
    await this.#turns.take();
    try {
      return valueOf(await this.#tell(question));
    } finally {
      this.#turns.give();
    }
  }

  /** To be taken by one at a time. */
  async *pieces(question: AsideQuestion): AsyncGenerator<string | Uint8Array> {
    let given = await this.#tell(question);
    try {
      while ('piece' in given) {
        yield given.piece;
        given = await this.#tell('more');
      }
    } finally {
      if ('piece' in given) await this.#tell('enough');
    }
    valueOf(given);
  }

  /** Once it has done what it was asked; what it reads for nobody any more is broken off. */
  async close({ atOnce = false } = {}): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    const ended = once(worker, 'exit');
    if (atOnce) await worker.terminate();
    else worker.postMessage('close', []);
    await ended;
  }

  async #tell(said: AsideQuestion | 'more' | 'enough'): Promise<AsideAnswer> {
    const worker = (this.#worker ??= this.#start());
    const failing = new AbortController();
    const { signal } = failing;
    try {
      const answered = once(worker, 'message', { signal }).then(([answer]) => answer as AsideAnswer);
      const ended = once(worker, 'exit', { signal }).then(() => {
        throw new Error('A thread that works beside the server has ended.');
      });
      worker.postMessage(said, []);
      return await Promise.race([answered, ended]);
    } finally {
      failing.abort();
    }
  }

  #start(): Worker {
    const worker = startThread(program, this.#input);
    // Its owner hears of it by the question that it does not answer.
    worker.on('error', () => {});
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    // What it does is waited for; that it is there is not.
    worker.unref();
    return worker;
  }
}

function valueOf(given: AsideAnswer): unknown {
  if ('error' in given) throw revivedError(given.error);
  return 'value' in given ? given.value : undefined;
}

/** So many at once; the others wait in the order in which they came. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  async take(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

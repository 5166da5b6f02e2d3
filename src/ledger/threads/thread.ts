import { once } from 'node:events';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parentPort, Worker } from 'node:worker_threads';

/** The program of a thread next to `beside`: built, or as source. */
export function programBeside(name: string, beside: string): URL {
  return new URL(`./${name}.${beside.endsWith('.ts') ? 'ts' : 'js'}`, beside);
}

/** Memory for short-lived objects: with V8's default of 48 MB each thread takes that much before it collects. */
const resourceLimits = { maxYoungGenerationSizeMb: 6 };

/** For TypeScript sources the thread loads tsx first. */
function startThread(program: URL, workerData: unknown): Worker {
  if (program.pathname.endsWith('.js')) return new Worker(program, { workerData, resourceLimits });
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = new URL('./dist/esm/api/index.mjs', tsx).href;
  const begin = `import(${JSON.stringify(loader)}).then(({ register }) => {
    register();
    return import(${JSON.stringify(program.href)});
  });`;
  return new Worker(begin, { eval: true, workerData, resourceLimits });
}

type Answer = { value: unknown } | { error: CarriedError } | { piece: unknown };

/** In the thread: answers one request at a time, with a value or in pieces, until closed. */
export function answerOwner(answer: (question: never) => unknown, close: () => unknown): void {
  const post = (message: Answer) => parentPort?.postMessage(message, []);
  const fail = (error: unknown) => post({ error: carryError(error) });
  const handOut = async (pieces: AsyncIterable<unknown>) => {
    for await (const piece of pieces) {
      post({ piece });
      const [more] = (await once(parentPort as never, 'message')) as ['more' | 'enough'];
      if (more === 'enough') break;
    }
    post({ value: undefined });
  };
  parentPort?.on('message', (message: object | 'more' | 'enough' | 'close') => {
    if (message === 'close') return void Promise.resolve(close()).then(() => parentPort?.close());
    if (typeof message === 'string') return;
    try {
      const given = answer(message as never);
      if (given instanceof Promise) given.then((value: unknown) => post({ value })).catch(fail);
      else if (isPieces(given)) handOut(given).catch(fail);
      else post({ value: given });
    } catch (error) {
      fail(error);
    }
  });
}

function isPieces(given: unknown): given is AsyncIterable<unknown> {
  return typeof given === 'object' && given !== null && Symbol.asyncIterator in given;
}

interface ThreadsOptions {
  /** Threads at once; further requests queue in order. */
  most: number;
  /** Whether a thread stays for the next request. */
  keep: boolean;
}

/** One request per thread at a time. Threads start on demand, and again after one has ended. */
export class Threads<Question extends object> {
  readonly #start: () => Worker;
  readonly #options: ThreadsOptions;
  readonly #resting: Thread[] = [];
  readonly #threads = new Set<Thread>();
  readonly #waiting: ((thread: Thread) => void)[] = [];
  /** Pending requests; none rejects. */
  readonly #asked = new Set<Promise<unknown>>();
  #isClosed = false;
  #ended = 0;

  constructor(program: URL, input: unknown, options: ThreadsOptions) {
    this.#start = () => startThread(program, input);
    this.#options = options;
  }

  /** Threads that have ended so far: their state is gone. */
  get ended(): number {
    return this.#ended;
  }

  /** `ended`: expected count of ended threads; throws without a request if it differs once a thread is free. */
  async ask(question: Question, ended: number | null = null): Promise<unknown> {
    const isOver = this.#note();
    try {
      return await this.#answer(question, ended);
    } finally {
      isOver();
    }
  }

  async #answer(question: Question, ended: number | null): Promise<unknown> {
    const thread = await this.#take();
    try {
      if (ended !== null && ended !== this.#ended) throw new Error('The background thread of what was asked before has ended.');
      return valueOf(await thread.tell(question));
    } finally {
      await this.#giveBack(thread);
    }
  }

  /** Continues as pieces are taken. */
  async *pieces(question: Question): AsyncGenerator {
    const isOver = this.#note();
    try {
      yield* this.#inPieces(question);
    } finally {
      isOver();
    }
  }

  async *#inPieces(question: Question): AsyncGenerator {
    const thread = await this.#take();
    try {
      let given = await thread.tell(question);
      try {
        while ('piece' in given) {
          yield given.piece;
          given = await thread.tell('more');
        }
      } finally {
        if ('piece' in given) await thread.tell('enough');
      }
      valueOf(given);
    } finally {
      await this.#giveBack(thread);
    }
  }

  /** Waits for pending requests; refuses later ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#asked);
    await Promise.all([...this.#threads].map((thread) => thread.close()));
  }

  /** Registers a request; returns the function that ends it. Throws when the threads are closed. */
  #note(): () => void {
    if (this.#isClosed) throw new Error('The background threads are closed: nothing can be asked of them any more.');
    let end = (): void => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#asked.add(over);
    return () => {
      this.#asked.delete(over);
      end();
    };
  }

  async #take(): Promise<Thread> {
    const resting = this.#resting.pop();
    if (resting !== undefined) return resting;
    if (this.#threads.size < this.#options.most) return this.#begin();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #begin(): Thread {
    const thread = new Thread(this.#start(), () => {
      this.#ended += 1;
      this.#drop(thread);
    });
    this.#threads.add(thread);
    return thread;
  }

  #drop(thread: Thread): void {
    if (!this.#threads.delete(thread)) return;
    const at = this.#resting.indexOf(thread);
    if (at !== -1) this.#resting.splice(at, 1);
    this.#waiting.shift()?.(this.#begin());
  }

  async #giveBack(thread: Thread): Promise<void> {
    if (!this.#options.keep) {
      this.#drop(thread);
      await thread.close();
    } else if (this.#threads.has(thread)) {
      const next = this.#waiting.shift();
      if (next === undefined) this.#resting.push(thread);
      else next(thread);
    }
  }
}

class Thread {
  readonly #worker: Worker;
  #asked: { answer: (given: Answer) => void; fail: (error: Error) => void } | null = null;
  #ended: Error | null = null;

  constructor(worker: Worker, onEnd: () => void) {
    this.#worker = worker;
    const end = (cause: unknown): void => {
      if (this.#ended !== null) return;
      this.#ended = new Error('A background thread has ended.', { cause });
      this.#asked?.fail(this.#ended);
      onEnd();
    };
    worker.on('message', (given: Answer) => this.#asked?.answer(given));
    worker.on('error', end).on('exit', end);
    worker.unref();
  }

  /** A pending answer keeps the process alive; an idle thread does not. */
  async tell(message: object | 'more' | 'enough'): Promise<Answer> {
    if (this.#ended !== null) throw this.#ended;
    this.#worker.ref();
    try {
      return await new Promise<Answer>((answer, fail) => {
        this.#asked = { answer, fail };
        this.#worker.postMessage(message, []);
      });
    } finally {
      this.#asked = null;
      this.#worker.unref();
    }
  }

  async close(): Promise<void> {
    if (this.#ended !== null) return;
    this.#worker.ref();
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('close', []);
    await ended;
  }
}

function valueOf(given: Answer): unknown {
  if ('error' in given) throw revivedError(given.error);
  return 'value' in given ? given.value : undefined;
}

interface CarriedError {
  name: string;
  message: string;
  stack: string | undefined;
  /** Its own plain properties, such as `code` and `isBadInput`. */
  facts: Record<string, unknown>;
  cause: CarriedError | null;
}

function carryError(thrown: unknown): CarriedError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const facts = Object.entries(error).filter(([, value]) => isPlain(value));
  const cause = error.cause instanceof Error ? carryError(error.cause) : null;
  return { name: error.name, message: error.message, stack: error.stack, facts: Object.fromEntries(facts), cause };
}

/** Same name, message and properties; another class. */
function revivedError({ name, message, stack, facts, cause }: CarriedError): Error {
  const error = new Error(message, cause === null ? {} : { cause: revivedError(cause) });
  return Object.assign(error, facts, { name, stack });
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value === 'object' && value !== null)
    return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
  return typeof value !== 'function' && typeof value !== 'symbol';
}

import { fork, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ListFileError } from '../../../shared/input/errors.ts';
import type { ListDescription, ListRecord, ListLayout, SheetLayout } from '../record.ts';

export interface WorkbookLimits {
  memoryMb: number;
  /** Limit per answer: a workbook description, or the next records of a sheet. */
  answerMs: number;
}

/** A million rows with ten distinct texts each take two thirds of the memory, and their first rows a fifth of the time. */
const usualLimits: WorkbookLimits = { memoryMb: 1_536, answerMs: 120_000 };
/** A list is read several times in a row, for its header and its rows. */
const idleMs = 10_000;

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const program = fileURLToPath(new URL(`./workbook-process.${extension}`, import.meta.url));
const loader = extension === 'ts' ? ['--import', createRequire(import.meta.url).resolve('tsx')] : [];

/** Exit code after a V8 abort, when a shell runs the process. */
const abortedCode = 134;

function tooMuch(what: 'memory' | 'time'): string {
  return `this workbook takes more ${what} to read than any list should; save the list as "CSV UTF-8" instead`;
}

/** Reads workbooks in child processes: a small file can demand any amount of memory and time, and then ends only its own process. */
export class WorkbookReader {
  readonly #limits: WorkbookLimits;
  #idle: WorkbookProcess | null = null;

  constructor(limits: WorkbookLimits = usualLimits) {
    this.#limits = limits;
  }

  async describe(path: string, sheet: string | undefined): Promise<ListDescription> {
    const worker = this.#take();
    try {
      const answer = await worker.ask(path, { ask: 'describe', path, sheet });
      if (answer.kind !== 'description') throw new Error(`The description of a workbook came as ${answer.kind}.`);
      return answer.description;
    } finally {
      this.#giveBack(worker);
    }
  }

  async *read(path: string, layout: SheetOfWorkbook, chunkSize: number): AsyncGenerator<ListRecord[]> {
    const worker = this.#take();
    try {
      let answer = await worker.ask(path, { ask: 'read', path, layout, chunkSize });
      while (answer.kind === 'records') {
        yield answer.records;
        answer = await worker.ask(path, { ask: 'next' });
      }
    } finally {
      worker.tell({ ask: 'stop' });
      this.#giveBack(worker);
    }
  }

  #take(): WorkbookProcess {
    const idle = this.#idle;
    this.#idle = null;
    if (idle?.isAlive === true) {
      idle.wake();
      return idle;
    }
    return new WorkbookProcess(this.#limits);
  }

  #giveBack(worker: WorkbookProcess): void {
    if (!worker.isAlive) return;
    this.#idle?.end();
    this.#idle = worker;
    worker.rest();
  }
}

/** One process, one question at a time. */
class WorkbookProcess {
  readonly #child: ChildProcess;
  readonly #limits: WorkbookLimits;
  #restTimer: NodeJS.Timeout | undefined;
  #isAlive = true;

  constructor(limits: WorkbookLimits) {
    this.#limits = limits;
    this.#child = fork(program, [], {
      execArgv: [...loader, `--max-old-space-size=${String(limits.memoryMb)}`],
      serialization: 'advanced',
      // The process needs no settings, so a malicious file finds no secrets.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.once('exit', () => {
      this.#isAlive = false;
    });
    this.#child.on('error', () => this.end());
  }

  get isAlive(): boolean {
    return this.#isAlive && this.#child.connected;
  }

  /** @throws ListFileError for what the process refuses, and when it runs out of memory or time. */
  async ask(path: string, question: WorkbookQuestion): Promise<WorkbookAnswer> {
    const answer = await new Promise<WorkbookAnswer>((answered, failed) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#child.off('message', onMessage).off('exit', onExit).off('error', onError);
      };
      const onMessage = (given: unknown): void => {
        settle();
        answered(given as WorkbookAnswer);
      };
      const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
        settle();
        if (signal !== null || code === abortedCode) answered({ kind: 'refusal', reason: tooMuch('memory') });
        else failed(new Error(`The process that reads workbooks ended with code ${String(code)}.`));
      };
      const onError = (error: Error): void => {
        settle();
        failed(new Error('The process that reads workbooks could not be started.', { cause: error }));
      };
      const timer = setTimeout(() => {
        settle();
        this.end();
        answered({ kind: 'refusal', reason: tooMuch('time') });
      }, this.#limits.answerMs);
      this.#child.on('message', onMessage).once('exit', onExit).once('error', onError);
      if (this.isAlive) this.tell(question);
      else onExit(this.#child.exitCode, this.#child.signalCode);
    });
    if (answer.kind !== 'refusal') return answer;
    throw new ListFileError(path, answer.reason);
  }

  tell(question: WorkbookQuestion): void {
    // A dead process is reported by its exit event.
    if (this.isAlive) this.#child.send(question, () => {});
  }

  /** Lets the parent process end; kills the child after `idleMs`. */
  rest(): void {
    this.#child.unref();
    this.#child.channel?.unref();
    this.#restTimer = setTimeout(() => this.end(), idleMs).unref();
  }

  wake(): void {
    clearTimeout(this.#restTimer);
    this.#child.ref();
    this.#child.channel?.ref();
  }

  end(): void {
    this.#isAlive = false;
    clearTimeout(this.#restTimer);
    this.#child.kill('SIGKILL');
  }
}

export const workbooks = new WorkbookReader();

type SheetOfWorkbook = SheetLayout & Pick<ListLayout, 'recordsAbove'>;

/** Messages to the child. Each gets exactly one answer, except `stop`, which gets none. */
export type WorkbookQuestion =
  | { ask: 'describe'; path: string; sheet: string | undefined }
  | { ask: 'read'; path: string; layout: SheetOfWorkbook; chunkSize: number }
  | { ask: 'next' }
  | { ask: 'stop' };

export type WorkbookAnswer =
  | { kind: 'description'; description: ListDescription }
  | { kind: 'records'; records: ListRecord[] }
  | { kind: 'end' }
  /** The file cannot be used; `reason` does not name it. */
  | { kind: 'refusal'; reason: string };

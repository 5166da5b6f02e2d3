import { jsonText } from '../../../shared/input/printable.ts';
import type { Io } from './io.ts';
import { UsageError } from '../../../shared/input/errors.ts';

/** Indented JSON, with the service's own names. */
export function writeJson(io: Pick<Io, 'stdout'>, value: unknown): void {
  io.stdout.write(`${jsonText(value, 2)}\n`);
}

/** `data` with `--json`, else `words` unchanged. */
export function writeAnswer(io: Pick<Io, 'stdout'>, json: boolean, answer: { data: unknown; words: string }): void {
  if (json) writeJson(io, answer.data);
  else io.stdout.write(answer.words);
}

/** True if the user, or `--yes`, has agreed; a no is shown and sets exit code 1. Throws UsageError without a terminal. */
export async function mayBegin(io: Io, yes: boolean, question: string): Promise<boolean> {
  if (yes) return true;
  if (!io.input.isInteractive)
    throw new UsageError(`${question} Not a terminal, cannot ask for confirmation. Nothing was changed; run again with --yes.`);
  if (await io.input.confirm(question)) return true;
  io.stderr.write('Nothing was changed.\n');
  io.exitCode = 1;
  return false;
}

/** Returns whether the campaign was notified of a committed change. */
export function warnIfNotNotified(io: Pick<Io, 'stderr'>, campaignId: string, why: string | null): boolean {
  if (why === null) return true;
  io.stderr.write(
    `The change is committed, but campaign ${campaignId} could not be notified: ${why}\nIt applies from the next plan on; carillon resume ${campaignId} makes the campaign plan now.\n`,
  );
  return false;
}

/** Progress line, on a terminal only and after 2 s. */
export class RowProgress {
  readonly #io: RowProgressIo;
  readonly #verb: string;
  readonly #what: string;
  readonly #startedAt: number;
  #shownAt: number | null = null;

  constructor(io: RowProgressIo, verb = 'read', what = 'rows') {
    this.#io = io;
    this.#verb = verb;
    this.#what = what;
    this.#startedAt = io.now();
  }

  update(count: number): void {
    if (this.#io.stderr.isTTY !== true) return;
    const now = this.#io.now();
    if (now - this.#startedAt < silentMs || now - (this.#shownAt ?? 0) < progressEveryMs) return;
    this.#shownAt = now;
    this.#io.stderr.write(`\r${count.toLocaleString('en-US')} ${this.#what} ${this.#verb}`);
  }

  clear(): void {
    if (this.#shownAt !== null) this.#io.stderr.write('\r\u001b[K');
  }
}

interface RowProgressIo {
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  /** Epoch milliseconds. */
  now: () => number;
}

const silentMs = 2000;
const progressEveryMs = 500;

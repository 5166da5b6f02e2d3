/** A line that counts rows, on a terminal only, once the work takes long enough to wonder about. */
export class RowProgress {
  readonly #io: RowProgressIo;
  readonly #verb: string;
  readonly #startedAt: number;
  #shownAt: number | null = null;

  constructor(io: RowProgressIo, verb = 'read') {
    this.#io = io;
    this.#verb = verb;
    this.#startedAt = io.now();
  }

  /** Tells the number of rows so far. */
  update(rows: number): void {
    if (this.#io.stderr.isTTY !== true) return;
    const now = this.#io.now();
    if (now - this.#startedAt < silentMs || now - (this.#shownAt ?? 0) < progressEveryMs) return;
    this.#shownAt = now;
    this.#io.stderr.write(`\r${rows.toLocaleString('en-US')} rows ${this.#verb}`);
  }

  clear(): void {
    if (this.#shownAt !== null) this.#io.stderr.write('\r\u001b[K');
  }
}

export interface RowProgressIo {
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  /** Epoch milliseconds. */
  now: () => number;
}

const silentMs = 2000;
const progressEveryMs = 500;

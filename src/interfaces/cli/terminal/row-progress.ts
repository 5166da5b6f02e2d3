/** A line that counts rows, or other things, on a terminal only, once the work takes long enough to wonder about. */
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

  /** Tells how many there are so far. */
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

export interface RowProgressIo {
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  /** Epoch milliseconds. */
  now: () => number;
}

const silentMs = 2000;
const progressEveryMs = 500;

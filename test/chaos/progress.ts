const silentMs = 2_000;
/** On a terminal, where one line is overwritten; elsewhere each is a line of a log. */
const everyMs = { terminal: 500, log: 30_000 };

/** Says on stderr how far a run has come, once it takes longer than two seconds. */
export class Progress {
  readonly #stderr: NodeJS.WriteStream;
  readonly #begunAt = performance.now();
  #saidAt = -Infinity;

  constructor(stderr: NodeJS.WriteStream = process.stderr) {
    this.#stderr = stderr;
  }

  /** A story is told as soon as it is known: the run may go on for hours. */
  tell(story: string): void {
    this.end();
    this.#stderr.write(`${story}\n\n`);
  }

  update(what: string, { done, of, broken }: { done: number; of: number; broken: number }): void {
    const now = performance.now();
    const isTerminal = this.#stderr.isTTY;
    if (now - this.#begunAt < silentMs || now - this.#saidAt < everyMs[isTerminal ? 'terminal' : 'log']) return;
    this.#saidAt = now;
    const line = `${what}: ${done} of ${of}, ${broken} broken, ${Math.round((now - this.#begunAt) / 1000)} s`;
    this.#stderr.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
  }

  end(): void {
    if (this.#stderr.isTTY && this.#saidAt > 0) this.#stderr.write('\r\u001b[K');
  }
}

/** Answers units of work that the process which started this one sends: the other side of `shareOut`. */
export function answerUnits(answer: (unit: unknown, stop: AbortSignal) => Promise<object>): void {
  const stopping = new AbortController();
  // Ctrl-C goes to all processes of a terminal: this one ends what it is at, and its starter ends it.
  process.on('SIGINT', () => stopping.abort());
  process.on('disconnect', () => process.exit(1));
  process.on('message', (unit) => {
    void answer(unit, stopping.signal).then((result) => process.send?.(result));
  });
}

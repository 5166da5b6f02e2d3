/** Answers units of work that the process which started this one sends: the other side of `shareOut`. */
export function answerUnits<Unit, Result>(answer: (unit: Unit, stop: AbortSignal) => Promise<Result>): void {
  const stopping = new AbortController();
  // Ctrl-C goes to all processes of a terminal: this one ends what it is at, and its starter ends it.
  process.on('SIGINT', () => stopping.abort());
  process.on('disconnect', () => process.exit(1));
  process.on('message', (unit) => {
    void answer(unit as Unit, stopping.signal).then((result) => process.send?.(result));
  });
}

/** Answers units of work that the process which started this one sends: the other side of `shareOut`. */
export function answerUnits<Unit, Result>(answer: (unit: Unit) => Promise<Result>): void {
  // Ctrl-C goes to all processes of a terminal: the first one decides when this one ends.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.exit(1));
  process.on('message', (unit) => {
    void answer(unit as Unit).then((result) => process.send?.(result));
  });
}

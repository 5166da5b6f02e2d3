/** Why a command is asked to end: Ctrl-C, a request to terminate, or nobody reads its output any more. */
export type InterruptReason = 'SIGINT' | 'SIGTERM' | 'SIGPIPE';

type Handler = (reason: InterruptReason) => void;

export interface Interrupts {
  onInterrupt: (handler: Handler) => () => void;
  /** What a signal does, for reasons that are not signals in Node. */
  interrupt: (reason: InterruptReason) => void;
}

interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

/** What a shell reports for a process that a signal ended: 128 plus its number. A closed pipe is how readers like `head` work: 0. */
const exitCodes: Record<InterruptReason, number> = { SIGINT: 130, SIGTERM: 143, SIGPIPE: 0 };

/** Signals are listened to only while a command has a handler; else the system's own default stands. */
export function createInterrupts(source: SignalSource, exit: (code: number) => void): Interrupts {
  const handlers = new Set<Handler>();
  let interrupted = false;

  const interrupt = (reason: InterruptReason): void => {
    if (reason === 'SIGPIPE' && interrupted) return;
    if (interrupted || handlers.size === 0) return exit(exitCodes[reason]);
    interrupted = true;
    // The last to register is the innermost: it ends first.
    for (const handler of [...handlers].toReversed()) handler(reason);
  };
  const onSigint = (): void => interrupt('SIGINT');
  const onSigterm = (): void => interrupt('SIGTERM');

  return {
    interrupt,
    onInterrupt(handler) {
      if (handlers.size === 0) {
        source.on('SIGINT', onSigint);
        source.on('SIGTERM', onSigterm);
      }
      handlers.add(handler);
      return () => {
        handlers.delete(handler);
        if (handlers.size > 0) return;
        source.off('SIGINT', onSigint);
        source.off('SIGTERM', onSigterm);
      };
    },
  };
}

/** Does the work, which is to leave off when its signal is aborted: the command is then asked to end. */
export async function untilInterrupted<Result>(
  io: Pick<Interrupts, 'onInterrupt'>,
  work: (leaving: AbortController) => Promise<Result>,
): Promise<Result> {
  const leaving = new AbortController();
  const takeBack = io.onInterrupt(() => leaving.abort());
  try {
    return await work(leaving);
  } finally {
    takeBack();
  }
}

/** Settles when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

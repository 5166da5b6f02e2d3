type Handler = () => void;

export interface Interrupts {
  /**
   * Calls the handler once at Ctrl-C or SIGTERM. With `streams` also when the reader of its output has gone, even before: a command that
   * shows something ends; one that changes something continues without output.
   */
  onInterrupt: (handler: Handler, kind?: { streams: boolean }) => () => void;
  /** Call when the reader of standard output or standard error has gone. */
  closed: () => void;
  /** True after a streaming command ended because its reader has gone, which is no failure. */
  endedByReader: () => boolean;
}

interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

/** As a shell reports it: 128 plus the signal's number. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 };

/** Listens to signals only while a command has a handler; else the system's default applies. */
export function createInterrupts(source: SignalSource, exit: (code: number) => void): Interrupts {
  const handlers = new Map<Handler, { streams: boolean }>();
  let interrupted = false;
  let readerGone = false;
  let endedByReader = false;

  const interrupt = (signal: keyof typeof exitCodes) => (): void => {
    if (interrupted) return exit(exitCodes[signal]);
    interrupted = true;
    // The last registered handler is the innermost: it ends first.
    for (const handler of [...handlers.keys()].toReversed()) handler();
  };
  const onSigint = interrupt('SIGINT');
  const onSigterm = interrupt('SIGTERM');
  const endStreams = (): void => {
    for (const [handler, { streams }] of [...handlers].toReversed()) {
      if (!streams) continue;
      endedByReader = true;
      handler();
    }
  };

  return {
    closed() {
      if (readerGone) return;
      readerGone = true;
      if (!interrupted) endStreams();
    },
    endedByReader: () => endedByReader,
    onInterrupt(handler, kind = { streams: false }) {
      if (handlers.size === 0) {
        source.on('SIGINT', onSigint);
        source.on('SIGTERM', onSigterm);
      }
      handlers.set(handler, kind);
      if (readerGone && kind.streams) {
        endedByReader = true;
        handler();
      }
      return () => {
        handlers.delete(handler);
        if (handlers.size > 0) return;
        source.off('SIGINT', onSigint);
        source.off('SIGTERM', onSigterm);
      };
    },
  };
}

/** Runs the work; its signal is aborted at Ctrl-C, and with `streams` when its reader has gone. */
export async function untilInterrupted<Result>(
  io: Pick<Interrupts, 'onInterrupt'>,
  work: (leaving: AbortController) => Promise<Result>,
  kind?: { streams: boolean },
): Promise<Result> {
  const leaving = new AbortController();
  const takeBack = io.onInterrupt(() => leaving.abort(), kind);
  try {
    return await work(leaving);
  } finally {
    takeBack();
  }
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

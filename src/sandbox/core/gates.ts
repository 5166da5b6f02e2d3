/** Points of a batch request at which a test can hold or observe it. */
export const batchPoints = ['batch_received', 'batch_work_done', 'batch_replied'] as const;
export type BatchPoint = (typeof batchPoints)[number];

export interface BatchPointInfo {
  point: BatchPoint;
  /** The client's `x-request-id`. */
  requestId: string | null;
  /** Null until the work is done. */
  batchId: string | null;
  calls: number;
  /** Number of the batch request since the start or last reset, from 1. */
  nth: number;
}

/** Awaited, so that a test can act or hold the request there. */
export interface BatchHooks {
  onBatchReceived?(info: BatchPointInfo): void | Promise<void>;
  onBatchWorkDone?(info: BatchPointInfo): void | Promise<void>;
  /** The whole reply was handed to the network; nothing is held here. */
  onBatchReplied?(info: BatchPointInfo): void | Promise<void>;
}

const hookAt = {
  batch_received: 'onBatchReceived',
  batch_work_done: 'onBatchWorkDone',
  batch_replied: 'onBatchReplied',
} as const satisfies Record<BatchPoint, keyof BatchHooks>;

interface Gate {
  id: string;
  point: BatchPoint;
  nth: number;
  seen: number;
  reachedBy: BatchPointInfo | null;
  open: () => void;
  opened: Promise<void>;
  onReached: ((info: BatchPointInfo | null) => void)[];
}

/** `nth` counts from when the gate was set, from 1. */
export class Gates {
  readonly #hooks: BatchHooks;
  readonly #gates = new Map<string, Gate>();
  #set = 0;

  constructor(hooks: BatchHooks) {
    this.#hooks = hooks;
  }

  set(point: BatchPoint, nth = 1): string {
    const id = `gate_${++this.#set}`;
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.#gates.set(id, { id, point, nth, seen: 0, reachedBy: null, open, opened, onReached: [] });
    return id;
  }

  list(): { id: string; point: BatchPoint; nth: number; reached: boolean }[] {
    const gates = [...this.#gates.values()];
    return gates.map(({ id, point, nth, reachedBy }) => ({ id, point, nth, reached: reachedBy !== null }));
  }

  find(filter: { id?: string | undefined; point?: BatchPoint | undefined; nth?: number | undefined }): string | null {
    const found = [...this.#gates.values()].find(
      (gate) =>
        (filter.id === undefined || gate.id === filter.id) &&
        (filter.point === undefined || gate.point === filter.point) &&
        (filter.nth === undefined || gate.nth === filter.nth),
    );
    return found?.id ?? null;
  }

  /** Resolves when a request reaches the gate; null on timeout or on release before that. */
  async waitUntilReached(id: string, timeoutMs: number): Promise<BatchPointInfo | null> {
    const gate = this.#gates.get(id);
    if (gate === undefined || gate.reachedBy !== null) return gate?.reachedBy ?? null;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), timeoutMs);
      gate.onReached.push((info) => {
        clearTimeout(timer);
        resolve(info);
      });
    });
  }

  /** Opens and removes one gate, or all. Returns how many were removed. */
  release(id?: string): number {
    const released = [...this.#gates.values()].filter((gate) => id === undefined || gate.id === id);
    for (const gate of released) {
      this.#gates.delete(gate.id);
      gate.open();
      for (const notify of gate.onReached) notify(gate.reachedBy);
    }
    return released.length;
  }

  async reach(info: BatchPointInfo): Promise<void> {
    await this.#hooks[hookAt[info.point]]?.(info);
    const reached: Gate[] = [];
    for (const gate of this.#gates.values()) {
      if (gate.point !== info.point) continue;
      gate.seen += 1;
      if (gate.seen !== gate.nth) continue;
      gate.reachedBy = info;
      reached.push(gate);
      for (const notify of gate.onReached.splice(0)) notify(info);
    }
    await Promise.all(reached.map((gate) => gate.opened));
  }
}

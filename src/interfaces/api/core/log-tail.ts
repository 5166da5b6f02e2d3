import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../../../shared/input/errors.ts';
import { lastEventSeq, type CampaignEvent } from '../../../ledger/events.ts';
import { EventFeed } from '../../../ledger/read/event-feed.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { Store } from '../../../ledger/tx.ts';

/** Log lines after `from`, up to `to`. */
export interface TailBatch {
  from: number;
  to: number;
  events: readonly CampaignEvent[];
}

const pageSize = 500;
const usualEveryMs = 500;
/** Transactions that commit late add lines at most this many `seq` back. */
const lookBack = 1_000;

/** One database read per half second for the whole process, none without listeners. */
export class LogTail {
  readonly #store: Pick<Store, 'db'>;
  readonly #logger: Logger;
  readonly #everyMs: number;
  readonly #listeners = new Set<(batch: TailBatch) => void>();
  #running: AbortController | null = null;
  #cursor: number | null = null;

  constructor(store: Pick<Store, 'db'>, logger: Logger, everyMs = usualEveryMs) {
    this.#store = store;
    this.#logger = logger;
    this.#everyMs = everyMs;
  }

  /** Position served to all listeners; null before the first read. */
  get cursor(): number | null {
    return this.#cursor;
  }

  /**
   * Calls `onBatch` for each new line once, in order, until the returned function is called. The first batch may start earlier, because
   * late commits have smaller numbers.
   */
  listen(onBatch: (batch: TailBatch) => void): () => void {
    this.#listeners.add(onBatch);
    if (this.#running === null) {
      this.#running = new AbortController();
      this.#cursor = null;
      void this.#run(this.#running.signal);
    }
    return () => {
      if (!this.#listeners.delete(onBatch) || this.#listeners.size > 0) return;
      this.#running?.abort();
      this.#running = null;
    };
  }

  async #run(signal: AbortSignal): Promise<void> {
    const feed = new EventFeed(this.#store);
    let cursor: number | null = null;
    while (!signal.aborted) {
      let isFull = false;
      try {
        cursor ??= Math.max(0, (await lastEventSeq(this.#store.db)) - lookBack);
        const page = await feed.read({ afterSeq: cursor, campaignId: null, limit: pageSize });
        // Listeners that register after the abort have their own run.
        if (signal.aborted) return;
        const batch = { from: cursor, to: page.cursor, events: page.events };
        cursor = page.cursor;
        this.#cursor = cursor;
        if (batch.to > batch.from) for (const listener of this.#listeners) listener(batch);
        isFull = page.events.length === pageSize;
      } catch (error) {
        this.#logger.warn({ code: codeOf(error) }, 'the log could not be read for those who follow it');
      }
      // Flushes writes to listeners before the next page; otherwise all would fall behind.
      if (isFull) await breathe();
      else await pause(this.#everyMs, undefined, { signal }).catch(() => {});
    }
  }
}

import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../../../shared/input/errors.ts';
import { lastEventSeq, type CampaignEvent } from '../../../ledger/events.ts';
import { EventFeed } from '../../../ledger/read/event-feed.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { Store } from '../../../ledger/tx.ts';

/** Everything that the log has behind `from`, up to `to`. */
export interface TailBatch {
  from: number;
  to: number;
  events: readonly CampaignEvent[];
}

const pageSize = 500;
const usualEveryMs = 500;
/** What a transaction that is committed late may still add lies this far back at most. */
const lookBack = 1_000;

/** The end of the log for everybody in this process: one look at the database per half second, and none while nobody listens. */
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

  /** Up to where everything was handed to the listeners; null before the first look. */
  get cursor(): number | null {
    return this.#cursor;
  }

  /**
   * Calls `onBatch` for all that is added, in the order of the log and each line once, until the answered function is called. The first
   * batch may begin before this call, since what is committed late has a smaller number.
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
        // Whoever listens after this one has stopped has a run of their own.
        if (signal.aborted) return;
        const batch = { from: cursor, to: page.cursor, events: page.events };
        cursor = page.cursor;
        this.#cursor = cursor;
        if (batch.to > batch.from) for (const listener of this.#listeners) listener(batch);
        isFull = page.events.length === pageSize;
      } catch (error) {
        this.#logger.warn({ code: codeOf(error) }, 'the log could not be read for those who follow it');
      }
      // What was written to a thousand listeners goes out before there is more: they would all fall behind else.
      if (isFull) await breathe();
      else await pause(this.#everyMs, undefined, { signal }).catch(() => {});
    }
  }
}

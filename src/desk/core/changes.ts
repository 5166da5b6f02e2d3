import type { ServerResponse } from 'node:http';
import type { Logger } from '../../logger.ts';
import { EventFeed } from '../../ledger/read/event-feed.ts';
import { lastEventSeq } from '../../ledger/events.ts';
import type { Store } from '../../ledger/open-ledger.ts';

const everyMs = 500;
const beatMs = 15_000;
const pageSize = 1_000;
const mostListeners = 1_000;

/** Tells open pages that something has happened in their campaign. One look at the log serves all of them; nobody open, nobody looks. */
export class Changes {
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #listeners = new Map<ServerResponse, string>();
  #timer: NodeJS.Timeout | null = null;
  #beat: NodeJS.Timeout | null = null;

  constructor(store: Store, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Sends server-sent events to `response`, which has its headers, until it is closed. False: too many pages are open. */
  follow(response: ServerResponse, campaign: string): boolean {
    if (this.#listeners.size >= mostListeners) return false;
    this.#listeners.set(response, campaign);
    response.on('close', () => {
      this.#listeners.delete(response);
      if (this.#listeners.size === 0) this.#stop();
    });
    response.write('event: open\ndata:\n\n');
    if (this.#timer === null) this.#start();
    return true;
  }

  close(): void {
    this.#stop();
    for (const response of this.#listeners.keys()) response.end();
  }

  #start(): void {
    const feed = new EventFeed(this.#store);
    let cursor: number | null = null;
    const look = async (): Promise<void> => {
      const own = this.#timer;
      try {
        cursor ??= await lastEventSeq(this.#store.db);
        const changed = new Set<string>();
        for (;;) {
          const page = await feed.read({ afterSeq: cursor, campaignId: null, limit: pageSize });
          ({ cursor } = page);
          for (const event of page.events) changed.add(event.campaignId);
          if (page.events.length < pageSize) break;
        }
        if (changed.size > 0) this.#tell(changed);
      } catch (error) {
        this.#logger.warn({ code: (error as { code?: unknown }).code }, 'the log could not be read for open pages');
      }
      if (this.#timer === own && own !== null) this.#timer = setTimeout(() => void look(), everyMs);
    };
    this.#timer = setTimeout(() => void look(), 0);
    this.#beat = setInterval(() => this.#tell(null), beatMs);
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#beat !== null) clearInterval(this.#beat);
    this.#timer = null;
    this.#beat = null;
  }

  /** Whoever does not read loses nothing: the next word says the same. */
  #tell(changed: ReadonlySet<string> | null): void {
    for (const [response, campaign] of this.#listeners) {
      if (response.writableNeedDrain) continue;
      if (changed === null) response.write(':\n\n');
      else if (campaign === 'all' || changed.has(campaign) || changed.has('account'))
        response.write('event: changed\ndata:\n\n');
    }
  }
}

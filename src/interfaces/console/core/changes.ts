import type { ServerResponse } from 'node:http';
import type { LogTail } from '../../api/core/log-tail.ts';

const beatMs = 15_000;
const mostPages = 1_000;

/** Notifies open pages of events in their campaign; without open pages nothing is read. */
export class Changes {
  readonly #tail: LogTail;
  readonly #pages = new Map<ServerResponse, string>();
  #stop: (() => void) | null = null;

  constructor(tail: LogTail) {
    this.#tail = tail;
  }

  get isFull(): boolean {
    return this.#pages.size >= mostPages;
  }

  /** Sends server-sent events to `response`, which has its headers, until it closes. `campaign`: an id, or `all`. */
  follow(response: ServerResponse, campaign: string): void {
    this.#pages.set(response, campaign);
    response.on('error', () => response.destroy());
    response.on('close', () => {
      this.#pages.delete(response);
      if (this.#pages.size > 0) return;
      this.#stop?.();
      this.#stop = null;
    });
    response.write(':\n\n');
    this.#stop ??= this.#start();
  }

  close(): void {
    for (const response of this.#pages.keys()) response.end();
  }

  #start(): () => void {
    const stopListening = this.#tail.listen(({ events }) => {
      if (events.length > 0) this.#tell(new Set(events.map(({ campaignId }) => campaignId)));
    });
    const beat = setInterval(() => this.#tell(null), beatMs);
    return () => {
      stopListening();
      clearInterval(beat);
    };
  }

  /** A slow page loses nothing: the next message says the same. */
  #tell(changed: ReadonlySet<string> | null): void {
    for (const [response, campaign] of this.#pages) {
      if (response.writableNeedDrain) continue;
      if (changed === null) response.write(':\n\n');
      else if (campaign === 'all' || changed.has(campaign) || changed.has('account')) response.write('event: changed\ndata:\n\n');
    }
  }
}

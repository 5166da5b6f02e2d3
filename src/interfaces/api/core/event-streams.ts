import type { ServerResponse } from 'node:http';
import { codeOf } from '../../../shared/input/errors.ts';
import { listTokens, type Token } from '../../../ledger/console/tokens.ts';
import { EventStream, type StreamSurroundings, type StreamRequest } from './event-stream.ts';
import type { ApiContext } from './context.ts';
import type { LogTail } from './log-tail.ts';

/** Bounds of the streams of one process. */
interface StreamLimits {
  streams: number;
  /** So often quiet streams are told that they are alive, and those whose token no longer holds are ended. Default 15 s. */
  beatMs?: number;
  /** How long a client may need for what waits for it. Default 60 s. */
  longestStallMs?: number;
}

const usualBeatMs = 15_000;
const usualLongestStallMs = 60_000;

/** The open streams of this process. */
export class EventStreams {
  readonly #context: Pick<ApiContext, 'store' | 'logger' | 'now'>;
  readonly #surroundings: StreamSurroundings;
  readonly #most: number;
  readonly #beatMs: number;
  readonly #open = new Map<EventStream, Token>();
  #beating: NodeJS.Timeout | null = null;

  constructor(
    context: Pick<ApiContext, 'store' | 'logger' | 'now'>,
    tail: LogTail,
    { streams, beatMs = usualBeatMs, longestStallMs = usualLongestStallMs }: StreamLimits,
  ) {
    this.#context = context;
    this.#most = streams;
    this.#beatMs = beatMs;
    this.#surroundings = { store: context.store, logger: context.logger, tail, longestStallMs };
  }

  get isFull(): boolean {
    return this.#open.size >= this.#most;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Streams to `response` until it is closed, or the token of its holder no longer holds. Ask `isFull` before. */
  begin(response: ServerResponse, holder: Token, wish: StreamRequest): void {
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
    response.writeHead(200, headers);
    const stream = new EventStream(this.#surroundings, response, wish);
    this.#open.set(stream, holder);
    this.#beating ??= setInterval(() => void this.#beat(), this.#beatMs);
    response.on('close', () => {
      this.#open.delete(stream);
      if (this.#open.size === 0) this.#stopBeating();
    });
  }

  /** Ends all of them at once. */
  close(): void {
    this.#stopBeating();
    for (const stream of this.#open.keys()) stream.end();
  }

  #stopBeating(): void {
    if (this.#beating !== null) clearInterval(this.#beating);
    this.#beating = null;
  }

  async #beat(): Promise<void> {
    for (const stream of this.#open.keys()) stream.beat();
    try {
      const now = this.#context.now();
      const holding = new Set(
        (await listTokens(this.#context.store))
          .filter(({ revokedReal, expiresReal }) => revokedReal === null && (expiresReal === null || expiresReal > now))
          .map(({ tokenId }) => tokenId),
      );
      for (const [stream, { tokenId }] of this.#open) if (!holding.has(tokenId)) stream.end();
    } catch (error) {
      this.#context.logger.warn({ code: codeOf(error) }, 'the tokens of open streams could not be read');
    }
  }
}

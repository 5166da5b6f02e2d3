import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../../../shared/input/errors.ts';
import { withInstants } from '../../../shared/input/times.ts';
import type { CampaignEvent } from '../../../ledger/events.ts';
import { EventFeed } from '../../../ledger/read/event-feed.ts';
import type { Logger } from '../../../shared/logger.ts';
import { eventAsJson } from '../../../presentation/words/events.ts';
import type { LogTail, TailBatch } from './log-tail.ts';
import { listTokens, type Token } from '../../../ledger/console/tokens.ts';
import type { ApiContext } from './app.ts';
import type { Store } from '../../../ledger/tx.ts';

export interface StreamSurroundings {
  store: Pick<Store, 'db'>;
  logger: Logger;
  tail: LogTail;
  /** How long a client may take to drain its buffer before it is disconnected. */
  longestStallMs: number;
}

export interface StreamRequest {
  /** Null: all campaigns. */
  campaignId: string | null;
  /** Starts after this `seq`. */
  cursor: number;
}

const pageSize = 500;
const retryMs = 500;
/** Fits one page of the tail, so a client that keeps up never reads the database itself. */
const mostWaitingBytes = 128_000;
/** With a thousand clients, one small write per line is costly. */
const pieceBytes = 8_000;

/** Serialized lines, built once for all clients. */
interface Piece {
  events: readonly CampaignEvent[];
  first: number;
  last: number;
  bytes: Buffer;
}

const pieces = new WeakMap<readonly CampaignEvent[], Map<string | null, readonly Piece[]>>();

/**
 * Server-sent events for one client, each log line once, in order. A client that lags reads the log itself until it catches up, so its
 * buffer stays near 128 kB.
 */
export class EventStream {
  readonly #with: StreamSurroundings;
  readonly #response: ServerResponse;
  readonly #campaignId: string | null;
  readonly #stopListening: () => void;
  readonly #left = new AbortController();
  #cursor: number;
  #isBehind = false;
  #isQuiet = true;

  /** `response` already has its headers. */
  constructor(surroundings: StreamSurroundings, response: ServerResponse, { campaignId, cursor }: StreamRequest) {
    this.#with = surroundings;
    this.#response = response;
    this.#campaignId = campaignId;
    this.#cursor = cursor;
    this.#stopListening = surroundings.tail.listen((batch) => this.#take(batch));
    response.on('close', () => {
      this.#left.abort();
      this.#stopListening();
    });
    response.on('error', () => response.destroy());
    // An id without data is no event, but tells a new client its position.
    response.write(`id: ${cursor}\n\n`);
    const { tail } = surroundings;
    if (tail.cursor !== null && cursor < tail.cursor) void this.#catchUp();
  }

  /** Keep-alive if nothing was sent since the last beat, for proxies. */
  beat(): void {
    if (this.#isQuiet && !this.#response.writableNeedDrain) this.#response.write(`id: ${this.#cursor}\n\n`);
    this.#isQuiet = true;
  }

  /** Destroys the connection if the client has not drained earlier data. */
  end(): void {
    if (this.#response.writableNeedDrain) this.#response.destroy();
    else this.#response.end();
  }

  #take({ from, to, events }: TailBatch): void {
    if (this.#isBehind || this.#left.signal.aborted) return;
    if (from <= this.#cursor && this.#write(events)) this.#cursor = Math.max(this.#cursor, to);
    else void this.#catchUp();
  }

  get #isFull(): boolean {
    return this.#response.writableLength > mostWaitingBytes;
  }

  /** Returns false once the client's buffer is full; the rest is sent later. */
  #write(events: readonly CampaignEvent[]): boolean {
    for (const { events: all, first, last, bytes } of piecesOf(events, this.#campaignId)) {
      if (last <= this.#cursor) continue;
      const seen = this.#cursor;
      this.#response.write(first > seen ? bytes : textOf(all.filter(({ seq }) => seq > seen)));
      this.#cursor = last;
      this.#isQuiet = false;
      if (this.#isFull) return false;
    }
    return true;
  }

  async #catchUp(): Promise<void> {
    this.#isBehind = true;
    const { store, logger, tail } = this.#with;
    const feed = new EventFeed(store);
    while (!this.#left.signal.aborted) {
      if (this.#isFull && !(await this.#hasDrained())) {
        this.#response.destroy();
        return;
      }
      const before = this.#cursor;
      try {
        const query = { afterSeq: before, campaignId: this.#campaignId, limit: pageSize };
        const { events, cursor } = await feed.read(query);
        if (this.#left.signal.aborted) return;
        if (this.#write(events)) this.#cursor = cursor;
      } catch (error) {
        logger.warn({ code: codeOf(error) }, 'the log could not be read for one who follows it');
      }
      // Nothing can be added between this check and the next batch of the tail.
      if (!this.#isFull && tail.cursor !== null && this.#cursor >= tail.cursor) break;
      if (this.#cursor === before) await pause(retryMs, undefined, { signal: this.#left.signal }).catch(() => {});
    }
    this.#isBehind = false;
  }

  async #hasDrained(): Promise<boolean> {
    const signal = AbortSignal.any([this.#left.signal, AbortSignal.timeout(this.#with.longestStallMs)]);
    return once(this.#response, 'drain', { signal }).then(
      () => true,
      () => false,
    );
  }
}

function piecesOf(events: readonly CampaignEvent[], campaignId: string | null): readonly Piece[] {
  const known = pieces.get(events) ?? new Map<string | null, readonly Piece[]>();
  pieces.set(events, known);
  let made = known.get(campaignId);
  if (made === undefined) {
    made = splitInPieces(events.filter((event) => campaignId === null || event.campaignId === campaignId));
    known.set(campaignId, made);
  }
  return made;
}

function splitInPieces(events: readonly CampaignEvent[]): Piece[] {
  const made: Piece[] = [];
  let [from, text] = [0, ''];
  for (const [index, event] of events.entries()) {
    text += frameOf(event);
    if (text.length < pieceBytes && index < events.length - 1) continue;
    const part = events.slice(from, index + 1);
    made.push({ events: part, first: part[0]?.seq ?? 0, last: event.seq, bytes: Buffer.from(text) });
    [from, text] = [index + 1, ''];
  }
  return made;
}

function textOf(events: readonly CampaignEvent[]): string {
  return events.map(frameOf).join('');
}

function frameOf(event: CampaignEvent): string {
  const data = JSON.stringify(withInstants(eventAsJson(event)));
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${data}\n\n`;
}

interface StreamLimits {
  streams: number;
  /** Interval of keep-alives and token checks; a stream with an invalid token ends. Default: 15 s. */
  beatMs?: number;
  /** How long a client may take to drain its buffer. Default: 60 s. */
  longestStallMs?: number;
}

const usualBeatMs = 15_000;
const usualLongestStallMs = 60_000;

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

  /** Streams to `response` until it closes or the holder's token becomes invalid. Check `isFull` first. */
  begin(response: ServerResponse, holder: Token, request: StreamRequest): void {
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
    response.writeHead(200, headers);
    const stream = new EventStream(this.#surroundings, response, request);
    this.#open.set(stream, holder);
    this.#beating ??= setInterval(() => void this.#beat(), this.#beatMs);
    response.on('close', () => {
      this.#open.delete(stream);
      if (this.#open.size === 0) this.#stopBeating();
    });
  }

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

import { createRequire } from 'node:module';
import type { Agent, Dispatcher } from 'undici';
import type { Outbound } from '../core/allowed-host.ts';
import { CompletionBuilder, type Completion, EventStreamReader } from './completion.ts';
import { ModelFailure, completionsAddress, requireAllowed, sendableHeaders } from './outbound.ts';
import type { ModelLimits } from '../core/settings/connection-settings.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface ModelQuestion {
  /** Base or full address. */
  url: string;
  /** Secrets: sent, and never shown. */
  headers: Readonly<Record<string, string>>;
  /** Of `POST /chat/completions`. */
  body: { messages: readonly ChatMessage[]; stream: boolean; [field: string]: unknown };
  /** Shorter than the limit where a backup model waits. Real milliseconds. */
  firstTokenMs: number;
  signal: AbortSignal;
}

/** What was seen of an answer, also of one that failed; filled in as it comes. */
export interface AnswerFacts {
  status: number | null;
  streamed: boolean | null;
  firstTokenMs: number | null;
  durationMs: number | null;
}

/** The HTTP client is read with the first question: most sandboxes ask none. */
const load = createRequire(import.meta.url);

/** Asks models that speak the chat completions contract. Nothing is asked twice and redirects are not followed. */
export class ChatCompletions {
  readonly #limits: ModelLimits;
  readonly #outbound: Outbound;
  #dispatcher: Agent | null = null;
  #closed = false;

  constructor(limits: ModelLimits, outbound: Outbound) {
    this.#limits = limits;
    this.#outbound = outbound;
  }

  /** Throws `ModelFailure`. */
  async ask(question: ModelQuestion, facts: AnswerFacts): Promise<Completion> {
    requireAllowed(question.url, this.#outbound);
    const headers = sendableHeaders(question.headers);
    const { Agent, request } = load('undici') as typeof import('undici');
    if (this.#closed) throw new ModelFailure('stopped', 'the sandbox stopped waiting');
    // The limits here count from the question on and end everything, so the connection needs none of its own but the first.
    this.#dispatcher ??= new Agent({ connect: { timeout: this.#limits.connectMs }, headersTimeout: 0, bodyTimeout: 0 });
    const patience = new Patience({ ...this.#limits, firstTokenMs: Math.min(this.#limits.firstTokenMs, question.firstTokenMs) });
    try {
      const answer = await request(completionsAddress(question.url), {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          accept: question.body.stream ? 'text/event-stream, application/json' : 'application/json',
          'accept-encoding': 'identity',
        },
        body: JSON.stringify(question.body),
        dispatcher: this.#dispatcher,
        signal: AbortSignal.any([question.signal, patience.signal]),
      });
      return await this.#read(answer, facts, patience);
    } catch (error) {
      throw explain(error, patience, question.signal);
    } finally {
      facts.durationMs = patience.elapsedMs;
      patience.end();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#dispatcher?.destroy();
  }

  async #read(answer: Dispatcher.ResponseData, facts: AnswerFacts, patience: Patience): Promise<Completion> {
    // A body that is given up tells so by an error event, which nobody else hears.
    answer.body.on('error', () => undefined);
    facts.status = answer.statusCode;
    if (answer.statusCode >= 300 && answer.statusCode < 400) {
      answer.body.destroy();
      throw new ModelFailure('redirect', `HTTP ${answer.statusCode}: redirects are not followed`);
    }
    if (answer.statusCode < 200 || answer.statusCode >= 400) {
      answer.body.destroy();
      throw new ModelFailure('http_status', `HTTP ${answer.statusCode}`);
    }
    const pieces = decode(answer.body, this.#limits.answerBytes);
    facts.streamed = /^text\/event-stream\b/i.test(String(answer.headers['content-type'] ?? ''));
    return facts.streamed ? readStream(pieces, facts, patience) : readWhole(pieces, facts, patience);
  }
}

async function readStream(pieces: AsyncIterable<string>, facts: AnswerFacts, patience: Patience): Promise<Completion> {
  const reader = new EventStreamReader();
  const builder = new CompletionBuilder();
  /** Whether that was the end. */
  const take = ({ event, data }: { event: string; data: string }): boolean => {
    if (data.trim() === '[DONE]') return true;
    if (event === 'error') throw new ModelFailure('model_error', 'the model broke off with an error event');
    builder.add(data);
    if (!builder.begun) return false;
    facts.firstTokenMs ??= patience.elapsedMs;
    patience.heard();
    return false;
  };
  for await (const piece of pieces) {
    if (reader.push(piece).some(take)) return builder.build();
  }
  // Some servers end without [DONE]. A stream that ends whole is taken at its word; one that is cut throws before this.
  reader.end().some(take);
  return builder.build();
}

async function readWhole(pieces: AsyncIterable<string>, facts: AnswerFacts, patience: Patience): Promise<Completion> {
  let json = '';
  for await (const piece of pieces) {
    json += piece;
    patience.heard();
  }
  const builder = new CompletionBuilder();
  builder.add(json);
  facts.firstTokenMs = patience.elapsedMs;
  return builder.build();
}

async function* decode(body: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new ModelFailure('too_large', `the answer is longer than ${mostBytes} bytes`);
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

function explain(error: unknown, patience: Patience, stopped: AbortSignal): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const options = { cause: error };
  if (stopped.aborted) return new ModelFailure('stopped', 'the sandbox stopped waiting', options);
  if (patience.expired !== null) return new ModelFailure('timeout', patience.expired, options);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'no code';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new ModelFailure('timeout', 'no connection in time', options);
  if (code === 'UND_ERR_INVALID_ARG') return new ModelFailure('header_refused', 'a header of extra_headers cannot be sent', options);
  const reached = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  return reached
    ? new ModelFailure('cut_off', `the connection broke off (${code})`, options)
    : new ModelFailure('not_reached', `no connection (${code})`, options);
}

export class Patience {
  readonly #controller = new AbortController();
  readonly #limits: Pick<ModelLimits, 'firstTokenMs' | 'idleMs' | 'wholeMs'>;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  /** What was not waited for any longer; null while there is time. */
  expired: string | null = null;

  constructor(limits: Pick<ModelLimits, 'firstTokenMs' | 'idleMs' | 'wholeMs'>) {
    this.#limits = limits;
    this.#wait(limits.firstTokenMs, `no word within ${limits.firstTokenMs} ms`);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  heard(): void {
    const { idleMs, wholeMs } = this.#limits;
    const leftMs = wholeMs - this.elapsedMs;
    if (leftMs <= idleMs) this.#wait(Math.max(0, leftMs), `no end within ${wholeMs} ms`);
    else this.#wait(idleMs, `no further word within ${idleMs} ms`);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #wait(ms: number, expiry: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.expired = expiry;
      this.#controller.abort();
    }, ms);
    this.#timer.unref();
  }
}

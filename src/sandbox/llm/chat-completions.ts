import { createRequire } from 'node:module';
import type { Agent, Dispatcher } from 'undici';
import type { Outbound } from '../core/allowed-host.ts';
import { readCompletion, type Completion } from './completion.ts';
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
  body: { messages: readonly ChatMessage[]; stream: true; [field: string]: unknown };
  /** Shorter than the limit where a backup model waits. Real milliseconds. */
  firstTokenMs: number;
  signal: AbortSignal;
}

/** What was seen of an answer, also of one that failed; filled in as it comes. */
export interface AnswerFacts {
  status: number | null;
  firstTokenMs: number | null;
  durationMs: number | null;
}

/** The HTTP client is read with the first question: most sandboxes ask none. */
const load = createRequire(import.meta.url);

/** Asks models that stream in the chat completions contract. Nothing is asked twice and redirects are not followed. */
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
    const { Agent, request } = load('undici') as typeof import('undici');
    if (this.#closed) throw new ModelFailure('stopped', 'the sandbox stopped waiting');
    // The limits here count from the question on and end everything, so the connection needs none of its own but the first.
    this.#dispatcher ??= new Agent({ connect: { timeout: this.#limits.connectMs }, headersTimeout: 0, bodyTimeout: 0 });
    const patience = new Patience(Math.min(this.#limits.firstTokenMs, question.firstTokenMs), this.#limits.wholeMs);
    try {
      const answer = await request(completionsAddress(question.url), {
        method: 'POST',
        headers: {
          ...sendableHeaders(question.headers),
          'content-type': 'application/json',
          accept: 'text/event-stream',
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
    const isStream = /^text\/event-stream\b/i.test(String(answer.headers['content-type'] ?? ''));
    const isGiven = Math.floor(answer.statusCode / 100) === 2;
    if (!isGiven || !isStream) {
      answer.body.destroy();
      throw new ModelFailure('failed', `HTTP ${answer.statusCode}${isGiven ? ' without text/event-stream' : ''}`);
    }
    return readCompletion(decode(answer.body, this.#limits.answerBytes), () => {
      facts.firstTokenMs ??= patience.elapsedMs;
      patience.heard();
    });
  }
}

async function* decode(body: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new ModelFailure('failed', `the answer is longer than ${mostBytes} bytes`);
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
  return new ModelFailure('failed', `no connection, or one that broke off (${code})`, options);
}

/** Waits so long for the first word and so long for the whole, in real milliseconds; then `signal` is aborted. */
class Patience {
  readonly #controller = new AbortController();
  readonly #startedAt = performance.now();
  readonly #first: NodeJS.Timeout;
  readonly #whole: NodeJS.Timeout;
  /** What was not waited for any longer; null while there is time. */
  expired: string | null = null;

  constructor(firstTokenMs: number, wholeMs: number) {
    this.#first = this.#wait(firstTokenMs, `no word within ${firstTokenMs} ms`);
    this.#whole = this.#wait(wholeMs, `no end within ${wholeMs} ms`);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  heard(): void {
    clearTimeout(this.#first);
  }

  end(): void {
    clearTimeout(this.#first);
    clearTimeout(this.#whole);
  }

  #wait(ms: number, expiry: string): NodeJS.Timeout {
    const giveUp = (): void => {
      this.expired ??= expiry;
      this.#controller.abort();
    };
    return setTimeout(giveUp, ms).unref();
  }
}

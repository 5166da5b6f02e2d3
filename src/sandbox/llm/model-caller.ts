import { createRequire } from 'node:module';
import type { Agent, Dispatcher } from 'undici';
import type { Outbound } from '../core/allowed-host.ts';
import type { Clock } from '../core/clock/clock.ts';
import type { ModelLimits } from '../core/settings/connection-settings.ts';
import { readCompletion, type Completion } from './completion.ts';
import { ModelFailure, completionsAddress, redactSecrets, requireAllowed, sendableHeaders, showAddress } from './outbound.ts';
import type { ModelRequest, ModelRequestLog } from './model-requests.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

interface ModelQuestion {
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

export interface AnsweredQuestion {
  completion: Completion;
  /** Real milliseconds. */
  firstTokenMs: number;
}

/** The HTTP client is read with the first question: most sandboxes ask none. */
const load = createRequire(import.meta.url);

/** Asks models that stream in the chat completions contract and records it for their owner. Never asks twice or follows redirects. */
export class ModelCaller {
  readonly #limits: ModelLimits;
  readonly #outbound: Outbound;
  readonly #log: ModelRequestLog;
  readonly #clock: Clock;
  #dispatcher: Agent | null = null;
  #closed = false;

  constructor(log: ModelRequestLog, clock: Clock, limits: ModelLimits, outbound: Outbound) {
    this.#log = log;
    this.#clock = clock;
    this.#limits = limits;
    this.#outbound = outbound;
  }

  /** Throws `ModelFailure`. */
  async ask(question: ModelQuestion, conversationId: string): Promise<AnsweredQuestion> {
    const clean = (text: string): string => redactSecrets(text, question.headers);
    const entry = this.#log.begin({
      conversationId,
      at: this.#clock.now(),
      address: showAddress(URL.canParse(question.url) ? completionsAddress(question.url) : question.url),
      headerNames: Object.keys(question.headers),
      request: clean(JSON.stringify(question.body)),
    });
    try {
      const completion = cleanCompletion(await this.#post(question, entry), clean);
      entry.answer = completion;
      return { completion, firstTokenMs: entry.firstTokenMs ?? 0 };
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      entry.failure = { code: error.code, message: clean(error.message) };
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#dispatcher?.destroy();
  }

  async #post(question: ModelQuestion, entry: ModelRequest): Promise<Completion> {
    const { connectMs, wholeMs, answerBytes } = this.#limits;
    requireAllowed(question.url, this.#outbound);
    const { Agent, request } = load('undici') as typeof import('undici');
    if (this.#closed) throw new ModelFailure('stopped', 'the sandbox stopped waiting');
    // The limits here count from the question on and end everything, so the connection needs none of its own but the first.
    this.#dispatcher ??= new Agent({ connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0 });
    const startedAt = performance.now();
    const elapsedMs = (): number => Math.round(performance.now() - startedAt);
    const firstTokenMs = Math.min(this.#limits.firstTokenMs, question.firstTokenMs);
    const [first, whole] = [new AbortController(), AbortSignal.timeout(wholeMs)];
    const untilFirst = setTimeout(() => first.abort(), firstTokenMs).unref();
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
        signal: AbortSignal.any([question.signal, first.signal, whole]),
      });
      entry.status = answer.statusCode;
      return await readCompletion(decode(streamOf(answer), answerBytes), () => {
        entry.firstTokenMs ??= elapsedMs();
        clearTimeout(untilFirst);
      });
    } catch (error) {
      if (error instanceof ModelFailure) throw error;
      if (question.signal.aborted) throw new ModelFailure('stopped', 'the sandbox stopped waiting', { cause: error });
      if (first.signal.aborted) throw new ModelFailure('timeout', `no word within ${firstTokenMs} ms`, { cause: error });
      if (whole.aborted) throw new ModelFailure('timeout', `no end within ${wholeMs} ms`, { cause: error });
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code';
      throw new ModelFailure('failed', `no connection, or one that broke off (${code})`, { cause: error });
    } finally {
      entry.durationMs = elapsedMs();
      clearTimeout(untilFirst);
    }
  }
}

function streamOf({ body, headers, statusCode }: Dispatcher.ResponseData): AsyncIterable<Uint8Array> {
  // A body that is given up tells so by an error event, which nobody else hears.
  body.on('error', () => undefined);
  const isGiven = Math.floor(statusCode / 100) === 2;
  if (isGiven && /^text\/event-stream\b/i.test(String(headers['content-type'] ?? ''))) return body;
  body.destroy();
  throw new ModelFailure('failed', `HTTP ${statusCode}${isGiven ? ' without text/event-stream' : ''}`);
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

function cleanCompletion(completion: Completion, clean: (text: string) => string): Completion {
  return {
    ...completion,
    text: clean(completion.text),
    tools: completion.tools.map((tool) => ({
      ...tool,
      argumentsText: clean(tool.argumentsText),
      parameters: tool.parameters === null ? null : (JSON.parse(clean(JSON.stringify(tool.parameters))) as Record<string, unknown>),
    })),
  };
}

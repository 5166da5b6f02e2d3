import { createWriteStream } from 'node:fs';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Agent, request, type Dispatcher } from 'undici';
import { isLoopback } from '../rules/service-api.ts';
import { codeOf } from '../shared/input/errors.ts';
import { connectorThrough } from '../shared/network/connector.ts';
import { noProxies, type Proxies } from '../shared/network/proxies.ts';

export const listDownloadLimits = {
  maxBytes: 512 * 1024 * 1024,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 30_000,
  /** Maximum pause between two pieces of the body. */
  stallTimeoutMs: 30_000,
  totalTimeoutMs: 600_000,
};
export type DownloadLimits = typeof listDownloadLimits;

/** Thrown when a list cannot be fetched. Its message names the host only, since path and query may hold a key. */
export class ListDownloadError extends Error {
  override readonly name = 'ListDownloadError' as const;
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, options?: ErrorOptions) {
    super(message, options);
    this.retryable = retryable;
  }
}

const mostRedirects = 5;
/** Rate limits and temporary server errors. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Fetches a list with GET into `target`; follows redirects only within the URL's host. Throws ListDownloadError. */
export async function downloadList(input: {
  url: string;
  target: string;
  limits?: Partial<DownloadLimits>;
  proxies?: Proxies | undefined;
  signal?: AbortSignal;
}): Promise<void> {
  const limits = { ...listDownloadLimits, ...input.limits };
  const total = AbortSignal.timeout(limits.totalTimeoutMs);
  const signal = input.signal === undefined ? total : AbortSignal.any([total, input.signal]);
  const agent = new Agent({
    connect: connectorThrough(input.proxies ?? noProxies, { timeoutMs: limits.connectTimeoutMs }),
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.stallTimeoutMs,
  });
  const { host } = new URL(input.url);
  try {
    const response = await follow(input.url, agent, signal);
    const length = Number(response.headers['content-length'] ?? 0);
    if (length > limits.maxBytes) throw tooLarge(host, limits);
    const written = new Counter(host, limits);
    await pipeline(response.body, written, createWriteStream(input.target, { mode: 0o600 }), { signal });
    if (written.bytes === 0) throw new ListDownloadError(`The list from ${host} is empty.`, false);
  } catch (error) {
    if (error instanceof ListDownloadError) throw error;
    input.signal?.throwIfAborted();
    const reason = total.aborted ? `it took longer than ${limits.totalTimeoutMs / 1000} s` : (codeOf(error) ?? 'the connection broke');
    throw new ListDownloadError(`The list could not be fetched from ${host} (${reason}).`, true, { cause: error });
  } finally {
    await agent.destroy();
  }
}

async function follow(first: string, dispatcher: Dispatcher, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const { host } = new URL(first);
  let url = new URL(first);
  for (let hop = 0; hop <= mostRedirects; hop += 1) {
    const response = await request(url, {
      dispatcher,
      signal,
      headers: { accept: 'text/csv, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, */*;q=0.5' },
    });
    const { statusCode, headers } = response;
    if (statusCode === 200) return response;
    await response.body.dump();
    const location = headers['location'];
    if (statusCode < 300 || statusCode > 399 || typeof location !== 'string') {
      throw new ListDownloadError(`The list could not be fetched: ${host} answered ${statusCode}.`, passing.has(statusCode));
    }
    if (!URL.canParse(location, url.href))
      throw new ListDownloadError(`The list could not be fetched: ${host} redirects to what is no URL.`, false);
    const next = new URL(location, url);
    const isSafe = next.protocol === 'https:' || (next.protocol === url.protocol && isLoopback(next));
    if (next.host !== host || !isSafe) {
      throw new ListDownloadError(
        `The list could not be fetched: ${host} redirects to ${next.protocol}//${next.host}, which is not followed. Create the schedule with that address if it is right.`,
        false,
      );
    }
    url = next;
  }
  throw new ListDownloadError(`The list could not be fetched: ${host} redirects more than ${mostRedirects} times.`, false);
}

class Counter extends Transform {
  bytes = 0;
  readonly #host: string;
  readonly #limits: DownloadLimits;

  constructor(host: string, limits: DownloadLimits) {
    super();
    this.#host = host;
    this.#limits = limits;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    if (this.bytes > this.#limits.maxBytes) done(tooLarge(this.#host, this.#limits));
    else done(null, chunk);
  }
}

function tooLarge(host: string, { maxBytes }: DownloadLimits): ListDownloadError {
  return new ListDownloadError(`The list from ${host} is larger than ${maxBytes} bytes: split it.`, false);
}

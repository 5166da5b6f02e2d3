import { Client, Pool } from 'undici';
import { errorOfFailure, errorOfStatus, requestIdOf, headerOf, parseHttpDate } from './answer-errors.ts';
import { parseBaseUrl } from '../port/address.ts';
import { connectorThrough, type Connected } from '../../shared/network/connector.ts';
import { noProxies, type Proxies } from '../../shared/network/proxies.ts';
import { unpackBody, UnpackError } from '../../shared/network/unpack.ts';
import type { ServiceReadings, ClockReading } from '../port/service-clock.ts';
import { BadResponseError, NotSentError, OutcomeUnknownError, type RequestFacts } from '../port/errors.ts';
import { codeOf, exchange, timeoutCode, type Answer, type ExchangeFailure, type ExchangeRequest, type Headers } from './exchange.ts';
import { createRateLimitRetries, type RetryCounts, type Sleep, createTokenBucket } from './rate-limits.ts';

/** Times are real ms; `readsPerSecond` bounds all reads together. */
export interface TransportOptions {
  baseUrl: string;
  /** Null: no key is sent. */
  apiKey: string | null;
  keyHeader: string;
  /** Allows plain `http` to remote hosts. */
  allowInsecure: boolean;
  timeouts: { connectMs: number; headersMs: number; bodyMs: number };
  readsPerSecond: number;
  retriesAfter429: RetryCounts;
  /** Default: none. */
  proxies?: Proxies | undefined;
  sleep?: Sleep | undefined;
  nowReal: () => number;
  /** Default `performance.now`. */
  monotonicMs?: (() => number) | undefined;
  onRequest?: ((info: RequestInfo) => void) | undefined;
}

/** For logs: no query, body, key or phone number. `status`: null without an answer. */
export interface RequestInfo {
  method: string;
  path: string;
  status: number | null;
  durationMs: number;
  requestId: string | null;
}

/** `mayBegin` and `onSending` as in `PlaceBatchOptions`. */
export interface WriteRequest {
  method: 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body: Buffer | null;
  /** It dials, so it is never resent. */
  dials?: boolean;
  requestId?: string;
  mayBegin?: () => boolean;
  onSending?: () => void;
}

/** A 2xx answer. */
export interface Success extends Answer {
  request: RequestFacts;
}

/** Many times the longest record; several answers are in memory, each a few times over. */
const maxResponseSize = 16 * 1024 * 1024;
const maxReadConnections = 32;

/** The connection to one service; close it. */
export type Transport = ReturnType<typeof createTransport>;

/** Turns every failure into a `ServiceError`. Connects on the first request. Throws ServiceOptionsError when an option cannot be used. */
export function createTransport(options: TransportOptions) {
  const { origin, prefix } = parseBaseUrl(options.baseUrl, options.allowInsecure);
  const { apiKey, keyHeader, timeouts, nowReal, monotonicMs = () => performance.now() } = options;
  const redact = (text: string) => (apiKey === null ? text : text.replaceAll(apiKey, '[redacted]'));
  const openVia = (onConnected: (connection: Connected) => void) => ({
    connect: connectorThrough(options.proxies ?? noProxies, { timeoutMs: timeouts.connectMs, onConnected }),
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize,
  });
  let lastRead: Connected = { answeredBy: null };
  const pool = new Pool(origin, { ...openVia((connection) => (lastRead = connection)), connections: maxReadConnections });
  const bucket = createTokenBucket({ perSecond: options.readsPerSecond });
  const retries = createRateLimitRetries(options.retriesAfter429, options.sleep);
  const readings = createClockReadings(monotonicMs);
  const writes = new Set<Promise<unknown>>();
  let closed = false;

  const headers = (extra: Record<string, string>) => ({
    accept: 'application/json',
    ...(apiKey === null ? {} : { [keyHeader]: apiKey }),
    ...extra,
  });

  const run = async (
    dispatcher: Client | Pool,
    request: ExchangeRequest,
    sent: RequestFacts,
    connection: () => Connected,
  ): Promise<Success> => {
    const startedAt = performance.now();
    const begunAt = monotonicMs();
    let result: Answer | ExchangeFailure | null = null;
    try {
      result = await exchange(dispatcher, request);
      // A proxy sends its own time.
      if (connection().answeredBy !== null && result.headers !== null)
        result = { ...result, headers: { ...result.headers, date: undefined } };
    } finally {
      const { method, path } = sent;
      const requestId = sent.requestId ?? requestIdOf(result?.headers ?? null);
      report({ method, path, status: result?.status ?? null, durationMs: performance.now() - startedAt, requestId });
    }
    noteClock(result, begunAt);
    const requestId = sent.requestId ?? requestIdOf(result.headers);
    const facts = { ...sent, requestId, serviceMs: readDate(result.headers) };
    const context = { request: facts, origin, redact, answeredBy: connection().answeredBy };
    if (result.kind === 'failure') throw errorOfFailure(result, context);
    const { status } = result;
    const body = await unpackBody(result.body, headerOf(result.headers, 'content-encoding'), maxResponseSize).catch((error: unknown) => {
      // An unreadable refusal may name a batch.
      throw error instanceof UnpackError ? new BadResponseError(facts, status, [error.message], error) : error;
    });
    const answer = { ...result, body };
    if (status < 200 || status > 299) throw errorOfStatus(answer, context);
    return { ...answer, request: facts };
  };

  const noteClock = (result: Answer | ExchangeFailure, begunAt: number) => {
    const { status } = result;
    if (status !== null) readings.noteAnswer(result.headers, begunAt, status < 300);
    // After a broken answer, another process may answer next.
    if (result.kind === 'failure' && result.reason !== 'not_begun' && result.reason !== 'too_large') readings.noteFailedConnection();
  };

  const report = (info: RequestInfo) => {
    try {
      options.onRequest?.(info);
    } catch {
      // A failing listener must not turn a placed call into an error.
    }
  };

  const refuseClosed = (request: RequestFacts, cause?: unknown) =>
    new NotSentError(request, 'no_connection', 'the client is closed, so nothing was sent.', cause);

  const readOnce = async (path: string, target: string): Promise<Success> => {
    const facts = { method: 'GET', path, requestId: null };
    if (closed) throw refuseClosed(facts);
    try {
      await bucket.take();
    } catch (error) {
      throw refuseClosed(facts, error);
    }
    // A read may wait for a free connection, which an exchange occupies at most this long.
    const connectMs = timeouts.connectMs + timeouts.headersMs + timeouts.bodyMs;
    return run(pool, { method: 'GET', target, headers: headers({}), body: null, ...timeouts, connectMs, nowReal }, facts, () => lastRead);
  };

  const writeOnce = async (request: WriteRequest, facts: RequestFacts): Promise<Success> => {
    let connection: Connected = { answeredBy: null };
    const client = new Client(origin, { ...openVia((stands) => (connection = stands)), pipelining: 0 });
    const sent = {
      method: request.method,
      target: prefix + request.path,
      headers: headers({
        ...(request.body === null ? {} : { 'content-type': 'application/json' }),
        ...(request.requestId === undefined ? {} : { 'x-request-id': request.requestId }),
      }),
      body: request.body,
      ...timeouts,
      nowReal,
      mayBegin: request.mayBegin,
      onSending: request.onSending,
    };
    try {
      return await run(client, sent, facts, () => connection);
    } finally {
      await client.destroy();
    }
  };

  const readTwice = async (path: string, target: string): Promise<Success> => {
    try {
      return await readOnce(path, target);
    } catch (error) {
      if (closed || !isWorthAnotherRead(error)) throw error;
      return readOnce(path, target);
    }
  };

  return {
    /** GET. Retried once after a failed or broken connection or a 5xx, and after a 429 as configured. */
    async read(path: string, query: Record<string, string | undefined> = {}): Promise<Success> {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, value);
      const target = prefix + path + (search.size === 0 ? '' : `?${search.toString()}`);
      return retries.through('reads', () => readTwice(path, target));
    },
    /** Uses its own connection. Sent once; after a 429 retried as configured, unless it dials. */
    async write(request: WriteRequest): Promise<Success> {
      const facts = { method: request.method, path: request.path, requestId: request.requestId ?? null };
      if (closed) throw refuseClosed(facts);
      const once = () => writeOnce(request, facts);
      const writing = request.dials === true ? once() : retries.through('changes', once);
      writes.add(writing);
      try {
        return await writing;
      } finally {
        writes.delete(writing);
      }
    },
    clockReadings: (): ServiceReadings => readings.read(),
    /** Aborts reads, waits for writes. */
    async close(): Promise<void> {
      closed = true;
      bucket.close();
      retries.close();
      await Promise.allSettled([pool.destroy(), ...writes]);
    },
  };
}

/** True for failed or broken connections and 5xx; not for refusals or timeouts, which are left to the caller. */
function isWorthAnotherRead(error: unknown): boolean {
  if (error instanceof NotSentError) return true;
  if (!(error instanceof OutcomeUnknownError) || codeOf(error.cause) === timeoutCode) return false;
  return error.status === null || error.status >= 500 || error.status < 300;
}

/** Epoch ms of the Date, or null. Null with an `Age` too: a cached answer has an earlier time. */
export function readDate(headers: Headers | null): number | null {
  const date = headerOf(headers ?? {}, 'date');
  return date === null || headerOf(headers ?? {}, 'age') !== null ? null : parseHttpDate(date);
}

function createClockReadings(monotonicMs: () => number) {
  let last: ClockReading | null = null;
  let answeredAt = -Infinity;
  let connectionFailed = false;
  return {
    /** `begunAt`: monotonic. */
    noteAnswer(headers: Headers | null, begunAt: number, succeeded: boolean): void {
      const serverMs = readDate(headers);
      answeredAt = monotonicMs();
      // A refusal may come from something in front of the service; only a success proves that the service answers.
      if (connectionFailed && !succeeded) return;
      if (connectionFailed) last = null;
      connectionFailed = false;
      if (serverMs !== null) last = { serverMs, monotonicMs: answeredAt, tripMs: answeredAt - begunAt };
    },
    noteFailedConnection(): void {
      connectionFailed = true;
    },
    read(): ServiceReadings {
      const now = monotonicMs();
      const ageMs = last === null ? 0 : now - last.monotonicMs;
      return { last, ageMs, answeredMsAgo: now - answeredAt, connectionFailed };
    },
  };
}

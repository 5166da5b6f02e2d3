import type { RetryCounts, Sleep } from '../http/rate-limits.ts';
import { createTransport, type RequestInfo, type Transport } from '../http/transport.ts';
import type { Proxies } from '../../shared/network/proxies.ts';
import { ServiceOptionsError } from '../port/errors.ts';

/** Only `baseUrl` is required; times are real ms. */
export interface ConvaiClientOptions {
  /** May have a path prefix and a trailing slash. `http://` only for loopback hosts unless `allowInsecure`. */
  baseUrl: string;
  /** Sent only in the header `keyHeader`. Default: SVC_API_KEY of the environment. */
  apiKey?: string | undefined;
  /** Default `x-api-key`. */
  keyHeader?: string;
  allowInsecure?: boolean;
  /** Defaults 10,000 / 60,000 / 30,000. `bodyMs` covers the whole body. */
  timeouts?: { connectMs?: number; headersMs?: number; bodyMs?: number };
  /** Shared by all reads of this client. Default 20. */
  readsPerSecond?: number;
  /**
   * Retries after a 429: waits its Retry-After, else 1 s, 2 s, 4 s and so on. Defaults: `reads` 2, `changes` 0. Batches of calls are never
   * resent; a Retry-After over a minute is thrown.
   */
  retriesAfter429?: Partial<RetryCounts>;
  /** Never used for loopback. Default: none; environment variables are ignored. */
  proxies?: Proxies | undefined;
  /** Waits between retries; default a timer. */
  sleep?: Sleep;
  /** Called after each request on the wire; its exceptions are ignored. */
  onRequest?: (info: RequestInfo) => void;
  /** Real epoch ms; default `Date.now`. */
  nowReal?: () => number;
  /** A monotonic clock; default `performance.now`. */
  monotonicMs?: () => number;
}

/** Opens the transport of one service and key. Throws ServiceOptionsError when an option cannot be used. */
export function openConnection(options: ConvaiClientOptions): Transport {
  return createTransport({
    baseUrl: options.baseUrl,
    apiKey: readApiKey(options.apiKey),
    keyHeader: options.keyHeader ?? 'x-api-key',
    allowInsecure: options.allowInsecure ?? false,
    timeouts: { connectMs: 10_000, headersMs: 60_000, bodyMs: 30_000, ...options.timeouts },
    readsPerSecond: options.readsPerSecond ?? 20,
    retriesAfter429: { reads: 2, changes: 0, ...options.retriesAfter429 },
    proxies: options.proxies,
    sleep: options.sleep,
    nowReal: options.nowReal ?? Date.now,
    monotonicMs: options.monotonicMs,
    onRequest: options.onRequest,
  });
}

/**
 * Default: SVC_API_KEY, as the contract requires of client libraries. Throws ServiceOptionsError when the key is missing or a header cannot
 * carry it.
 */
function readApiKey(given: string | undefined): string {
  const key = given ?? process.env['SVC_API_KEY'];
  if (key === undefined) {
    throw new ServiceOptionsError('There is no API key. Pass apiKey, or set SVC_API_KEY in the environment.');
  }
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new ServiceOptionsError('The API key is empty, or a header cannot carry its characters. Check SVC_API_KEY.');
}

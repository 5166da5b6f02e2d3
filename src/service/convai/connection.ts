import type { RetryCounts, Sleep } from '../http/rate-limits.ts';
import { createTransport, type RequestInfo, type Transport } from '../http/transport.ts';
import type { Proxies } from '../../shared/network/proxies.ts';
import { ServiceOptionsError } from '../port/errors.ts';

/** Options of `createConvaiClient`. Only `baseUrl` is required; times are real milliseconds. */
export interface ConvaiClientOptions {
  /** May have a path prefix and a trailing slash. `http://` only for loopback hosts unless `allowInsecure`. */
  baseUrl: string;
  /** Sent in the header `keyHeader` and nowhere else. Default: SVC_API_KEY of the environment. */
  apiKey?: string | undefined;
  /** Default `x-api-key`. */
  keyHeader?: string;
  allowInsecure?: boolean;
  /** Real milliseconds; defaults 10,000 / 60,000 / 30,000. `bodyMs` is for the whole body. */
  timeouts?: { connectMs?: number; headersMs?: number; bodyMs?: number };
  /** Shared by all reads of this client. Default 20. */
  readsPerSecond?: number;
  /**
   * How often a request that a 429 turned away is sent again: after its Retry-After, else after 1 s, 2 s, 4 s and so on. Defaults: `reads`
   * 2, `changes` 0. A batch of calls is never sent again, and a Retry-After of more than a minute is thrown.
   */
  retriesAfter429?: Partial<RetryCounts>;
  /** Proxies that requests go through; loopback never does. Default: none, whatever the environment says. */
  proxies?: Proxies | undefined;
  /** Waits between these; default a timer. */
  sleep?: Sleep;
  /** Called after each request on the wire; what it throws is ignored. */
  onRequest?: (info: RequestInfo) => void;
  /** Real epoch milliseconds; default `Date.now`. */
  nowReal?: () => number;
  /** A clock that never jumps; default `performance.now`. */
  monotonicMs?: () => number;
}

/** What all requests to one service with one key go over. Throws ServiceOptionsError when an option cannot be used. */
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
 * The key to send: the one given, else SVC_API_KEY of the environment, as the contract has it of client libraries. Throws
 * ServiceOptionsError where there is none, and where a header cannot carry it.
 */
function readApiKey(given: string | undefined): string {
  const key = given ?? process.env['SVC_API_KEY'];
  if (key === undefined) {
    throw new ServiceOptionsError('There is no API key. Pass apiKey, or set SVC_API_KEY in the environment.');
  }
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new ServiceOptionsError('The API key is empty, or a header cannot carry its characters. Check SVC_API_KEY.');
}

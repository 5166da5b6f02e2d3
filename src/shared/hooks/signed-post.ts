import type { BlockList } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { codeOf } from '../input/errors.ts';
import { isKeptUrl, KeptUrlError, parseHookUrl, revealUrl } from '../input/kept-url.ts';
import { noProxies, ProxyError, type Proxies } from '../network/proxies.ts';
import { unpackBody, UnpackError } from '../network/unpack.ts';
import { HookError } from './errors.ts';
import { resolveCheckedAddress, lookupWithin, refuseWritten, type Resolve } from './networks.ts';
import { readSigningKeys, signedHeaders } from './signature.ts';

export type HookWay = Pick<SignedPost, 'networks' | 'resolve' | 'proxies' | 'timeoutMs'>;

export interface Sender {
  readVariable: (name: string) => string | undefined;
  /** Null: not configured, so nothing is sent. */
  secret: string | null;
  /** Permitted besides the internet; undefined: none. */
  networks: BlockList | undefined;
  /** Default: the system resolver. */
  resolve?: Resolve;
  /** Default: none. */
  proxies?: Proxies | undefined;
  nowReal: () => number;
  /** Aborts when the process is asked to stop. */
  stopping: AbortSignal;
}

export interface SignedPost extends Sender {
  /** As in the campaign file: may be a reference to the address. */
  url: string;
  /** Same for each try, so that the receiver can detect a repetition. */
  eventId: string;
  body: object;
  /** Until the response; real time. */
  timeoutMs: number;
}

/** Limits for reading an ignored body. */
const unread = { ms: 1_000, bytes: 64 * 1024 };

/**
 * Sends one signed JSON POST over its own connection; any 2xx confirms it. No redirects: only the configured address is trusted. Connects
 * to the internet and `networks` only. Throws HookError otherwise.
 */
export function postSigned(post: SignedPost): Promise<void> {
  return exchangeSigned(post, undefined, async (body) => {
    // The status already decided, however the body ends.
    await body.dump({ limit: unread.bytes, signal: AbortSignal.timeout(unread.ms) }).catch(() => {});
  });
}

/** As `postSigned`, but returns the whole response text, up to `longestAnswerBytes`. */
export function askSigned(post: SignedPost & { longestAnswerBytes: number }): Promise<string> {
  const { longestAnswerBytes: most } = post;
  return exchangeSigned(post, most, async (body, encoding) => {
    const unpacked = await unpackBody(Buffer.from(await body.arrayBuffer()), encoding, most);
    return new TextDecoder().decode(unpacked);
  });
}

async function exchangeSigned<Result>(
  post: SignedPost,
  maxResponseSize: number | undefined,
  read: (body: Dispatcher.ResponseData['body'], encoding: string | null) => Promise<Result>,
): Promise<Result> {
  const { secret, timeoutMs, stopping } = post;
  if (secret === null) throw new HookError('no_secret', 'CARILLON_HOOK_SECRET is not set for this worker');
  const keys = readSigningKeys(secret);
  if (keys === null) throw new HookError('no_secret', 'CARILLON_HOOK_SECRET cannot be used by this worker');
  const url = await openAddress(post);
  refuseWritten(url, post.networks);
  const body = JSON.stringify(post.body);
  const timeout = AbortSignal.timeout(timeoutMs);
  // Lazy: most processes never send.
  const { Client } = await import('undici');
  const client = new Client(url.origin, {
    connect: await hookConnector(post),
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: maxResponseSize ?? -1,
  });
  try {
    const answer = await client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...signedHeaders(keys, { id: post.eventId, body, atMs: post.nowReal() }),
      },
      body,
      signal: AbortSignal.any([timeout, stopping]),
    });
    const { statusCode: status, headers } = answer;
    // It ends with the connection.
    answer.body.on('error', () => {});
    if (status >= 300 && status < 400)
      throw new HookError('redirect', `it answered with a redirect (${status}), which is not followed`, status);
    if (status < 200 || status > 299) throw new HookError('status', `it answered with status ${status}`, status);
    const encoding = headers['content-encoding'];
    return await read(answer.body, typeof encoding === 'string' ? encoding : (encoding?.join() ?? null));
  } catch (error) {
    throw asHookError(error, post, timeout);
  } finally {
    await client.destroy();
  }
}

/** Connects directly or by proxy, only to addresses checked here. */
export async function hookConnector({ networks, resolve, proxies, timeoutMs }: HookWay): Promise<buildConnector.connector> {
  const { connectorThrough } = await import('../network/connector.ts');
  return connectorThrough(proxies ?? noProxies, {
    timeoutMs,
    lookup: lookupWithin(networks, resolve),
    find: resolve,
    addressFor: (name) => resolveCheckedAddress(name, networks, resolve),
  });
}

async function openAddress({ url, readVariable }: SignedPost): Promise<URL> {
  try {
    const address = parseHookUrl(await revealUrl(url, readVariable));
    if (address !== null && !isKeptUrl(address)) return new URL(address);
  } catch (error) {
    if (error instanceof KeptUrlError) throw new HookError('no_address', error.message, null, { cause: error });
    throw error;
  }
  throw new HookError('no_address', `what stands in ${url} is no address of a hook`);
}

function asHookError(error: unknown, post: SignedPost & { longestAnswerBytes?: number }, timeout: AbortSignal): HookError {
  if (error instanceof HookError) return error;
  const code = codeOf(error);
  if (post.stopping.aborted) return new HookError('stopped', 'this worker is being stopped');
  if (timeout.aborted || code === 'UND_ERR_CONNECT_TIMEOUT')
    return new HookError('timeout', `it did not answer within ${post.timeoutMs / 1000} s`);
  if (error instanceof UnpackError) return new HookError('unusable', `its answer cannot be used: ${error.message}`);
  if (error instanceof ProxyError) return new HookError('no_tunnel', `no connection: ${error.message}`);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new HookError('too_large', `its answer is larger than ${post.longestAnswerBytes} bytes`);
  return new HookError('no_connection', `no connection, or it broke${code === null ? '' : ` (${code})`}`);
}

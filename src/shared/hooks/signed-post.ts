import type { BlockList } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { codeOf } from '../input/errors.ts';
import { isKeptUrl, KeptUrlError, parseHookUrl, revealUrl } from '../input/kept-url.ts';
import { noProxies, ProxyError, type Proxies } from '../network/proxies.ts';
import { unpackBody, UnpackError } from '../network/unpack.ts';
import { HookError } from './errors.ts';
import { judgedAddress, lookupWithin, refuseWritten, type Resolve } from './networks.ts';
import { readSigningKeys, signedHeaders } from './signature.ts';

export type HookWay = Pick<SignedPost, 'networks' | 'resolve' | 'proxies' | 'timeoutMs'>;

/** What all requests of a process to hooks and webhooks have in common. */
export interface Sender {
  readVariable: (name: string) => string | undefined;
  /** Null: the worker has none, and nothing is sent. */
  secret: string | null;
  /** What may be reached beside the internet; undefined: nothing. */
  networks: BlockList | undefined;
  /** Default: as the system does. */
  resolve?: Resolve;
  /** Default: none. */
  proxies?: Proxies | undefined;
  nowReal: () => number;
  /** Ends the request when the process is asked to stop. */
  stopping: AbortSignal;
}

/** One request. */
export interface SignedPost extends Sender {
  /** As it is written in the campaign file: it may only say where the address stands. */
  url: string;
  /** The same for each try of the same event, so that the receiver can tell a repetition. */
  eventId: string;
  body: object;
  /** Until the answer is there; real time. */
  timeoutMs: number;
}

/** A body of no interest is read for so long and so far, and then let go. */
const unread = { ms: 1_000, bytes: 64 * 1024 };

/**
 * Sends a signed JSON POST over a connection of its own, once, to a receiver that confirms it with a 2xx. The status decides, whatever
 * comes after it. Follows no redirect: the address that was written is the one that a person trusts. Connects to the internet and to
 * `networks` only. Throws HookError for everything else.
 */
export function postSigned(post: SignedPost): Promise<void> {
  return exchangeSigned(post, undefined, async (body) => {
    // Whether it ends, breaks or is too long: the status was read.
    await body.dump({ limit: unread.bytes, signal: AbortSignal.timeout(unread.ms) }).catch(() => {});
  });
}

/** The same to a receiver whose answer is wanted: its text, all of it, with at most so many bytes. */
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
  // Few who know how to send ever do.
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

/** How connections to a hook are opened: directly or by a proxy, to an address that was judged here and to no other. */
export async function hookConnector({ networks, resolve, proxies, timeoutMs }: HookWay): Promise<buildConnector.connector> {
  const { connectorThrough } = await import('../network/connector.ts');
  return connectorThrough(proxies ?? noProxies, {
    timeoutMs,
    lookup: lookupWithin(networks, resolve),
    find: resolve,
    addressFor: (name) => judgedAddress(name, networks, resolve),
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

import type { BlockList } from 'node:net';
import { Client } from 'undici';
import { parseHookUrl } from '../../campaign/file/settings/hooks.ts';
import { codeOf } from '../input/errors.ts';
import { isKeptUrl, KeptUrlError, revealUrl } from '../input/kept-url.ts';
import { HookError } from './errors.ts';
import { lookupWithin, refuseWritten, type Resolve } from './networks.ts';
import { readSigningKeys, signedHeaders } from './signature.ts';

export interface SignedPost {
  /** As it is written in the campaign file: it may only say where the address stands. */
  url: string;
  readVariable: (name: string) => string | undefined;
  /** Null: the worker has none, and nothing is sent. */
  secret: string | null;
  /** What may be reached beside the internet; undefined: nothing. */
  networks: BlockList | undefined;
  /** Default: as the system does. */
  resolve?: Resolve;
  /** The same for each try of the same event, so that the receiver can tell a repetition. */
  eventId: string;
  body: object;
  /** Until the whole answer is there; real time. */
  timeoutMs: number;
  longestAnswerBytes: number;
  nowReal: () => number;
  /** Ends the request when the process is asked to stop. */
  stopping: AbortSignal;
}

/**
 * Sends a signed JSON POST over a connection of its own, once, and answers the text of a 2xx. Follows no redirect: the address that was
 * written is the one that a person trusts. Connects to the internet and to `networks` only. Throws HookError for everything else.
 */
export async function postSigned(post: SignedPost): Promise<string> {
  const { secret, timeoutMs, stopping } = post;
  if (secret === null) throw new HookError('no_secret', 'CARILLON_HOOK_SECRET is not set for this worker');
  const keys = readSigningKeys(secret);
  if (keys === null) throw new HookError('no_secret', 'CARILLON_HOOK_SECRET cannot be used by this worker');
  const url = await openAddress(post);
  refuseWritten(url, post.networks);
  const body = JSON.stringify(post.body);
  const timeout = AbortSignal.timeout(timeoutMs);
  const client = new Client(url.origin, {
    connect: { timeout: timeoutMs, lookup: lookupWithin(post.networks, post.resolve) },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: post.longestAnswerBytes,
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
    const text = await answer.body.text();
    const { statusCode: status } = answer;
    if (status >= 300 && status < 400)
      throw new HookError('redirect', `it answered with a redirect (${status}), which is not followed`, status);
    if (status < 200 || status > 299) throw new HookError('status', `it answered with status ${status}`, status);
    return text;
  } catch (error) {
    throw asHookError(error, post, timeout);
  } finally {
    await client.destroy();
  }
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

function asHookError(error: unknown, post: SignedPost, timeout: AbortSignal): HookError {
  if (error instanceof HookError) return error;
  const code = codeOf(error);
  if (post.stopping.aborted) return new HookError('stopped', 'this worker is being stopped');
  if (timeout.aborted || code === 'UND_ERR_CONNECT_TIMEOUT')
    return new HookError('timeout', `it did not answer within ${post.timeoutMs / 1000} s`);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new HookError('too_large', `its answer is larger than ${post.longestAnswerBytes} bytes`);
  return new HookError('no_connection', `no connection, or it broke${code === null ? '' : ` (${code})`}`);
}

import { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';

export async function pause(realMs: number, closing: AbortSignal): Promise<void> {
  await sleep(realMs, undefined, { signal: closing, ref: false }).catch((error: unknown) => {
    if (!closing.aborted) throw error;
  });
}

/** Waits until the caller gives up: closing the server cuts the connection too. */
export function never(): Promise<never> {
  return new Promise(() => {});
}

export function cutConnection(request: FastifyRequest): void {
  request.exchange.cut = true;
  request.raw.socket.resetAndDestroy();
}

/** Announces the whole body, sends its beginning, and closes the connection. */
export function breakOff(request: FastifyRequest, reply: FastifyReply, beginning: string, whole: string): Readable {
  reply.header('content-length', Buffer.byteLength(whole));
  async function* pieces(): AsyncGenerator<Buffer> {
    yield Buffer.from(beginning);
    request.exchange.cut = true;
    // Headers and beginning leave at the end of this turn.
    await nextTurn();
    request.raw.socket.destroySoon();
  }
  return Readable.from(pieces(), { objectMode: false });
}

export function dribble(
  reply: FastifyReply,
  body: string,
  { bytes, pauseMs }: { bytes: number; pauseMs: number },
  closing: AbortSignal,
): Readable {
  const whole = Buffer.from(body);
  reply.header('content-length', whole.length);
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let from = 0; from < whole.length; from += bytes) {
      if (from > 0) await pause(pauseMs, closing);
      yield whole.subarray(from, from + bytes);
    }
  }
  return Readable.from(pieces(), { objectMode: false, highWaterMark: 1 });
}

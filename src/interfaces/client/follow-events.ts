import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { outlines } from '../../operations/outlines.ts';
import type { event } from '../../operations/events.ts';
import { CarillonProblem, CarillonUnreachable, problemOfAnswer, addressOf, type CarillonClientOptions } from './request.ts';

/** An event of the log. Has no number, no name and no words of a call. */
export type CarillonEvent = z.output<typeof event>;

/** What to follow, and for how long. */
export interface FollowInput {
  /** Only this campaign's events. */
  campaign?: string;
  /** `seq` of the last known event, or `cursor` of `listEvents`. Default: from now on. */
  after?: number;
  /** Ends the iteration without an error, as does leaving the loop. */
  signal?: AbortSignal;
}

const { route: eventStream } = outlines.followEvents;
const firstPauseMs = 200;
const longestPauseMs = 15_000;
const mostFirstTries = 3;
/** The server sends something every 15 seconds. */
const longestSilenceMs = 45_000;

/**
 * New events in order, each once; reconnects without limit where a stream broke. Throws CarillonProblem for a permanent refusal, and
 * CarillonUnreachable if the first connection fails three times.
 */
export async function* followEvents(
  options: CarillonClientOptions,
  { campaign, after, signal }: FollowInput = {},
): AsyncGenerator<CarillonEvent, void> {
  const address = addressOf(options, eventStream, { query: { campaign, after } });
  const ended = signal ?? new AbortController().signal;
  let lastId: string | null = null;
  let failures = 0;
  while (!ended.aborted) {
    const connection = new AbortController();
    const silence = setTimeout(() => connection.abort(), longestSilenceMs);
    try {
      const response = await openStream(options, address, {
        lastId,
        signal: AbortSignal.any([ended, connection.signal]),
      });
      for await (const { id, data } of readSentBlocks(response.body ?? new ReadableStream())) {
        silence.refresh();
        failures = 0;
        lastId = id ?? lastId;
        if (data !== null) yield JSON.parse(data) as CarillonEvent;
      }
    } catch (error) {
      if (ended.aborted) return;
      if (error instanceof CarillonProblem && error.status < 500) throw error;
      failures += 1;
      if (lastId === null && failures === mostFirstTries) {
        if (error instanceof CarillonProblem) throw error;
        throw new CarillonUnreachable(eventStream, { key: null, tries: failures, cause: error });
      }
    } finally {
      clearTimeout(silence);
      connection.abort();
    }
    const pauseMs = Math.min(firstPauseMs * 2 ** failures, longestPauseMs);
    await pause(pauseMs, undefined, { signal: ended }).catch(() => {});
  }
}

async function openStream(
  { token }: CarillonClientOptions,
  address: URL,
  { lastId, signal }: { lastId: string | null; signal: AbortSignal },
): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, ...(lastId === null ? {} : { 'last-event-id': lastId }) };
  const response = await fetch(address, { headers, signal, redirect: 'manual' });
  if (!response.ok) throw await problemOfAnswer(eventStream, response);
  return response;
}

interface SentBlock {
  /** Position to resume from; null: none. */
  id: string | null;
  /** Null: no event, only an id or a keep-alive. */
  data: string | null;
}

/** Parses event streams as the API writes them: `id`, `data`, and comments. Drops an incomplete block. */
async function* readSentBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SentBlock, void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) yield parseBlock(block);
  }
}

function parseBlock(block: string): SentBlock {
  const found: SentBlock = { id: null, data: null };
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(id|data): ?(.*)$/.exec(line) ?? [];
    if (name === 'id') found.id = value;
    if (name === 'data') found.data = found.data === null ? value : `${found.data}\n${value}`;
  }
  return found;
}

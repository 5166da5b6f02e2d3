import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { operations } from '../operations/list.ts';
import type { event } from '../operations/schemas/events.ts';
import { CarillonProblem, CarillonUnreachable, problemOfAnswer } from './errors.ts';
import { addressOf, type CarillonClientOptions } from './request.ts';
import { readSentBlocks } from './server-sent-events.ts';

/** An event of the log. No number, no name and nothing that was said is in it. */
export type CarillonEvent = z.output<typeof event>;

/** What to follow, and until when. */
export interface FollowInput {
  /** Only events of this campaign. */
  campaign?: string;
  /** `seq` of the last event that is known, or `cursor` of `listEvents`. Left out: from now on. */
  after?: number;
  /** Ends the iteration, without an error. Leaving the loop ends it too. */
  signal?: AbortSignal;
}

const { route: eventStream } = operations.followEvents;
const firstPauseMs = 200;
const longestPauseMs = 15_000;
const mostFirstTries = 3;
/** The server says something every 15 seconds. */
const longestSilenceMs = 45_000;

/**
 * Events as they are added, in their order, each once. A stream that breaks is taken up where it broke, as often as it takes. Throws
 * CarillonProblem for a refusal that will not pass, and CarillonUnreachable if the first connection fails three times.
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

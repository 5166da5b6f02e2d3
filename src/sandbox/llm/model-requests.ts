import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseJson } from '../core/json.ts';
import { isoTime } from '../core/times.ts';
import { serveControl } from '../http/serve-control.ts';
import { identifier } from '../schemas/building-blocks.ts';
import type { Completion } from './completion.ts';

export interface ModelRequest {
  sequence: number;
  conversationId: string;
  at: number;
  /** Without the values of its query. */
  address: string;
  headerNames: string[];
  /** The body as sent; cut off beyond 32,768 characters. */
  request: string;
  /** These and the answer are filled in as it comes, also of one that failed. */
  status: number | null;
  firstTokenMs: number | null;
  durationMs: number | null;
  answer: Completion | null;
  /** Null while it is under way and when all went well. */
  failure: { code: string; message: string } | null;
}

const longest = 1_000;
const longestRequest = 32_768;

export class ModelRequestLog {
  #entries: ModelRequest[] = [];
  readonly #forgotten = new Set<string>();
  #sequence = 0;

  begin(facts: Pick<ModelRequest, 'conversationId' | 'at' | 'address' | 'headerNames' | 'request'>): ModelRequest {
    const entry: ModelRequest = {
      sequence: ++this.#sequence,
      ...facts,
      request: facts.request.length > longestRequest ? `${facts.request.slice(0, longestRequest)}…` : facts.request,
      status: null,
      firstTokenMs: null,
      durationMs: null,
      answer: null,
      failure: null,
    };
    // A conversation may be deleted while its agent is still speaking.
    if (!this.#forgotten.has(facts.conversationId)) this.#entries.push(entry);
    if (this.#entries.length > longest) this.#entries.shift();
    return entry;
  }

  list(conversationId?: string): ModelRequest[] {
    return this.#entries.filter((entry) => conversationId === undefined || entry.conversationId === conversationId);
  }

  forget(conversationId: string): void {
    this.#forgotten.add(conversationId);
    this.#entries = this.#entries.filter((entry) => entry.conversationId !== conversationId);
  }

  clear(): void {
    this.#forgotten.clear();
    this.#entries = [];
  }
}

const requestsQuery = z.strictObject({
  conversation_id: identifier.optional(),
  limit: z.coerce.number().int().min(1).max(longest).default(longest),
});

/** What agents' own models were asked and what they answered, oldest first; `limit` keeps the newest. */
export function controlModelRequests(app: FastifyInstance, modelRequests: ModelRequestLog): void {
  serveControl(app, 'GET /_sandbox/model-requests', {
    says: "Lists what agents' own models were asked and what they answered.",
    query: requestsQuery,
    answer: ({ query }) => {
      const { conversation_id: conversationId, limit } = query();
      return { model_requests: modelRequests.list(conversationId).slice(-limit).map(describe) };
    },
  });
}

function describe({ answer, ...entry }: ModelRequest): Record<string, unknown> {
  return {
    sequence: entry.sequence,
    conversation_id: entry.conversationId,
    time: isoTime(entry.at),
    url: entry.address,
    header_names: entry.headerNames,
    // A body that was cut off is no JSON any more and is shown as text.
    request: parseJson(entry.request) ?? entry.request,
    status: entry.status,
    first_token_ms: entry.firstTokenMs,
    duration_ms: entry.durationMs,
    answer: answer && {
      text: answer.text,
      tool_calls: answer.tools.map(({ id, name, argumentsText }) => ({ id, name, arguments: argumentsText })),
      finish_reason: answer.finishReason,
      usage: answer.usage,
    },
    failure: entry.failure,
  };
}

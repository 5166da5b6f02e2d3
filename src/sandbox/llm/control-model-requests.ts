import { parseJson } from '../core/json.ts';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ModelRequest, ModelRequestLog } from './model-request-log.ts';
import { isoTime } from '../core/times.ts';
import { serveControl } from '../http/serve-control.ts';
import { identifier } from '../schemas/building-blocks.ts';

const requestsQuery = z.strictObject({
  conversation_id: identifier.optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(1_000),
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

function describe(entry: ModelRequest): Record<string, unknown> {
  const { answer } = entry;
  return {
    sequence: entry.sequence,
    conversation_id: entry.conversationId,
    purpose: entry.purpose,
    time: isoTime(entry.at),
    url: entry.address,
    header_names: entry.headerNames,
    // A body that was cut off is no JSON any more and is shown as text.
    request: parseJson(entry.request) ?? entry.request,
    status: entry.status,
    streamed: entry.streamed,
    first_token_ms: entry.firstTokenMs,
    duration_ms: entry.durationMs,
    answer:
      answer === null
        ? null
        : {
            text: answer.text,
            tool_calls: answer.tools.map(({ id, name, argumentsText }) => ({ id, name, arguments: argumentsText })),
            finish_reason: answer.finishReason,
            usage: answer.usage,
          },
    failure: entry.failure,
  };
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readCursor, writeCursor } from '../http/cursor.ts';
import { describeConversation, describeListEntry, type ConversationView } from '../records/conversation-record.ts';
import { validate } from '../schemas/validate.ts';
import { notFound, type ServiceError } from '../service-error.ts';
import type { Service } from '../service.ts';
import { pathParameter, serveOperation } from './serve-operation.ts';

export function serveConversations(app: FastifyInstance, service: Service): void {
  const view = (): ConversationView => ({
    seed: service.settings.seed,
    dialect: service.settings.dialect,
    now: service.clock.now(),
  });

  serveOperation(app, 'get_conversation', (request) => {
    const id = pathParameter(request, 'conversation_id');
    const call = service.state.conversations.get(id);
    if (call === undefined) throw missing(service, id);
    return describeConversation(call, view());
  });

  serveOperation(app, 'list_conversations', (request) => {
    const query = validate(service.schemas.conversationPage, 'query', request.query);
    const agentId = query.agent_id ?? null;
    const list = `conversations of ${agentId ?? '*'}`;
    const { conversations, next } = service.state.conversations.page({
      agentId,
      start: readCursor(query.cursor, list, service.generation),
      size: query.page_size,
      order: service.settings.listOrder,
      now: service.clock.now(),
      madeBefore: youngestListed(request, service.clock.now()),
    });
    const cursor = next === null ? null : writeCursor({ list, generation: service.generation, position: next });
    const seen = view();
    return {
      conversations: conversations.map((call) => describeListEntry(call, seen)),
      has_more: cursor !== null,
      next_cursor: cursor,
    };
  });

  serveOperation(app, 'delete_conversation', (request, reply) => {
    const id = pathParameter(request, 'conversation_id');
    if (!service.state.conversations.delete(id)) throw missing(service, id);
    return service.settings.dialect === 'spec' ? reply.code(204).send() : {};
  });
}

function missing(service: Service, id: string): ServiceError {
  if (service.state.conversations.wasDeleted(id)) service.conduct.noteDeletedUse('conversation', id);
  return notFound('conversation', id);
}

/** A fault may keep young records out of this very reading of the list. */
function youngestListed(request: FastifyRequest, now: number): number {
  const lags = request.exchange.hits.map(({ effect }) => (effect.type === 'hide' ? effect.ms : 0));
  const lagMs = Math.max(0, ...lags);
  return lagMs === 0 ? Infinity : now - lagMs;
}

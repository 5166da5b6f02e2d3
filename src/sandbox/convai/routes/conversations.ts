import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readCursor, writeCursor } from '../../http/cursor.ts';
import { describeConversation, describeListEntry } from '../records/conversation-record.ts';
import type { ConversationView } from '../records/seen-conversation.ts';
import { missingConversation } from '../../core/service/found.ts';
import type { Service } from '../../core/service/service.ts';
import { pathParameter, serveOperation, readQuery } from '../../http/serve-operation.ts';

export function serveConversations(app: FastifyInstance, service: Service): void {
  serveOperation(app, 'get_conversation', (request) => {
    const id = pathParameter(request, 'conversation_id');
    const call = service.state.conversations.get(id);
    if (call === undefined) throw missingConversation(service, id);
    return describeConversation(call, viewConversations(service, `${request.protocol}://${request.host}`));
  });

  serveOperation(app, 'list_conversations', (request) => {
    const query = readQuery(request, service.schemas.conversationPage);
    const agentId = query.agent_id ?? null;
    const list = { list: `conversations of ${agentId ?? '*'}`, generation: service.generation };
    const { conversations, next } = service.state.conversations.page({
      agentId,
      start: readCursor(query.cursor, list)?.position ?? null,
      size: query.page_size,
      order: service.settings.listOrder,
      now: service.clock.now(),
      madeBefore: youngestListed(request, service.clock.now()),
    });
    const cursor = next === null ? null : writeCursor({ ...list, position: next });
    const seen = viewConversations(service, `${request.protocol}://${request.host}`);
    return { conversations: conversations.map((call) => describeListEntry(call, seen)), has_more: cursor !== null, next_cursor: cursor };
  });

  serveOperation(app, 'delete_conversation', (request, reply) => {
    const id = pathParameter(request, 'conversation_id');
    if (!service.state.conversations.delete(id)) throw missingConversation(service, id);
    for (const feature of service.features) feature.forget?.(id);
    return service.settings.dialect === 'spec' ? reply.code(204).send() : {};
  });
}

export function viewConversations(
  { settings, clock, recordingAddress, people, clockSteps }: Service,
  baseUrl: string,
  now = clock.now(),
): ConversationView {
  return {
    seed: settings.seed,
    dialect: settings.dialect,
    now,
    habits: people.records,
    shownTime: (at) => clockSteps.shown(at),
    audioUrl: (conversationId) => recordingAddress?.(baseUrl, conversationId, now) ?? null,
  };
}

/** A fault may keep young records out of this very reading of the list. */
function youngestListed(request: FastifyRequest, now: number): number {
  const lags = request.exchange.hits.map(({ effect }) => (effect.type === 'hide' ? effect.ms : 0));
  const lagMs = Math.max(0, ...lags);
  return lagMs === 0 ? Infinity : now - lagMs;
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readCursor, writeCursor } from '../../http/cursor.ts';
import { describeConversation, describeListEntry } from '../records/conversation-record.ts';
import { conversationFilter } from '../records/conversation-filter.ts';
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

  const list = (request: FastifyRequest): unknown => {
    const query = readQuery(request, service.schemas.conversationPage);
    const {
      agent_id: agentId = null,
      cursor: from,
      page_size: size,
      summary_mode: summaries,
      sort_direction: direction,
      ...filters
    } = query;
    const filtered = Object.keys(filters).length === 0 && direction === undefined ? '' : ` ${JSON.stringify({ ...filters, direction })}`;
    const list = { list: `conversations of ${agentId ?? '*'}${filtered}`, generation: service.generation };
    const seen = viewConversations(service, `${request.protocol}://${request.host}`);
    const { conversations, next } = service.state.conversations.page({
      agentId,
      start: readCursor(from, list)?.position ?? null,
      size,
      order: direction === undefined ? service.settings.listOrder : direction === 'asc' ? 'oldest_first' : 'newest_first',
      now: service.clock.now(),
      madeBefore: youngestListed(request, service.clock.now()),
      matches: conversationFilter(filters, seen),
    });
    const cursor = next === null ? null : writeCursor({ ...list, position: next });
    const entries = conversations.map((call) => describeListEntry(call, seen, summaries === 'include'));
    return { conversations: entries, has_more: cursor !== null, next_cursor: cursor };
  };
  const first = (request: FastifyRequest) => readQuery(request, service.schemas.conversationPage);
  serveOperation(app, 'list_conversations', list, [], service.settings.dialect === 'published' ? first : undefined);

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

/** A fault may keep what is young out of this very reading of a list. */
export function youngestListed(request: FastifyRequest, now: number): number {
  const lags = request.exchange.hits.map(({ effect }) => (effect.type === 'hide' ? effect.ms : 0));
  const lagMs = Math.max(0, ...lags);
  return lagMs === 0 ? Infinity : now - lagMs;
}

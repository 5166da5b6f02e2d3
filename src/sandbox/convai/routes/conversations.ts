import type { FastifyReply, FastifyRequest } from 'fastify';
import { factsOf, type DialectFacts } from '../../core/dialects.ts';
import { missingConversation } from '../../core/service/found.ts';
import type { Service } from '../../core/service/service.ts';
import { readCursor, writeCursor } from '../../http/cursor.ts';
import type { Handlers } from '../../http/serve-routes.ts';
import { conversationFilter } from '../records/conversation-filter.ts';
import { describeConversation, describeListEntry } from '../records/conversation-record.ts';
import type { ConversationView } from '../records/seen-conversation.ts';

export function conversationRoutes(service: Service): Partial<Handlers> {
  const view = ({ protocol, host }: FastifyRequest): ConversationView => viewConversations(service, `${protocol}://${host}`);
  return {
    get_conversation: ({ request, id }) => {
      const conversationId = id('conversation_id');
      const call = service.state.conversations.get(conversationId);
      if (call === undefined) throw missingConversation(service, conversationId);
      return describeConversation(call, view(request));
    },

    list_conversations: ({ request, query }) => {
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
      const seen = view(request);
      const { conversations, next } = service.state.conversations.page({
        agentId,
        start: readCursor(from, list)?.position ?? null,
        size,
        order: direction === undefined ? service.settings.listOrder : direction === 'asc' ? 'oldest_first' : 'newest_first',
        now: service.clock.now(),
        madeBefore: youngestListed(request, service.clock.now()),
        matches: conversationFilter(filters, seen),
      });
      const cursor = next === null ? null : writeCursor(list, { position: next });
      const entries = conversations.map((call) => describeListEntry(call, seen, summaries === 'include'));
      return { conversations: entries, has_more: cursor !== null, next_cursor: cursor };
    },

    delete_conversation: ({ id, reply }) => {
      const conversationId = id('conversation_id');
      if (!service.state.conversations.delete(conversationId)) throw missingConversation(service, conversationId);
      for (const feature of service.features) feature.forget?.(conversationId);
      return confirm(reply, factsOf(service.settings));
    },
  };
}

/** Confirms a deletion: `{}` in dialects with further routes, else 204 without a body. */
export function confirm(reply: FastifyReply, { further }: DialectFacts): unknown {
  return further ? {} : reply.code(204).send();
}

export function viewConversations(
  { settings, clock, recordingAddress, people, clockSteps }: Service,
  baseUrl: string,
  now = clock.now(),
): ConversationView {
  return {
    seed: settings.seed,
    facts: factsOf(settings),
    now,
    habits: people.records,
    shownTime: (at) => clockSteps.shown(at),
    audioUrl: (conversationId) => recordingAddress?.(baseUrl, conversationId, now) ?? null,
  };
}

/** Newest creation time that this read shows; a `hide` fault leaves out younger items. */
export function youngestListed(request: FastifyRequest, now: number): number {
  const lags = request.exchange.hits.map(({ effect }) => (effect.type === 'hide' ? effect.ms : 0));
  const lagMs = Math.max(0, ...lags);
  return lagMs === 0 ? Infinity : now - lagMs;
}

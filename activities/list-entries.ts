import type { ConversationPage } from '../src/convai/client.ts';
import { factsFromListEntry } from '../src/convai/record-facts.ts';
import { unreadableId } from '../src/convai/storable-id.ts';
import type { ConversationFacts, RecordPointers } from '../src/domain/conversation-facts.ts';

/**
 * Facts of all entries of a page, each under an id: one without gets an id of ours that follows from what is known of it, since a record
 * that cannot be read may be anybody's all the same. Entries of one page that show the same are told apart by their order.
 */
export function factsOfPage(agentId: string, page: ConversationPage, pointers: RecordPointers): ConversationFacts[] {
  const seen = new Map<string, number>();
  return [...page.conversations, ...page.unusable].map((entry) => {
    const facts = factsFromListEntry(entry, pointers);
    if (facts.conversationId !== '') return facts;
    const traits = JSON.stringify([agentId, facts.startedAt, facts.calleeNumber, facts.batchId, facts.direction]);
    const nth = (seen.get(traits) ?? 0) + 1;
    seen.set(traits, nth);
    return { ...facts, conversationId: unreadableId(`${traits} ${nth}`) };
  });
}

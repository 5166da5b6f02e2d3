import { storeGone, type ConversationRow } from '../doubt/conversations.ts';
import type { Queries } from '../open-ledger.ts';

/** One such record must not be what every sweep fails on. */
const pauseMs = 60_000;

/**
 * Notes that the service answered a read of this record alone with a fault. The record is left alone for a while; once every read
 * has failed for `patienceMs` it counts as gone, and its row is answered.
 */
export async function noteUnreadable(
  tx: Queries,
  conversationId: string,
  patienceMs: number,
  now: number,
): Promise<ConversationRow | undefined> {
  const row = await tx
    .selectFrom('conversations')
    .select('unreadable_since')
    .where('conversation_id', '=', conversationId)
    .executeTakeFirstOrThrow();
  const since = row.unreadable_since ?? now;
  if (now - since >= patienceMs) return storeGone(tx, conversationId, now);
  await tx
    .updateTable('conversations')
    .set({ unreadable_since: since, next_read_at: now + pauseMs })
    .where('conversation_id', '=', conversationId)
    .execute();
  return undefined;
}

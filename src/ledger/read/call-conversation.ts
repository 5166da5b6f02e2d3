import { openAttemptStates } from '../../rules/ledger.ts';
import type { Queries } from '../tx.ts';

export interface CallConversation {
  attemptId: string;
  recipientId: string;
  /** Whether its result is still to come. */
  isOpen: boolean;
  /** Null: none is known to be its own. */
  conversationId: string | null;
  /** False while the call or its analysis goes on. */
  final: boolean;
  /** True when the service said that it has it no more. */
  gone: boolean;
}

/** The call of this number of a row; undefined when there is none. */
export async function findCallConversation(
  db: Queries,
  { campaignId, row, call }: { campaignId: string; row: number; call: number },
): Promise<CallConversation | undefined> {
  const found = await db
    .selectFrom('attempts')
    .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
    .leftJoin('conversations', 'conversations.attempt_id', 'attempts.attempt_id')
    .select([
      'attempts.attempt_id',
      'attempts.recipient_id',
      'attempts.state',
      'conversations.conversation_id',
      'conversations.final',
      'conversations.gone',
    ])
    .where('recipients.campaign_id', '=', campaignId)
    .where('recipients.row_number', '=', row)
    .where('attempts.number', '=', call)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  return {
    attemptId: found.attempt_id,
    recipientId: found.recipient_id,
    isOpen: openAttemptStates.includes(found.state),
    conversationId: found.conversation_id,
    final: found.final === 1,
    gone: found.gone === 1,
  };
}

import { sql } from 'kysely';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { findPossibleOwners } from './doubts.ts';
import { appendEvents } from '../events.ts';
import type { Tx } from '../tx.ts';
import { accountScope, addSuppression, findEntries } from '../rows/suppressions.ts';
import { updateConversation } from '../updates.ts';
import type { AttemptRow, ConversationRow } from '../schema.ts';

/** Handling of an opt-out (`conversations.heard`). */
export const optOutState = { nothing: 0, toFollow: 1, followed: 2 } as const;

/** Suppresses every number whose call an unowned record with an opt-out may be; lifted when the record turns out to be another call's. */
export async function followPossibleOptOuts(
  tx: Tx,
  agentId: string,
  { timing, now }: { timing: CampaignRules['timing']; now: number },
): Promise<void> {
  const rows = await tx
    .selectFrom('conversations')
    .selectAll()
    .where('agent_id', '=', agentId)
    // A literal, so that the partial index applies.
    .where('heard', '=', sql.lit(optOutState.toFollow))
    .execute();
  for (const row of rows) {
    if (row.attempt_id === null) await suppressPossible(tx, row, { timing, now });
    await updateConversation(tx, row.conversation_id, { heard: optOutState.followed });
  }
}

async function suppressPossible(tx: Tx, row: ConversationRow, { timing, now }: { timing: CampaignRules['timing']; now: number }) {
  const source = sourceOf(row.conversation_id);
  const owners = row.caller === null ? await findPossibleOwners(tx, row, timing) : [];
  const campaignOf = new Map(owners.map((attempt) => [attempt.e164, attempt.campaign_id]));
  if (row.caller !== null) campaignOf.set(row.caller, accountScope);
  const reason = row.caller === null ? 'may have opted out in a call' : 'opted out in a call of their own';
  // Fixed order, as for other writers of the list.
  for (const [e164, campaignId] of [...campaignOf].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const known = (await findEntries(tx, [e164])).some((entry) => entry.scope === accountScope && entry.expiresAt === null);
    if (known) continue;
    await addSuppression(tx, { e164, scope: accountScope, source, reason, expiresAt: null }, now);
    const data = { scope: accountScope, e164, source };
    await appendEvents(tx, [{ at: now, campaignId, type: 'suppression.added', data }]);
  }
}

/** The record now has an owner: lifts the entries of the others. */
export async function liftPossibleOptOuts(
  tx: Tx,
  owner: AttemptRow,
  { conversationId, now }: { conversationId: string; now: number },
): Promise<void> {
  const source = sourceOf(conversationId);
  const lifted = await tx
    .deleteFrom('suppressions')
    .where('source', '=', source)
    .where('e164', '!=', owner.e164)
    .returning('e164')
    .execute();
  if (lifted.length === 0) return;
  const { campaign_id: campaignId, agent_id: agentId } = owner;
  await appendEvents(
    tx,
    lifted.map(({ e164 }) => ({
      at: now,
      campaignId,
      type: 'suppression.removed' as const,
      data: { e164, scope: accountScope, source },
    })),
  );
  // Another record may concern the same number, which already had its entry.
  await sql`update conversations set heard = ${optOutState.toFollow}
    where agent_id = ${agentId} and heard = ${optOutState.followed} and attempt_id is null`.execute(tx);
}

function sourceOf(conversationId: string): string {
  return `possible:${conversationId}`;
}

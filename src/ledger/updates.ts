import type { Updateable } from 'kysely';
import type { AttemptState } from '../domain/ledger.ts';
import type { Tx } from './tx.ts';
import type { Database } from './schema.ts';

type Changes<Table extends keyof Database> = Updateable<Database[Table]>;

/** Changes one campaign. Its state is changed by `changeCampaignState`. */
export async function updateCampaign(tx: Tx, campaignId: string, changes: Changes<'campaigns'>): Promise<void> {
  await tx.updateTable('campaigns').set(changes).where('campaign_id', '=', campaignId).execute();
}

/** Changes one round, of whatever names its campaign and its number. */
export async function updateRound(
  tx: Tx,
  { campaign_id: campaignId, round }: { campaign_id: string; round: number },
  changes: Changes<'rounds'>,
): Promise<void> {
  const update = tx.updateTable('rounds').set(changes);
  await update.where('campaign_id', '=', campaignId).where('round', '=', round).execute();
}

/** Changes one recipient. */
export async function updateRecipient(tx: Tx, recipientId: string, changes: Changes<'recipients'>): Promise<void> {
  await tx.updateTable('recipients').set(changes).where('recipient_id', '=', recipientId).execute();
}

/** Changes one batch. Its state is changed by `compareAndSetBatch` alone. */
export async function updateBatch(tx: Tx, batchId: string, changes: Omit<Changes<'batches'>, 'state'>): Promise<void> {
  await tx.updateTable('batches').set(changes).where('batch_id', '=', batchId).execute();
}

/** Changes one attempt. */
export async function updateAttempt(tx: Tx, attemptId: string, changes: Changes<'attempts'>): Promise<void> {
  await tx.updateTable('attempts').set(changes).where('attempt_id', '=', attemptId).execute();
}

/** Changes the attempts of a batch that are in one of these states. */
export async function updateAttemptsOf(
  tx: Tx,
  { batch_id: batchId, states }: { batch_id: string; states: readonly AttemptState[] },
  changes: Changes<'attempts'>,
): Promise<void> {
  const update = tx.updateTable('attempts').set(changes);
  await update.where('batch_id', '=', batchId).where('state', 'in', states).execute();
}

/** Changes what is stored of one conversation. */
export async function updateConversation(tx: Tx, id: string, changes: Changes<'conversations'>): Promise<void> {
  await tx.updateTable('conversations').set(changes).where('conversation_id', '=', id).execute();
}

/** Changes what is known of one agent. */
export async function updateAgent(tx: Tx, agentId: string, changes: Changes<'agents'>): Promise<void> {
  await tx.updateTable('agents').set(changes).where('agent_id', '=', agentId).execute();
}

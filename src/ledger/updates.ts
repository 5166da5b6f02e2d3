import type { Updateable } from 'kysely';
import type { AttemptState } from '../rules/ledger.ts';
import { preparedByShape } from './prepared.ts';
import type { Tx } from './tx.ts';
import type { Database } from './schema.ts';

type Changes<Table extends keyof Database> = Updateable<Database[Table]>;

/** Runs for every single call. */
function updateOne<Table extends 'recipients' | 'attempts' | 'batches' | 'conversations' | 'agents'>(
  table: Table,
  keyColumn: keyof Database[Table] & string,
): (tx: Tx, key: string, changes: Changes<Table>) => Promise<void> {
  const run = preparedByShape((columns) => (tx: Tx, values: Record<string, unknown>) => {
    const changes = Object.fromEntries(columns.split(' ').map((column) => [column, values[column]]));
    // For the types; the text applies to all tables.
    const query = tx.updateTable(table as 'recipients').set(changes);
    return query.where(keyColumn as 'recipient_id', '=', values['key'] as string);
  });
  return async (tx, key, changes) => {
    const set = Object.entries(changes).filter(([, value]) => value !== undefined);
    if (set.length === 0) return;
    const columns = set.map(([column]) => column).join(' ');
    await run(tx, columns, { ...Object.fromEntries(set), key });
  };
}

/** Except its state (`changeCampaignState`). */
export async function updateCampaign(tx: Tx, campaignId: string, changes: Changes<'campaigns'>): Promise<void> {
  await tx.updateTable('campaigns').set(changes).where('campaign_id', '=', campaignId).execute();
}

export async function updateRound(
  tx: Tx,
  { campaign_id: campaignId, round }: { campaign_id: string; round: number },
  changes: Changes<'rounds'>,
): Promise<void> {
  const update = tx.updateTable('rounds').set(changes);
  await update.where('campaign_id', '=', campaignId).where('round', '=', round).execute();
}

export const updateRecipient = updateOne('recipients', 'recipient_id');

/** Except its state (`compareAndSetBatch`). */
export const updateBatch: (tx: Tx, batchId: string, changes: Omit<Changes<'batches'>, 'state'>) => Promise<void> = updateOne(
  'batches',
  'batch_id',
);

export const updateAttempt = updateOne('attempts', 'attempt_id');

export async function updateAttemptsOf(
  tx: Tx,
  { batch_id: batchId, states }: { batch_id: string; states: readonly AttemptState[] },
  changes: Changes<'attempts'>,
): Promise<void> {
  const update = tx.updateTable('attempts').set(changes);
  await update.where('batch_id', '=', batchId).where('state', 'in', states).execute();
}

export const updateConversation = updateOne('conversations', 'conversation_id');

export const updateAgent = updateOne('agents', 'agent_id');

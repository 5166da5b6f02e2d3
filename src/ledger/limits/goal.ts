import { openAttemptStates } from '../../rules/ledger.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { goalsOf } from '../../rules/talk-results.ts';
import { readAggregates } from '../aggregates.ts';
import { appendEvents } from '../events.ts';
import { countRows } from '../reads.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { At, Queries, Tx } from '../tx.ts';

async function countGoals(db: Queries, campaignId: string, { results }: Pick<CampaignRules, 'results'>): Promise<number> {
  const goals = goalsOf(results);
  const counts = await readAggregates(db, campaignId, ['result']);
  return counts.reduce((sum, { value, count }) => sum + (goals.has(value) ? count : 0), 0);
}

/**
 * Notes that the goal is reached in the transaction of the talk that did it, so that later dials see it. A later correction changes
 * nothing.
 */
export async function noteGoal(tx: Tx, { campaignId, now }: At, rules: CampaignRules): Promise<void> {
  if (rules.stopAt === undefined) return;
  const goals = await countGoals(tx, campaignId, rules);
  if (goals < rules.stopAt.goal) return;
  const reached = await tx
    .updateTable('campaigns')
    .set((eb) => ({ goal_round: eb.ref('round') }))
    .where('campaign_id', '=', campaignId)
    .where('goal_round', 'is', null)
    .executeTakeFirst();
  if (reached.numUpdatedRows === 1n) await appendEvents(tx, [{ at: now, campaignId, type: 'goal.reached', data: { goals } }]);
}

/** Calls that may be begun although each of them may come to the goal; null: nothing limits them. */
export async function goalAllowance(db: Queries, { campaignId, rules, goal }: Campaign): Promise<number | null> {
  const { stopAt } = rules;
  if (stopAt?.overshoot !== 'none' || goal !== 'missing') return null;
  const attempts = db.selectFrom('attempts').where('campaign_id', '=', campaignId);
  const open = await countRows(attempts.where('state', 'in', openAttemptStates));
  // Of a record that is read to its end the result is known, or there is none.
  const unread = db.selectFrom('conversations').innerJoin('attempts', 'attempts.attempt_id', 'conversations.attempt_id');
  const untold = await countRows(
    unread.where('final', '=', 0).where('attempts.campaign_id', '=', campaignId).where('attempts.state', '=', 'settled'),
  );
  return Math.max(0, stopAt.goal - (await countGoals(db, campaignId, rules)) - open - untold);
}

/** Whether somebody waits who is not called any more since the campaign has reached its goal. */
export async function isAnyoneSpared(db: Queries, { campaignId, goal }: Pick<Campaign, 'campaignId' | 'goal'>): Promise<boolean> {
  if (goal !== 'reached') return false;
  const waiting = db.selectFrom('recipients').select('row_number').where('campaign_id', '=', campaignId).where('state', '=', 'waiting');
  return (await waiting.where('promise_id', 'is', null).limit(1).executeTakeFirst()) !== undefined;
}

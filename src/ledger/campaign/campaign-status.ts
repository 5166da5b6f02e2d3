import type { Outcome } from '../../rules/outcome.ts';
import { readAggregates } from '../aggregates.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { countOpen, countPlanned, nextDialableAt } from '../limits/counters.ts';
import { countBy } from '../reads.ts';
import type { Queries } from '../tx.ts';

export type CampaignStatus = Awaited<ReturnType<typeof readStatus>>;

/** Reads running counts and small indexes; cheap at any size. */
export async function readStatus(db: Queries, campaign: Campaign) {
  const aggregates = await readAggregates(db, campaign.campaignId, ['outcome', 'disposition', 'result']);
  const outcomes: Partial<Record<Outcome, number>> = {};
  const dispositions: Record<string, number> = {};
  const results: Record<string, number> = {};
  for (const { kind, value, count } of aggregates) {
    if (kind === 'outcome') outcomes[value as Outcome] = count;
    if (kind === 'disposition') dispositions[value] = count;
    if (kind === 'result') results[value] = count;
  }
  const done = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const planned = await countPlanned(db, campaign.campaignId);
  const open = (await countOpen(db, campaign.campaignId)) - planned;
  return {
    total: campaign.rowsTotal,
    /** Recipients with a final outcome, including rejected rows. */
    done,
    /** Calls sent, or being sent, without a result yet. */
    open,
    /** In batches not yet sent or returned unsent; occupy slots like open calls. */
    planned,
    waiting: Math.max(0, campaign.rowsTotal - done - open - planned),
    /** When the first waiting recipient whom the pilot allows is due (service time). */
    nextDueAt: await nextDialableAt(db, campaign),
    outcomes,
    dispositions,
    results,
    unresolved: outcomes.unresolved ?? 0,
    batches: await countBy(db.selectFrom('batches').where('campaign_id', '=', campaign.campaignId), 'state'),
  };
}

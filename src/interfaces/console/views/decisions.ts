import { count, empty, figure, link, panel, table } from '../../../presentation/html/elements.ts';
import { listCampaigns } from '../../../ledger/rows/campaigns.ts';
import { readAggregates } from '../../../ledger/aggregates.ts';
import { campaignPath } from '../core/links.ts';
import { stateBadge } from '../core/rows.ts';
import type { View, ViewRequest } from '../core/view.ts';

/** The people of all campaigns of whom nobody knows whether they were called, by campaign. */
export async function decisionsView({ context: { store } }: ViewRequest): Promise<View> {
  const waiting: { campaignId: string; cells: Record<string, ReturnType<typeof link>> }[] = [];
  for (const { campaignId, state } of (await listCampaigns(store.db)).toReversed()) {
    const outcomes = await readAggregates(store.db, campaignId, ['outcome']);
    const people = outcomes.find(({ value }) => value === 'unresolved')?.count ?? 0;
    if (people === 0) continue;
    const cells = { Campaign: link(campaignPath(campaignId, '/unresolved'), campaignId), People: figure(people), State: stateBadge(state) };
    waiting.push({ campaignId, cells });
  }
  return {
    title: 'Needs a decision',
    section: 'decisions',
    follows: 'all',
    body: panel(
      `${count(waiting.length, 'campaign')} with people to decide about`,
      table(
        'People to decide about, by campaign',
        waiting.map(({ campaignId, cells }) => ({ key: `decide-${campaignId}`, cells })),
        empty(
          'Nobody needs a decision',
          'Whoever may have been called without anybody knowing stands here, and is not called again before.',
        ),
      ),
    ),
  };
}

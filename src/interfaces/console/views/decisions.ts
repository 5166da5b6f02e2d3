import { link, panel } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { readDoubtfulPage } from '../../../ledger/doubt/doubtful-rows.ts';
import { countUndecidedPeople } from '../../../ledger/read/doubt-counts.ts';
import { listCampaigns, type Campaign } from '../../../ledger/rows/campaigns.ts';
import { campaignPath, withQuery } from '../core/links.ts';
import { campaignName } from '../core/rows.ts';
import { chip, chips, pager } from '../core/tools.ts';
import type { View, ViewRequest } from '../core/view.ts';
import { decisionPanel, decisionsTitle, noDecisions, whyTheyWait } from './unresolved.ts';

const pageSize = 25;

/** Newest campaign first. */
export async function decisionsView(request: ViewRequest): Promise<View> {
  const { db } = request.context.store;
  const people = await countUndecidedPeople(db);
  const campaigns = (await listCampaigns(db)).toReversed().filter(({ campaignId }) => people.has(campaignId));
  const open = [...people.values()].reduce((sum, each) => sum + each, 0);
  const { panels, next } = await readPage(request, campaigns);
  const isFirst = request.query('campaign') === '';
  return {
    title: decisionsTitle(open),
    section: 'decisions',
    follows: 'all',
    ...(open === 0 ? {} : { meta: html`<span>${whyTheyWait}</span>` }),
    body: [
      campaigns.length < 2 ? null : campaignChips(campaigns, people),
      panels.length > 0
        ? panels
        : panel('People', noDecisions('Whoever may have been called without anybody knowing stands here, and is not called again before.')),
      pager((at) => withQuery('/decisions', at), [!isFirst && ['First people', {}], next !== null && ['Next people', next]]),
    ],
  };
}

function campaignChips(campaigns: readonly Campaign[], people: ReadonlyMap<string, number>): Html {
  const shown = campaigns.map((campaign) =>
    chip(campaignPath(campaign.campaignId, '/unresolved'), campaignName(campaign), people.get(campaign.campaignId) ?? 0),
  );
  return chips('Campaigns with people to decide about', shown);
}

/** People from the position in the address; `next`: the position after them. */
async function readPage(
  request: ViewRequest,
  campaigns: readonly Campaign[],
): Promise<{ panels: HtmlValue[]; next: { campaign: string; after: number } | null }> {
  const { now, context } = request;
  const { db } = context.store;
  const fromCampaign = request.query('campaign');
  const at = campaigns.findIndex(({ campaignId }) => campaignId === fromCampaign);
  const panels: HtmlValue[] = [];
  for (const campaign of campaigns.slice(Math.max(0, at))) {
    const { campaignId } = campaign;
    const after = Number(request.query('after'));
    const afterRow = campaignId === fromCampaign && Number.isSafeInteger(after) && after > 0 ? after : 0;
    const { rows, next } = await readDoubtfulPage(db, campaign, { afterRow, limit: pageSize - panels.length, now });
    const where = link(campaignPath(campaignId, '/unresolved'), campaignName(campaign));
    panels.push(...rows.map((row) => decisionPanel(request, campaignId, row, where)));
    if (next !== null) return { panels, next: { campaign: campaignId, after: next } };
  }
  return { panels, next: null };
}

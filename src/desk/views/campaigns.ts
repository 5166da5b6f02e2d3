import { count, empty, figure, instant, link, panel, table } from '../../html/elements.ts';
import { html } from '../../html/html.ts';
import { readCampaignView, type CampaignView } from '../../ledger/read/campaign-view.ts';
import { listCampaigns } from '../../ledger/rows/campaigns.ts';
import { printable } from '../../input/printable.ts';
import { standstillText } from '../../words/standstill.ts';
import { stateBadge } from '../core/campaign-state.ts';
import { campaignPath } from '../core/links.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

/** All campaigns: how each stands, and what it waits for. */
export async function campaignsView(request: ViewRequest): Promise<View> {
  const { context, now, readings } = request;
  const { db } = context.store;
  const found = await readings.read('campaigns', async () => {
    const views: CampaignView[] = [];
    for (const campaign of await listCampaigns(db)) views.push(await readCampaignView(db, campaign, now));
    return views.toReversed();
  });
  return {
    title: 'Campaigns',
    section: 'campaigns',
    follows: 'all',
    body: panel(
      'All campaigns',
      table(
        'All campaigns, the newest first',
        found.map((view) => ({ key: `campaign-${view.campaign.campaignId}`, cells: cellsOf(view, request) })),
        empty(
          'There is no campaign yet',
          may(request, 'operate')
            ? html`${link('/new', 'Make one')} from a list, or start one with
                <code>carillon start campaign.yaml</code>.`
            : 'Whoever may operate can make one here, or with carillon start.',
        ),
      ),
    ),
  };
}

function cellsOf(view: CampaignView, { clock, context }: ViewRequest) {
  const { campaign, status, needs } = view;
  const { campaignId, name, state, createdAt } = campaign;
  return {
    Campaign: [
      link(campaignPath(campaignId), campaignId),
      name === null ? null : html`<span class="muted"> ${printable(name)}</span>`,
    ],
    State: stateBadge(state),
    Rows: html`${figure(status.done)} of ${figure(status.total)}`,
    Open: figure(status.open),
    'Why nobody is called': standstillText(campaign, { ...view, look: null }, { clock, now: context.now() }) ?? '–',
    'Needs a person': needs.length === 0 ? '–' : link(campaignPath(campaignId, '#needs'), count(needs.length, 'thing')),
    Imported: instant(createdAt, 'full'),
  };
}

import { requireCampaign } from '../../control/ledger.ts';
import { facts, figure, instant, link, panel } from '../../html/elements.ts';
import { html } from '../../html/html.ts';
import { printable } from '../../input/printable.ts';
import { readCampaignView } from '../../ledger/read/campaign-view.ts';
import { standstillText } from '../../words/standstill.ts';
import { stateBadge } from '../core/campaign-state.ts';
import { rowsPath } from '../core/links.ts';
import { steerLinks } from '../actions/steer.ts';
import type { View, ViewRequest } from '../core/view.ts';

/** One campaign: how it stands, why nobody is called, and what has come of it. */
export async function campaignView(request: ViewRequest): Promise<View> {
  const { context, clock, now, params } = request;
  const { db } = context.store;
  const campaign = await requireCampaign(context.store, params['campaign'] ?? '');
  const view = await readCampaignView(db, campaign, now);
  const { campaignId, state, stateReason, createdAt, name } = campaign;
  const why = standstillText(campaign, { ...view, look: null }, { clock, now: context.now() });
  return {
    title: name === null ? campaignId : `${campaignId} (${printable(name)})`,
    section: 'campaigns',
    follows: campaignId,
    crumbs: [['/', 'Campaigns']],
    body: [
      panel(
        'State',
        [
          facts([
            ['State', html`${stateBadge(state)} ${stateReason === null ? null : printable(stateReason)}`],
            ['Imported', instant(createdAt, 'full')],
            ['Rows with an outcome', html`${figure(view.status.done)} of ${figure(view.status.total)}`],
            ['Open calls', figure(view.status.open)],
            ['Why nobody is called now', why],
          ]),
          steerLinks(request, campaign),
        ],
        link(rowsPath(campaignId), 'Rows'),
      ),
    ],
  };
}

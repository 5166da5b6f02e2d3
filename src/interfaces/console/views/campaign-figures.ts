import { requireCampaign } from '../../../operations/control/ledger.ts';
import { renderChart } from '../../../presentation/charts/chart.ts';
import { empty, panel } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { readCampaignReport } from '../../../ledger/read/campaign-report.ts';
import { cutCampaign, details } from '../../../presentation/report/report-data.ts';
import { chartGroups, type ChartGroup } from '../../../presentation/report/sections.ts';
import { campaignNav } from '../core/campaign-nav.ts';
import { campaignPath } from '../core/links.ts';
import { waitFor } from '../../../operations/control/read-cache.ts';
import type { View, ViewRequest } from '../core/view.ts';

const readWithinMs = 200;
const againMs = 1_000;

/** The charts of a report, as they stand now. */
export async function campaignFiguresView({ context, now, params, cache }: ViewRequest): Promise<View> {
  const { store } = context;
  const campaign = await requireCampaign(store, params['campaign'] ?? '');
  const { campaignId } = campaign;
  const groups = await cache.readWithin(waitFor(campaign.rowsTotal, readWithinMs), `figures ${campaignId}`, async () =>
    chartGroups(cutCampaign(await readCampaignReport(store, campaign, now), details[1])).map(groupPanel),
  );
  const shown = groups === null ? null : html`<div class="charts">${groups}</div>`;
  return {
    title: `Figures of ${campaignId}`,
    section: 'campaigns',
    follows: campaignId,
    crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId]], // prettier-ignore
    ...(groups === null ? { againMs } : {}),
    body: [
      campaignNav(campaignId, 'figures'),
      shown ?? empty('The figures are being read', 'They stand here as soon as they are there. Without a script, load the page again.'), // prettier-ignore
    ],
  };
}

function groupPanel({ title, charts, wide }: ChartGroup): Html {
  const shown =
    charts.length === 0
      ? html`<p class="chart-note">None.</p>`
      : charts.map((chart) => renderChart(chart, chart.title === title ? null : 'h3', { fold: true }));
  return html`<div class="${wide ? 'wide' : ''}">${panel(title, shown)}</div>`;
}

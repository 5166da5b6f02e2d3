import { panel, empty } from '../../../presentation/html/elements.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { listCampaigns } from '../../../ledger/rows/campaigns.ts';
import { campaignPath, campaignNav } from '../core/links.ts';
import { openCampaign, inCampaign } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { renderChart } from '../../../presentation/charts/chart.ts';
import { cutCampaign, details } from '../../../presentation/report/report-data.ts';
import type { ChartGroup } from '../../../presentation/report/html-report.ts';
import { readCampaignParts } from '../../../operations/control/read-cache.ts';
import type { CampaignReport } from '../../../ledger/read/campaign-report.ts';

/** A report on more would be too long to read. */
const mostOffered = 30;

export async function reportPanel(request: ViewRequest, campaignId: string): Promise<Html> {
  const campaigns = await listCampaigns(request.context.store.db);
  const others = campaigns.flatMap((other) => (other.campaignId === campaignId || other.state === 'importing' ? [] : [other.campaignId]));
  return panel(
    'Report',
    html`<form class="act" method="get" action="${campaignPath(campaignId, '/report.html')}">
      <p>One HTML file with charts, figures and the verdict on every promise. It opens in any browser without this server.</p>
      ${others.length === 0 ? null : beside(others.toReversed().slice(0, mostOffered))}
      ${
        may(request, 'operate')
          ? html`<label
              ><input type="checkbox" name="people" value="true" /> with the first people of the list and their numbers; the log says who
              has asked</label
            >`
          : null
      }
      <p class="actions"><button class="btn">${icon('chart')} Download the report</button></p>
    </form>`,
    html`<p>to hand on</p>`,
  );
}

function beside(campaignIds: readonly string[]): Html {
  return html`<fieldset class="row">
    <legend>Beside it</legend>
    ${campaignIds.map((each) => html`<label><input type="checkbox" name="with" value="${each}" /> ${each}</label>`)}
  </fieldset>`;
}

const drawnWithinMs = 200;
const againMs = 1_000;

export async function campaignFiguresView(request: ViewRequest): Promise<View> {
  const { context, now, cache } = request;
  const { campaign, campaignId } = await openCampaign(request);
  const { report } = await readCampaignParts(context, ['report'], { campaign, now });
  const draw = async (found: CampaignReport) => {
    const { chartGroups } = await import('../../../presentation/report/html-report.ts');
    return chartGroups(cutCampaign(found, details[1])).map(groupPanel);
  };
  const groups = report === undefined ? null : await cache.readWithin(drawnWithinMs, `figures ${campaignId}`, () => draw(report));
  return {
    title: 'Figures',
    follows: campaignId,
    ...inCampaign(campaign),
    tabs: campaignNav(campaign, 'figures'),
    ...(groups === null ? { againMs } : {}),
    body:
      groups === null
        ? empty('The figures are being read', 'They stand here as soon as they are there. Without a script, load the page again.')
        : html`<div class="charts">${groups}</div>`,
  };
}

function groupPanel({ title, charts, wide }: ChartGroup): Html {
  const shown =
    charts.length === 0
      ? html`<p class="chart-note">None.</p>`
      : charts.map((chart) => renderChart(chart, chart.title === title ? null : 'h3', { fold: true }));
  return html`<div class="${wide ? 'wide' : ''}">${panel(title, shown)}</div>`;
}

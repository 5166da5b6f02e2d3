import { requireCampaign } from '../../../operations/control/ledger.ts';
import { panel } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { listCampaigns } from '../../../ledger/rows/campaigns.ts';
import { campaignPath } from '../core/links.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

/** More would be a file that nobody reads. */
const mostOffered = 30;

/** The report of a campaign to hand on, alone or beside others. */
export async function reportView(request: ViewRequest): Promise<View> {
  const { context, params } = request;
  const { campaignId } = await requireCampaign(context.store, params['campaign'] ?? '');
  const campaigns = await listCampaigns(context.store.db);
  const others = campaigns.flatMap((other) => (other.campaignId === campaignId || other.state === 'importing' ? [] : [other.campaignId]));
  return {
    title: `Report of ${campaignId}`,
    section: 'campaigns',
    crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId]], // prettier-ignore
    body: panel(
      'One file to share',
      html`<form class="act" method="get" action="${campaignPath(campaignId, '/report.html')}">
        <p>
          One HTML file with charts, figures and the verdict on the log: each promise of Carillon is judged by every line of it. It opens in
          any browser without this server, and asks nothing of anybody. It takes a while where the log is long.
        </p>
        ${others.length === 0 ? null : beside(others.toReversed().slice(0, mostOffered))}
        ${
          may(request, 'operate')
            ? html`<label
                ><input type="checkbox" name="people" value="true" /> with the first rows of the lists and their numbers; the log says who
                has asked</label
              >`
            : null
        }
        <p class="actions"><button>Download the report</button></p>
      </form>`,
    ),
  };
}

function beside(campaignIds: readonly string[]): Html {
  return html`<fieldset class="row">
    <legend>Beside it</legend>
    ${campaignIds.map((each) => html`<label><input type="checkbox" name="with" value="${each}" /> ${each}</label>`)}
  </fieldset>`;
}

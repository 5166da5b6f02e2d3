import { capital } from '../../../shared/input/figures.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { figure, instant, link, panel, table, withInstants } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import type { CampaignView } from '../../../ledger/read/campaign-view.ts';
import type { WaitingGroup } from '../../../ledger/read/waiting.ts';
import { stateText } from '../../../presentation/words/campaign.ts';
import { waitingText } from '../../../presentation/words/causes.ts';
import { whyText, workflowText, type Why } from '../../../presentation/words/why.ts';
import { campaignPath, rowsPath } from '../core/links.ts';
import { may, type ViewRequest } from '../core/view.ts';

/** Why nobody is called now, in one sentence; then who waits, by the rule that keeps them. */
export function whyPanel(request: ViewRequest, view: CampaignView, { why, waiting }: { why: Why; waiting: readonly WaitingGroup[] }): Html {
  const { campaign } = view;
  const { look } = why;
  return panel(
    'Why is nobody called now?',
    [
      html`<p class="why">${withInstants(sentence(request, view, why))}</p>`,
      look == null ? null : html`<p class="soft">Workflow: ${workflowText(look)}</p>`,
      look?.runs === false && may(request, 'operate')
        ? html`<p class="actions">
            <a class="btn" href="${campaignPath(campaign.campaignId, '/recover')}">Recover …</a>
          </p>`
        : null,
      table(
        'Waiting rows by what keeps them',
        waiting.map((group) => ({ key: `waiting-${group.rule}`, cells: cellsOf(group, campaign.campaignId) })),
      ),
    ],
    waiting.length === 0 ? null : link(rowsPath(campaign.campaignId, { state: 'waiting' }), 'All that wait'),
  );
}

function sentence({ context, clock }: ViewRequest, { campaign, status }: CampaignView, why: Why): string {
  const text = whyText(why, { clock, now: context.now() });
  if (text !== null) return `${capital(text)}.`;
  if (hasEnded(campaign) || campaign.round === 0) return `The campaign is ${stateText(campaign)}.`;
  return status.open + status.planned === 0
    ? 'Nothing stands in the way: the next call is about to be planned.'
    : 'Nothing stands in the way: calls are being placed.';
}

function cellsOf({ rule, rows, from, to }: WaitingGroup, campaignId: string): Record<string, HtmlValue> {
  const isDue = rule === 'due';
  return {
    'What keeps them': waitingText(rule),
    Rows: link(rowsPath(campaignId, { waiting: rule }), figure(rows)),
    'Next opening': isDue ? 'now' : instant(from, 'full'),
    'Last opening': isDue || to === from ? '–' : instant(to, 'full'),
  };
}

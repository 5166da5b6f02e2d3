import { capital } from '../../../shared/input/figures.ts';
import { lookAtWorkflow } from '../../../operations/control/supervision.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { figure, instant, link, panel, table, withInstants } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import type { CampaignView } from '../../../ledger/read/campaign-view.ts';
import type { WaitingGroup } from '../../../ledger/read/waiting.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { stateText } from '../../../presentation/words/campaign.ts';
import { idleReasonText, waitingText, workflowText, type WorkflowLook } from '../../../presentation/words/idle-reason.ts';
import { campaignPath, rowsPath } from '../core/links.ts';
import { may, type ViewRequest } from '../core/view.ts';

/** How long somebody who opens the page waits for Temporal's answer; a later look shows what came of it. */
const lookWithinMs = 120;

/** Why nobody is called now, in one sentence; then who waits, by the rule that keeps them. */
export function whyPanel(
  request: ViewRequest,
  view: CampaignView,
  { waiting, look }: { waiting: readonly WaitingGroup[]; look: WorkflowLook | null | undefined },
): Html {
  const { campaign } = view;
  return panel(
    'Why is nobody called now?',
    [
      html`<p class="why">${withInstants(sentence(request, view, look))}</p>`,
      look == null ? null : html`<p class="muted">Workflow: ${workflowText(look)}</p>`,
      look?.runs === false && may(request, 'operate')
        ? html`<p class="actions">
            <a class="button" href="${campaignPath(campaign.campaignId, '/recover')}">Recover …</a>
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

/** What Temporal knows of it; undefined where it has not answered yet, null where the campaign is over. */
export async function lookSoon({ context, cache }: ViewRequest, campaign: Campaign): Promise<WorkflowLook | null | undefined> {
  const ask = async () => ({ look: await lookAtWorkflow({ ...context, campaign }) });
  return (await cache.readWithin(lookWithinMs, `soon ${campaign.campaignId}`, ask, 0))?.look;
}

function sentence({ context, clock }: ViewRequest, view: CampaignView, look: WorkflowLook | null | undefined): string {
  const { campaign, status } = view;
  const why = idleReasonText(campaign, { ...view, look }, { clock, now: context.now() });
  if (why !== null) return `${capital(why)}.`;
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

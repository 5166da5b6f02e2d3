import { requireCampaign } from '../../control/ledger.ts';
import { lookAtWorkflows } from '../../control/supervision.ts';
import { facts, figure, link } from '../../html/elements.ts';
import { html } from '../../html/html.ts';
import { printable } from '../../input/printable.ts';
import { readStatus } from '../../ledger/campaign/campaign-status.ts';
import { readLastActs } from '../../ledger/read/last-acts.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { WorkflowLook } from '../../words/standstill.ts';
import { actionForm, apiCall, type DeskAction } from '../core/action.ts';
import { campaignPath } from '../core/links.ts';
import { refusedText, standingFacts } from '../core/standing.ts';

/** A campaign that Temporal has lost goes on from the database. */
export const recoverCampaign: DeskAction = {
  path: '/campaigns/:campaign/recover',
  role: 'operate',
  form: async ({ context, params }, given) => {
    const { db } = context.store;
    const campaign = await requireCampaign(context.store, params['campaign'] ?? '');
    const { campaignId } = campaign;
    // Asked anew: what was so a moment ago decides nothing.
    const look = (await lookAtWorkflows(context, [campaign])).get(campaignId) ?? null;
    const obstacle = obstacleOf(campaign, look);
    const reason = given.refused ?? obstacle;
    const [status, acts] = [await readStatus(db, campaign), await readLastActs(db, campaignId)];
    const unasked = look !== null && look.runs === null;
    return {
      ...(obstacle === null || given.refused !== null ? {} : { status: unasked ? 503 : 409 }),
      title: 'Recover this campaign?',
      section: 'campaigns',
      crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId]], // prettier-ignore
      body: html`<section class="panel">
        ${reason === null ? null : refusedText(printable(reason), acts)}
        ${
          obstacle === null
            ? html`<p>
                Temporal does not run this campaign: it has lost it, or somebody has ended its workflow there. It goes
                on from the database. Nothing that was sent is sent again, and a paused campaign stays paused. Before,
                all conversations of its agent are read from the service, which may take minutes: if there are calls
                that the database does not know, it was probably set back, and nothing is started.
              </p>`
            : null
        }
        ${facts([
          ...standingFacts(campaign, acts),
          ['Round that goes on', figure(campaign.round)],
          ['Rows that wait and may be called again', figure(status.waiting)],
          ['Open calls whose results are collected', figure(status.open)],
          ['Planned calls, not sent yet', figure(status.planned)],
          ['Rows with an outcome, which stays', html`${figure(status.done)} of ${figure(status.total)}`],
        ])}
        ${
          obstacle === null
            ? actionForm(
                { ...given, refused: null },
                { button: `Recover ${campaignId}`, back: campaignPath(campaignId) },
              )
            : html`<p>${link(campaignPath(campaignId), `Back to ${campaignId}`)}</p>`
        }
      </section>`,
    };
  },
  call: ({ params }) => apiCall('recoverCampaign', params),
  done: ({ params }, { body }) => {
    const campaign = params['campaign'] ?? '';
    const { state, round } = body as { state: string; round: number };
    const said = state === 'paused' ? 'It is paused: resume it when it may call.' : 'It goes on.';
    return {
      to: campaignPath(campaign),
      said: `${campaign} was started anew from the database, round ${round}. ${said}`,
    };
  },
};

/** Why there is nothing to recover, or why that is not known; null: it can be recovered. */
function obstacleOf({ state, round }: Campaign, look: WorkflowLook | null): string | null {
  if (round === 0) return 'It was not started yet, so there is nothing to recover.';
  if (look === null) return `It is ${state}, so there is nothing to recover.`;
  if (look.unreachable !== null) return look.unreachable;
  if (look.runs === null) return 'Temporal did not say whether it runs this campaign. Load this page again later.';
  return look.runs ? 'Temporal runs this campaign, so there is nothing to recover.' : null;
}

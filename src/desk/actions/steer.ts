import { requireCampaign } from '../../control/ledger.ts';
import { operations, sentencesOf } from '../../operations/list.ts';
import type { PlainRun } from '../../operations/runs/run.ts';
import { plainRuns, type PlainId } from '../../operations/runs/steer.ts';
import { capital } from '../../input/figures.ts';
import { facts, figure, link } from '../../html/elements.ts';
import { html, type Html } from '../../html/html.ts';
import { readStatus } from '../../ledger/campaign/campaign-status.ts';
import { readLastActs } from '../../ledger/read/last-acts.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { countOwnPauses } from '../../ledger/wishes.ts';
import { actionForm, apiCall, type DeskAction } from '../core/action.ts';
import { campaignPath } from '../core/links.ts';
import { refusedText, standingFacts } from '../core/standing.ts';
import { may, type ViewRequest } from '../core/view.ts';

const plain: readonly [PlainId, PlainRun][] = Object.entries(plainRuns) as [PlainId, PlainRun][];

/** What is done to a campaign as a whole: each says in numbers what it will do before it does it. */
export const steerActions: readonly DeskAction[] = plain.map(([id, { action: name, states, ends, done }]) => ({
  path: `/campaigns/:campaign/${name}`,
  role: operations[id].role,
  form: async ({ context, params }, given) => {
    const { db } = context.store;
    const campaign = await requireCampaign(context.store, params['campaign'] ?? '');
    const { campaignId } = campaign;
    const status = await readStatus(db, campaign);
    const acts = await readLastActs(db, campaignId);
    const isOffered = states.includes(campaign.state);
    const reason = given.refused ?? (isOffered ? null : `There is nothing to ${name} now.`);
    return {
      ...(isOffered || given.refused !== null ? {} : { status: 409 }),
      title: `${capital(name)} this campaign?`,
      section: 'campaigns',
      crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId]], // prettier-ignore
      body: html`<section class="panel">
        ${reason === null ? null : refusedText(reason, acts)} ${isOffered ? html`<p>${sentencesOf(id)}</p>` : null}
        ${facts([
          ...standingFacts(campaign, acts),
          ['Waiting rows', figure(status.waiting)],
          ['Open calls', figure(status.open)],
          ['Planned calls, not sent yet', figure(status.planned)],
          ['Rows with an outcome', html`${figure(status.done)} of ${figure(status.total)}`],
        ])}
        ${
          isOffered
            ? actionForm(
                { ...given, refused: null },
                {
                  button: `${capital(name)} ${campaignId}`,
                  back: campaignPath(campaignId),
                  ...(ends === undefined ? {} : { tone: 'danger' }),
                  body: html`<input type="hidden" name="round" value="${campaign.round}" /><input
                      type="hidden"
                      name="pauses-seen"
                      value="${given.fields?.get('pauses-seen') ?? (await countOwnPauses(db, campaignId))}"
                    />`,
                },
              )
            : html`<p>${link(campaignPath(campaignId), `Back to ${campaignId}`)}</p>`
        }
      </section>`,
    };
  },
  call: ({ params, fields }) => ({
    ...apiCall(id, params),
    body: {
      pausesSeen: Number(fields.get('pauses-seen')),
      ...(fields.has('round') ? { round: Number(fields.get('round')) } : {}),
    },
  }),
  done: ({ params }, { body }) => {
    const campaign = params['campaign'] ?? '';
    const notice = typeof body['notice'] === 'string' ? ` ${body['notice']}` : '';
    return { to: campaignPath(campaign), said: `${campaign} ${done}.${notice}` };
  },
}));

/** Buttons for what the state of the campaign allows now. */
export function steerLinks(request: ViewRequest, campaign: Campaign): Html | null {
  if (!may(request, 'operate')) return null;
  if (['completed', 'cancelled'].includes(campaign.state))
    return html`<p class="actions">
      <a class="button" href="${campaignPath(campaign.campaignId, '/retry')}">Call rows again …</a>
    </p>`;
  const open = plain.filter(([, { states }]) => states.includes(campaign.state));
  if (open.length === 0) return null;
  return html`<p class="actions">
    ${open.map(
      ([, { action: name, ends }]) =>
        html`<a
          class="button ${ends === undefined ? '' : 'danger'}"
          href="${campaignPath(campaign.campaignId, `/${name}`)}"
          >${capital(name)}</a
        >`,
    )}
    ${limitsLink(campaign)} ${campaign.state === 'draining' ? null : updateLink(campaign)}
  </p>`;
}

function limitsLink({ campaignId }: Campaign): Html {
  return html`<a class="button" href="${campaignPath(campaignId, '/limits')}">Limits …</a>`;
}

function updateLink({ campaignId }: Campaign): Html {
  return html`<a class="button" href="${campaignPath(campaignId, '/update')}">Update the list …</a>`;
}

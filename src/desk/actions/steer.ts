import { requireCampaign } from '../../control/ledger.ts';
import type { Wish } from '../../control/campaign-message.ts';
import { facts, figure, link } from '../../html/elements.ts';
import { html, type Html } from '../../html/html.ts';
import { readStatus } from '../../ledger/campaign/campaign-status.ts';
import { readLastActs } from '../../ledger/read/last-acts.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { countOwnPauses } from '../../ledger/wishes.ts';
import { actionForm, type DeskAction } from '../core/action.ts';
import { campaignPath } from '../core/links.ts';
import { refusedText, standingFacts } from '../core/standing.ts';
import { may, type ViewRequest } from '../core/view.ts';

interface WishWords {
  /** On its button. */
  verb: string;
  title: string;
  says: string;
  said: string;
  ends?: true;
}

const wishes: Readonly<Record<Wish, WishWords>> = {
  pause: {
    verb: 'Pause',
    title: 'Pause this campaign?',
    says: 'No further call is placed until it is resumed. Open calls go on, and their results are collected.',
    said: 'is paused: no further call is placed.',
  },
  resume: {
    verb: 'Resume',
    title: 'Resume this campaign?',
    says: 'It goes on calling. If it has paused by itself, mend first what its reason names, or it pauses again.',
    said: 'goes on.',
  },
  drain: {
    verb: 'Drain',
    title: 'Finish this campaign early?',
    says: 'Open calls are finished and collected. Nobody who waits is called: their rows end as cancelled. This cannot be undone.',
    said: 'is draining: nobody who waits is called.',
    ends: true,
  },
  cancel: {
    verb: 'Cancel',
    title: 'Cancel this campaign?',
    says: 'It ends. Open calls are still collected; nobody who waits is called. This cannot be undone.',
    said: 'is cancelled.',
    ends: true,
  },
};

const names = Object.keys(wishes) as Wish[];

const offered: Readonly<Record<Campaign['state'], readonly Wish[]>> = {
  importing: [],
  draft: [],
  scheduled: ['pause', 'drain', 'cancel'],
  running: ['pause', 'drain', 'cancel'],
  paused: ['resume', 'drain', 'cancel'],
  draining: ['cancel'],
  completed: [],
  cancelled: [],
  failed: [],
};

/** Pause, resume, drain, cancel: each says in numbers what it will do before it does it. */
export const steerActions: readonly DeskAction[] = names.map((wish) => ({
  path: `/campaigns/:campaign/${wish}`,
  role: 'operate',
  form: async ({ context, params }, given) => {
    const { db } = context.store;
    const campaign = await requireCampaign(context.store, params['campaign'] ?? '');
    const { campaignId } = campaign;
    const status = await readStatus(db, campaign);
    const { title, says, verb, ends } = wishes[wish];
    const acts = await readLastActs(db, campaignId);
    const isOffered = offered[campaign.state].includes(wish);
    const reason = given.refused ?? (isOffered ? null : `There is nothing to ${wish} now.`);
    return {
      ...(isOffered || given.refused !== null ? {} : { status: 409 }),
      title,
      section: 'campaigns',
      crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId]], // prettier-ignore
      body: html`<section class="panel">
        ${reason === null ? null : refusedText(reason, acts)} ${isOffered ? html`<p>${says}</p>` : null}
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
                  button: `${verb} ${campaignId}`,
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
    method: 'POST',
    url: `/api/v1/campaigns/${encodeURIComponent(params['campaign'] ?? '')}/${wish}`,
    body: {
      pausesSeen: Number(fields.get('pauses-seen')),
      ...(fields.has('round') ? { round: Number(fields.get('round')) } : {}),
    },
  }),
  done: ({ params }, { body }) => {
    const campaign = params['campaign'] ?? '';
    const notice = typeof body['notice'] === 'string' ? ` ${body['notice']}` : '';
    return { to: campaignPath(campaign), said: `${campaign} ${wishes[wish].said}${notice}` };
  },
}));

/** Buttons for what the state of the campaign allows now. */
export function steerLinks(request: ViewRequest, campaign: Campaign): Html | null {
  if (!may(request, 'operate')) return null;
  if (['completed', 'cancelled'].includes(campaign.state))
    return html`<p class="actions">
      <a class="button" href="${campaignPath(campaign.campaignId, '/retry')}">Call rows again …</a>
    </p>`;
  const open = offered[campaign.state];
  if (open.length === 0) return null;
  return html`<p class="actions">
    ${open.map(
      (wish) =>
        html`<a
          class="button ${wishes[wish].ends === undefined ? '' : 'danger'}"
          href="${campaignPath(campaign.campaignId, `/${wish}`)}"
          >${wishes[wish].verb}</a
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

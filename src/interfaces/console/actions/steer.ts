import { lookAtWorkflows } from '../../../operations/control/supervision.ts';
import { operations, sentencesOf } from '../../../operations/list.ts';
import type { PlainRun } from '../../../operations/runs/run.ts';
import { plainRuns, type PlainId } from '../../../operations/runs/steer.ts';
import { capital } from '../../../shared/input/figures.ts';
import { count, figure } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { readStatus } from '../../../ledger/campaign/campaign-status.ts';
import { readLastActs } from '../../../ledger/read/last-acts.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { countOwnPauses } from '../../../ledger/control-requests.ts';
import type { WorkflowLook } from '../../../presentation/words/why.ts';
import { apiCall, type ConsoleAction } from '../core/action.ts';
import { campaignName, openCampaign, inCampaign } from '../core/rows.ts';
import type { IconName } from '../../../presentation/html/icons.ts';
import { checkboxes, hidden } from '../core/fields.ts';
import { queuedWords } from '../../../presentation/words/campaign.ts';
import { reportsRecipients, type QueuedFate } from '../../../rules/service-api.ts';
import { campaignPath, examplePath } from '../core/links.ts';
import { pressView, standingFacts } from '../core/press.ts';
import type { ViewRequest } from '../core/view.ts';

const plain: readonly [PlainId, PlainRun][] = Object.entries(plainRuns) as [PlainId, PlainRun][];

/** What every form about a campaign as a whole says of it, in numbers. */
async function campaignPress({ context: { store } }: ViewRequest, campaign: Campaign) {
  const { campaignId } = campaign;
  const [status, acts] = [await readStatus(store.db, campaign), await readLastActs(store.db, campaignId)];
  return {
    ...inCampaign(campaign),
    back: [campaignPath(campaignId), campaignName(campaign)],
    acts,
    standing: [
      ...standingFacts(campaign, acts),
      ['Round', figure(campaign.round)],
      ['Waiting rows', figure(status.waiting)],
      ['Open calls', figure(status.open)],
      ['Planned calls, not sent yet', figure(status.planned)],
      ['Rows with an outcome', html`${figure(status.done)} of ${figure(status.total)}`],
    ],
  } as const;
}

const titles: Readonly<Record<string, readonly [title: string, button: string]>> = {
  pause: ['Pause this campaign?', 'Pause campaign'],
  resume: ['Resume this campaign?', 'Resume campaign'],
  drain: ['Finish this campaign early?', 'Finish early'],
  cancel: ['Cancel this campaign?', 'Cancel campaign'],
};

async function effectsOf({ context: { store } }: ViewRequest, campaign: Campaign, name: string): Promise<Effects> {
  const { open, planned, waiting } = await readStatus(store.db, campaign);
  const calls = html`<b>${count(open, 'call goes', 'calls go')} on</b> until ${open === 1 ? 'it ends' : 'they end'}, and results are kept.`;
  const unsent = planned === 0 ? [] : [['phone', 'is-wait', html`<b>${count(planned, 'call', 'calls')} not sent yet</b> ${name === 'pause' ? 'wait' : 'are not placed'}.`] as const]; // prettier-ignore
  const people = html`<b>${count(waiting, 'person', 'people')}</b>`;
  if (name === 'resume')
    return [['play', '', html`${people} ${waiting === 1 ? 'waits' : 'wait'}, and may be called again when hours and limits let them.`]];
  if (name === 'pause')
    return [
      ['phone', '', calls],
      ...unsent,
      ['pause', 'is-wait', html`${people} ${waiting === 1 ? 'is' : 'are'} not called until somebody resumes it.`],
    ];
  return [
    ['phone', '', calls],
    ...unsent,
    [
      'x',
      'is-bad',
      html`${people} ${waiting === 1 ? 'is' : 'are'} not called any more, and ${waiting === 1 ? 'ends' : 'end'} as “Cancelled”.`,
    ],
    [
      'stop',
      'is-bad',
      html`<b>This cannot be undone.</b> ${name === 'drain' ? 'The campaign ends as done.' : 'The campaign ends as cancelled.'}`,
    ],
  ];
}

type Effects = readonly (readonly [IconName, string, Html])[];

/** What is done to a campaign as a whole: each says in numbers what it will do before it does it. */
export const steerActions: readonly ConsoleAction[] = plain.map(([id, { action: name, states, ends, done, choice }]) => ({
  path: `/campaigns/:campaign/${name}`,
  role: operations[id].role,
  form: async (request, given) => {
    const { store } = request.context;
    const { campaign } = await openCampaign(request);
    const { campaignId, round } = campaign;
    const canChoose = { letQueued: reportsRecipients(campaign.api), sample: campaign.rules.pilot !== undefined };
    const isOffered = states.includes(campaign.state);
    const pausesSeen = given.fields?.get('pauses-seen') ?? (await countOwnPauses(store.db, campaignId));
    const standing = await campaignPress(request, campaign);
    return pressView(given, {
      ...standing,
      standing: isOffered ? [] : standing.standing,
      title: titles[name]?.[0] ?? capital(name),
      keep: campaign.state === 'paused' ? 'Leave it paused' : 'Keep calling',
      ...(isOffered ? { effects: await effectsOf(request, campaign, name) } : {}),
      obstacle: isOffered ? null : { why: `There is nothing to ${name} now.`, status: 409 },
      says: sentencesOf(id),
      button: titles[name]?.[1] ?? capital(name),
      danger: ends,
      body: html`${hidden({ round: String(round), 'pauses-seen': String(pausesSeen) })}${
        choice !== undefined && canChoose[choice.field]
          ? checkboxes(given.fields, choice.field, [{ value: 'yes', label: capital(choice.says) }])
          : null
      }`,
    });
  },
  call: ({ params, fields }) => ({
    ...apiCall(id, params),
    body: {
      pausesSeen: Number(fields.get('pauses-seen')),
      ...(fields.has('round') ? { round: Number(fields.get('round')) } : {}),
      ...(choice !== undefined && fields.has(choice.field) ? { [choice.field]: true } : {}),
    },
  }),
  done: ({ params }, { body }) => {
    const campaign = params['campaign'] ?? '';
    const notice = typeof body['notice'] === 'string' ? ` ${body['notice']}` : '';
    const queued = [undefined, 'never_taken_back'].includes(body['queued'] as string)
      ? ''
      : ` ${queuedWords[body['queued'] as QueuedFate]}`;
    return { to: campaignPath(campaign), said: `${campaign} ${done}.${queued}${notice}` };
  },
}));

/** A campaign that Temporal has lost goes on from the database. */
export const recoverCampaign: ConsoleAction = {
  path: '/campaigns/:campaign/recover',
  role: operations.recoverCampaign.role,
  form: async (request, given) => {
    const { context } = request;
    const { campaign, campaignId } = await openCampaign(request);
    // Asked anew: what was so a moment ago decides nothing.
    const look = (await lookAtWorkflows(context, [campaign])).get(campaignId) ?? null;
    const why = obstacleOf(campaign, look);
    const isUnasked = look !== null && look.runs === null;
    return pressView(given, {
      ...(await campaignPress(request, campaign)),
      title: 'Recover this campaign?',
      obstacle: why === null ? null : { why, status: isUnasked ? 503 : 409 },
      says: `${sentencesOf('recoverCampaign')} Reading them may take minutes. A paused campaign stays paused.`,
      button: `Recover ${campaignId}`,
    });
  },
  call: ({ params }) => apiCall('recoverCampaign', params),
  done: ({ params }, { body }) => {
    const campaign = params['campaign'] ?? '';
    const { state, round } = body as { state: string; round: number };
    const said = state === 'paused' ? 'It is paused: resume it when it may call.' : 'It goes on.';
    return {
      to: campaignPath(campaign),
      said: `${campaign} was restarted from the database, round ${round}. ${said}`,
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

/** The example campaign on the sandbox of this server, at one click from the page without campaigns. */
export const startExample: ConsoleAction = {
  path: examplePath,
  role: operations.startExample.role,
  form: async ({ context }, given) =>
    pressView(given, {
      title: 'Run the example?',
      section: 'campaigns',
      crumbs: [['/', 'Campaigns']],
      back: ['/', 'the campaigns'],
      obstacle:
        context.quickenSandbox === undefined
          ? { why: 'This server has no sandbox. Run carillon demo or carillon dev on your own machine.', status: 409 }
          : null,
      says: null,
      standing: [],
      effects: [
        ['people', '', 'A campaign with 300 made-up people starts. The sandbox answers; no real phone rings.'],
        ['clock', '', 'Unless a speed was chosen, a minute of the sandbox takes a second from then on, for all campaigns.'],
      ],
      button: 'Run the example',
    }),
  call: () => apiCall('startExample'),
  done: (_sent, { body }) => ({
    to: campaignPath(String(body['campaignId'])),
    said: 'The example runs in the sandbox: 300 made-up people, and no real phone rings.',
  }),
};

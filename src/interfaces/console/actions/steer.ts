import { readWorkflowStatuses } from '../../../operations/control/supervision.ts';
import { sentencesOf } from '../../../operations/list.ts';
import type { Plain } from '../../../operations/operation.ts';
import { plainOperations, type PlainId } from '../../../operations/steering.ts';
import { capital, plural } from '../../../shared/input/figures.ts';
import { figure } from '../../../presentation/html/elements.ts';
import { html } from '../../../presentation/html/html.ts';
import { readStatus, type CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { countOwnPauses } from '../../../ledger/control-requests.ts';
import type { WorkflowStatus } from '../../../presentation/words/why.ts';
import type { ConsoleAction } from '../core/action.ts';
import { campaignName, openCampaign, inCampaign } from '../core/rows.ts';
import { checkboxes, hidden } from '../core/fields.ts';
import { queuedWords } from '../../../presentation/words/campaign.ts';
import { reportsRecipients, type QueuedHandling } from '../../../rules/service-api.ts';
import { campaignPath, examplePath } from '../core/links.ts';
import { readStatusFacts, type Effect } from '../core/press.ts';
import type { ViewRequest } from '../core/view.ts';

async function campaignConfirmation({ context: { store } }: ViewRequest, campaign: Campaign) {
  const status = await readStatus(store.db, campaign);
  const { acts, standing } = await readStatusFacts(store.db, campaign);
  const confirmation = {
    ...inCampaign(campaign),
    back: [campaignPath(campaign.campaignId), campaignName(campaign)],
    acts,
    standing: [
      ...standing,
      ['Round', figure(campaign.round)],
      ['Waiting rows', figure(status.waiting)],
      ['Open calls', figure(status.open)],
      ['Planned calls, not sent yet', figure(status.planned)],
      ['Rows with an outcome', html`${figure(status.done)} of ${figure(status.total)}`],
    ],
  } as const;
  return { status, press: confirmation };
}

const titles: Readonly<Record<string, readonly [title: string, button: string]>> = {
  pause: ['Pause this campaign?', 'Pause campaign'],
  resume: ['Resume this campaign?', 'Resume campaign'],
  drain: ['Finish this campaign early?', 'Finish early'],
  cancel: ['Cancel this campaign?', 'Cancel campaign'],
};

function effectsOf({ open, planned, waiting }: CampaignStatus, name: string): Effect[] {
  const people = html`<b>${plural(waiting, 'person', 'people')}</b>`;
  const are = waiting === 1 ? 'is' : 'are';
  if (name === 'resume')
    return [['play', '', html`${people} ${waiting === 1 ? 'waits' : 'wait'}, and may be called again when hours and limits let them.`]];
  const calls = html`<b>${plural(open, 'call goes', 'calls go')} on</b> until ${open === 1 ? 'it ends' : 'they end'}, and results are kept.`;
  const then = name === 'pause' ? 'wait' : 'are not placed';
  const both: Effect[] = [
    ['phone', '', calls],
    ...(planned === 0 ? [] : [['phone', 'is-wait', html`<b>${plural(planned, 'call')} not sent yet</b> ${then}.`] as const]),
  ];
  if (name === 'pause') return [...both, ['pause', 'is-wait', html`${people} ${are} not called until somebody resumes it.`]];
  const end = name === 'drain' ? 'The campaign ends as done.' : 'The campaign ends as cancelled.';
  return [
    ...both,
    ['x', 'is-bad', html`${people} ${are} not called any more, and ${waiting === 1 ? 'ends' : 'end'} as “Cancelled”.`],
    ['stop', 'is-bad', html`<b>This cannot be undone.</b> ${end}`],
  ];
}

/** Each form shows its effect in numbers. */
const plainActions = (Object.keys(plainOperations) as PlainId[]).map((id): ConsoleAction => {
  const { action: name, plain } = plainOperations[id];
  const { states, ends, done, choice }: Plain = plain;
  return {
    path: `/campaigns/:campaign/${name}`,
    op: id,
    form: async (request, { fields }) => {
      const { campaign, campaignId, db } = await openCampaign(request);
      const canChoose = { letQueued: reportsRecipients(campaign.api), sample: campaign.rules.pilot !== undefined };
      const isOffered = states.includes(campaign.state);
      const pausesSeen = fields?.get('pauses-seen') ?? (await countOwnPauses(db, campaignId));
      const { status, press: confirmation } = await campaignConfirmation(request, campaign);
      const [title = capital(name), button = capital(name)] = titles[name] ?? [];
      return {
        ...confirmation,
        ...(isOffered ? { standing: [], effects: effectsOf(status, name) } : {}),
        title,
        keep: campaign.state === 'paused' ? 'Leave it paused' : 'Keep calling',
        obstacle: isOffered ? null : { why: `There is nothing to ${name} now.`, status: 409 },
        button,
        danger: ends,
        body: html`${hidden({ round: String(campaign.round), 'pauses-seen': String(pausesSeen) })}${
          choice !== undefined && canChoose[choice.field]
            ? checkboxes(fields, choice.field, [{ value: 'yes', label: capital(choice.says) }])
            : null
        }`,
      };
    },
    call: ({ fields }) => ({
      body: {
        pausesSeen: Number(fields.get('pauses-seen')),
        ...(fields.has('round') ? { round: Number(fields.get('round')) } : {}),
        ...(choice !== undefined && fields.has(choice.field) ? { [choice.field]: true } : {}),
      },
    }),
    done: ({ campaignId }, { queued }) => {
      const isShown = queued !== undefined && queued !== 'never_taken_back';
      return { to: campaignPath(campaignId), said: `${campaignId} ${done}.${isShown ? ` ${queuedWords[queued as QueuedHandling]}` : ''}` };
    },
  };
});

const recoverCampaign: ConsoleAction = {
  path: '/campaigns/:campaign/recover',
  op: 'recoverCampaign',
  form: async (request) => {
    const { campaign, campaignId } = await openCampaign(request);
    // Not cached: the state may have changed since.
    const workflow = (await readWorkflowStatuses(request.context, [campaign])).get(campaignId) ?? null;
    const why = obstacleOf(campaign, workflow);
    return {
      ...(await campaignConfirmation(request, campaign)).press,
      title: 'Recover this campaign?',
      obstacle: why === null ? null : { why, status: workflow !== null && workflow.runs === null ? 503 : 409 },
      says: `${sentencesOf('recoverCampaign')} Reading them may take minutes. A paused campaign stays paused.`,
      button: `Recover ${campaignId}`,
    };
  },
  done: ({ campaignId }, { state, round }) => {
    const nextText = state === 'paused' ? 'It is paused: resume it when it may call.' : 'It goes on.';
    return { to: campaignPath(campaignId), said: `${campaignId} was restarted from the database, round ${String(round)}. ${nextText}` };
  },
};

function obstacleOf({ state, round }: Campaign, workflow: WorkflowStatus | null): string | null {
  if (round === 0) return 'It was not started yet, so there is nothing to recover.';
  if (workflow === null) return `It is ${state}, so there is nothing to recover.`;
  if (workflow.unreachable !== null) return workflow.unreachable;
  if (workflow.runs === null) return 'Temporal did not say whether it runs this campaign. Load this page again later.';
  return workflow.runs ? 'Temporal runs this campaign, so there is nothing to recover.' : null;
}

const startExample: ConsoleAction = {
  path: examplePath,
  op: 'startExample',
  form: ({ context }) => ({
    title: 'Run the example?',
    section: 'campaigns',
    crumbs: [['/', 'Campaigns']],
    back: ['/', 'the campaigns'],
    obstacle:
      context.quickenSandbox === undefined
        ? { why: 'This server has no sandbox. Run carillon demo or carillon dev on your own machine.', status: 409 }
        : null,
    effects: [
      ['people', '', 'A campaign with 300 made-up people starts. The sandbox answers; no real phone rings.'],
      ['clock', '', 'Unless a speed was chosen, a minute of the sandbox takes a second from then on, for all campaigns.'],
    ],
    button: 'Run the example',
  }),
  done: (_sent, { campaignId }) => ({
    to: campaignPath(String(campaignId)),
    said: 'The example runs in the sandbox: 300 made-up people, and no real phone rings.',
  }),
};

export const steerActions = [...plainActions, recoverCampaign, startExample];

import { adjustLimits } from '../../control/adjust.ts';
import type { Notice, Wish } from '../../control/campaign-message.ts';
import { recoverCampaign } from '../../control/recover.ts';
import { pause, steer } from '../../control/steer.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { noticeText, type Doing, type Run, type Runs } from './run.ts';

/** How a steering operation is told to people. */
interface Steering {
  /** Its command; with a capital on its button. */
  wish: Wish;
  /** What cannot be undone is asked for once more. */
  ends?: true;
  /** States of a campaign in which the page offers it. */
  states: readonly Campaign['state'][];
  /** What has become of the campaign, behind its id. */
  done: string;
  /** What a person may do next, as a command before the id. */
  next: string;
  help: string;
}

type SteeringId = `${Wish}Campaign`;

const follow = 'Show its progress: carillon status';

/** What is said of pause, resume, drain and cancel, beside the sentences of the list; in the order of their buttons. */
export const steerings: Readonly<Record<SteeringId, Steering>> = {
  pauseCampaign: {
    wish: 'pause',
    states: ['scheduled', 'running'],
    done: 'is paused',
    next: 'Resume it: carillon resume',
    help: `
Returns when the pause is committed. No call is placed after that, except a batch that was on its way to the service at that
moment. Open calls continue, and their results are collected. Needs only the database; Temporal, worker and service may be down.

Example:
  carillon pause reminders`,
  },
  resumeCampaign: {
    wish: 'resume',
    states: ['paused'],
    done: 'is running again',
    next: follow,
    help: `
If the campaign paused by itself, carillon status shows the reason. Fix it first, or the campaign pauses again.

Example:
  carillon resume reminders`,
  },
  drainCampaign: {
    wish: 'drain',
    ends: true,
    states: ['scheduled', 'running', 'paused'],
    done: 'is draining: no further dials; it completes when the open calls are collected',
    next: follow,
    help: `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected. The campaign
then ends as completed; to end it as cancelled, use carillon cancel. This cannot be undone. The command asks for confirmation; without
a terminal it needs --yes.

Examples:
  carillon drain reminders
  carillon drain reminders --yes`,
  },
  cancelCampaign: {
    wish: 'cancel',
    ends: true,
    states: ['scheduled', 'running', 'paused', 'draining'],
    done: 'is being cancelled: no further dials; calls that are open are still collected',
    next: follow,
    help: `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected. This cannot
be undone. The command asks for confirmation; without a terminal it needs --yes.

Examples:
  carillon cancel reminders
  carillon cancel reminders --yes`,
  },
};

const steered = ({ campaignId, state, stateReason, round }: Campaign, notice: Notice) => ({
  campaignId,
  state,
  stateReason,
  round,
  notice: noticeText(notice),
});

function wished(wish: Exclude<Wish, 'pause'>): Run<SteeringId> {
  return {
    action: wish,
    run: async (doing, { campaign, body }) =>
      steered(await steer(doing, { campaignId: campaign, wish, ...given(body ?? {}) }), { told: true }),
  };
}

/** How an operator's changes of a campaign as a whole are carried out. */
export const steerRuns: Runs<SteeringId | 'adjustCampaign' | 'recoverCampaign'> = {
  pauseCampaign: {
    action: 'pause',
    run: async (doing: Doing, { campaign: campaignId, body }) => {
      const { onCommitted } = doing;
      const { campaign, notice } = await pause(doing, { campaignId, ...given({ onCommitted, round: body?.round }) });
      return steered(campaign, notice);
    },
  },
  resumeCampaign: wished('resume'),
  drainCampaign: wished('drain'),
  cancelCampaign: wished('cancel'),
  adjustCampaign: {
    action: 'adjust',
    run: async (doing, { campaign: campaignId, body: { reset, ...wish } }) => {
      const { limits, notice } = await adjustLimits(doing, { campaignId, wish: given(wish), reset });
      return { campaignId, limits: limits.now, file: limits.file, notice: noticeText(notice) };
    },
  },
  recoverCampaign: {
    action: 'recover',
    run: async (doing, { campaign: campaignId }) => {
      const { onProgress } = doing;
      const { campaign, workflowId } = await recoverCampaign(doing, { campaignId, ...given({ onProgress }) });
      const { state, stateReason, round } = campaign;
      return { campaignId, state, stateReason, round, workflowId };
    },
  },
};

/** What was not said is no wish. */
function given<Wishes extends object>(wishes: Wishes): { [Key in keyof Wishes]?: Exclude<Wishes[Key], undefined> } {
  return Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined)) as never;
}

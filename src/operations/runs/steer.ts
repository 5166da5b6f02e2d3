import {
  adjustLimits,
  adjustSharedLimits,
  previewAdjustment,
  readAccountUse,
  readCampaignLimits,
  type AccountUse,
  readHouseView,
  setHouseRules,
} from '../control/adjust.ts';
import type { Notice, SteeringCommand } from '../control/campaign-message.ts';
import { recoverCampaign } from '../control/recover.ts';
import { lookBeforeSteering, pause, steer } from '../control/steer.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { houseLines } from '../../presentation/words/house.ts';
import { withInstants } from '../../shared/input/times.ts';
import { withoutUndefined } from '../../rules/collections.ts';
import { fateOfQueued } from '../../rules/service-api.ts';
import type { OperationId } from '../list.ts';
import { toldAdjustable } from '../schemas/steer.ts';
import { noticeText, type PlainRun, runsOf } from './run.ts';

const follow = 'Show its progress: carillon status';

const steered = ({ campaignId, state, stateReason, round }: Campaign, notice: Notice) => ({
  campaignId,
  state,
  stateReason,
  round,
  notice: noticeText(notice),
});

/** Has the workflow of a campaign do it, which takes a worker. */
const told = (wish: Exclude<SteeringCommand, 'pause'>): Pick<PlainRun, 'action' | 'look' | 'run'> => ({
  action: wish,
  look: async (control, campaignId) => {
    const { campaign, pausesSeen } = await lookBeforeSteering(control, campaignId, wish);
    return { round: campaign.round, pausesSeen };
  },
  run: async (doing, { campaign, body }) =>
    steered(await steer(doing, { campaignId: campaign, wish, ...withoutUndefined(body ?? {}) }), { told: true }),
});

/** What is done to a campaign as a whole with one word or one press; in the order of the buttons. */
export const plainRuns = {
  pauseCampaign: {
    action: 'pause',
    states: ['scheduled', 'running'],
    done: 'is paused',
    next: 'Resume it: carillon resume',
    help: `
Returns when the pause is committed. No call is placed after that, except a batch that was on its way to the service at that
moment. Open calls continue, and their results are collected. Needs only the database; Temporal, worker and service may be down.

Calls that the service has taken and that do not ring yet are taken back by a worker and planned again after the resume, unless
--let-queued leaves them to ring (who is put on the do-not-call list, or whose hours end, is still taken back). With SVC_API=contract
nothing can be taken back, with or without --let-queued.`,
    run: async (doing, { campaign: campaignId, body }) => {
      const { onCommitted } = doing;
      const { round, letQueued } = body ?? {};
      const { campaign, notice } = await pause(doing, { campaignId, ...withoutUndefined({ onCommitted, round, letQueued }) });
      return { ...steered(campaign, notice), queued: fateOfQueued(campaign) };
    },
    choice: {
      field: 'letQueued',
      flag: '--let-queued',
      says: 'leave calls that wait at the service to ring',
    },
  },
  resumeCampaign: {
    ...told('resume'),
    states: ['paused'],
    done: 'is running again',
    next: follow,
    choice: { field: 'sample', flag: '--sample', says: 'call another sample of the pilot first, such as after a change of the agent' },
    help: `
If the campaign paused by itself, carillon status shows the reason. Fix it first, or the campaign pauses again. To resume a campaign whose
pilot is over is to decide about it: everybody is called, or with --sample another sample of the same size before anybody else.`,
  },
  drainCampaign: {
    ...told('drain'),
    ends: true,
    states: ['scheduled', 'running', 'paused'],
    done: 'is draining: no further dials; it completes when the open calls are collected',
    next: follow,
    help: `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected. The campaign
then ends as completed; to end it as cancelled, use carillon cancel.`,
  },
  cancelCampaign: {
    ...told('cancel'),
    ends: true,
    states: ['scheduled', 'running', 'paused', 'draining'],
    done: 'is being cancelled: no further dials; calls that are open are still collected',
    next: follow,
    help: `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected.`,
  },
} satisfies { [Id in OperationId]?: PlainRun };

export type PlainId = keyof typeof plainRuns;

export const steerRuns = runsOf({
  ...plainRuns,
  adjustCampaign: {
    action: ({ body }) => (body.dryRun ? null : 'adjust'),
    run: async (doing, { campaign: campaignId, body: { reset, dryRun, ...written } }) => {
      const wish = withoutUndefined(written);
      if (dryRun) {
        const limits = await readCampaignLimits(doing, campaignId);
        return { campaignId, ...toldAdjustable(limits), effect: await previewAdjustment(doing, { campaignId, wish, reset }), notice: null };
      }
      const { limits, notice, changed } = await adjustLimits(doing, { campaignId, wish, reset });
      return { campaignId, ...toldAdjustable(limits), effect: null, notice: noticeText(notice), changed };
    },
  },
  showAccountLimits: { run: async (doing) => accountAsTold(await readAccountUse(doing)) },
  adjustAccountLimits: {
    action: 'adjust_account',
    log: () => 'account',
    run: async (doing, { body: { keepFree, ...written } }) => {
      const share = keepFree === undefined ? {} : { keepFree: Math.round(keepFree * 1000) };
      const { notice, changed } = await adjustSharedLimits(doing, { ...withoutUndefined(written), ...share });
      return { ...accountAsTold(await readAccountUse(doing)), notice: noticeText(notice), changed, told: notice };
    },
  },
  showHouseRules: {
    run: async (doing) => {
      const view = await readHouseView(doing);
      return withInstants({ ...view, says: houseLines(view.now?.rules ?? null) });
    },
  },
  setHouseRules: {
    action: ({ body }) => (body.dryRun ? null : 'house_rules'),
    log: () => 'account',
    run: async (doing, { body: { rules: text, dryRun } }) => {
      const { notice, ...change } = await setHouseRules(doing, { path: 'house.yaml', text, dryRun });
      return { ...change, notice: noticeText(notice), told: notice };
    },
  },
  recoverCampaign: {
    action: 'recover',
    run: async (doing, { campaign: campaignId }) => {
      const { campaign, workflowId } = await recoverCampaign(doing, { campaignId, onProgress: doing.onProgress });
      const { state, stateReason, round } = campaign;
      return { campaignId, state, stateReason, round, workflowId };
    },
  },
});

/** Shares as parts of 1, as they are told everywhere. */
export function accountAsTold<Use extends Pick<AccountUse, 'keepFree' | 'pace'>>({ keepFree, pace, ...use }: Use) {
  return { ...use, keepFree: keepFree / 1000, pace: pace / 1000 };
}

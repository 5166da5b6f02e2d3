import {
  adjustLimits,
  adjustSharedLimits,
  previewAdjustment,
  readAccountUse,
  readCampaignLimits,
  type AccountUse,
  readAccountRules,
  setAccountRules,
} from '../control/adjust.ts';
import type { NotifyFailure, SteeringCommand } from '../control/campaign-message.ts';
import { recoverCampaign } from '../control/recover.ts';
import { pause, steer } from '../control/steer.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { accountRuleLines } from '../../presentation/words/house.ts';
import { withInstants } from '../../shared/input/times.ts';
import { withoutUndefined } from '../../rules/collections.ts';
import { handlingOfQueued } from '../../rules/service-api.ts';
import type { Taken } from '../list.ts';
import { adjustableAsJson } from '../limits.ts';
import { type RunContext, runsOf } from './run.ts';

const steered = ({ campaignId, state, stateReason, round }: Campaign, notice: NotifyFailure) => ({
  campaignId,
  state,
  stateReason,
  round,
  notice,
});

/** Steers by the campaign's workflow, which needs a worker. */
const viaWorkflow = (command: Exclude<SteeringCommand, 'pause'>) => ({
  run: async (context: RunContext, { campaign, body }: Taken<'resumeCampaign'>) =>
    steered(await steer(context, { campaignId: campaign, wish: command, ...withoutUndefined(body ?? {}) }), null),
});

export const steerRuns = runsOf({
  pauseCampaign: {
    run: async (context, { campaign: campaignId, body }) => {
      const { onCommitted } = context;
      const { round, letQueued } = body ?? {};
      const { campaign, notice } = await pause(context, { campaignId, ...withoutUndefined({ onCommitted, round, letQueued }) });
      return { ...steered(campaign, notice), queued: handlingOfQueued(campaign) };
    },
  },
  resumeCampaign: viaWorkflow('resume'),
  drainCampaign: viaWorkflow('drain'),
  cancelCampaign: viaWorkflow('cancel'),
  adjustCampaign: {
    run: async (context, { campaign: campaignId, body: { reset, dryRun, ...written } }) => {
      const changes = withoutUndefined(written);
      if (dryRun) {
        const limits = await readCampaignLimits(context, campaignId);
        return {
          campaignId,
          ...adjustableAsJson(limits),
          effect: await previewAdjustment(context, { campaignId, wish: changes, reset }),
          notice: null,
        };
      }
      const { limits, notice, changed } = await adjustLimits(context, { campaignId, wish: changes, reset });
      return { campaignId, ...adjustableAsJson(limits), effect: null, notice, changed };
    },
  },
  showAccountLimits: { run: async (context) => accountAsTold(await readAccountUse(context)) },
  adjustAccountLimits: {
    run: async (context, { body: { keepFree, ...written } }) => {
      const share = keepFree === undefined ? {} : { keepFree: Math.round(keepFree * 1000) };
      const { notice, changed } = await adjustSharedLimits(context, { ...withoutUndefined(written), ...share });
      return { ...accountAsTold(await readAccountUse(context)), notice: notice && notice.why, changed, untold: notice };
    },
  },
  showHouseRules: {
    run: async (context) => {
      const view = await readAccountRules(context);
      return withInstants({ ...view, says: accountRuleLines(view.now?.rules ?? null) });
    },
  },
  setHouseRules: {
    run: async (context, { body: { rules: text, dryRun } }) => {
      const { notice, ...change } = await setAccountRules(context, { path: 'house.yaml', text, dryRun });
      return { ...change, notice: notice && notice.why };
    },
  },
  recoverCampaign: {
    run: async (context, { campaign: campaignId }) => {
      const { campaign, workflowId } = await recoverCampaign(context, { campaignId, onProgress: context.onProgress });
      const { state, stateReason, round } = campaign;
      return { campaignId, state, stateReason, round, workflowId };
    },
  },
});

/** Shows shares as parts of 1. */
export function accountAsTold<Use extends Pick<AccountUse, 'keepFree' | 'pace'>>({ keepFree, pace, ...use }: Use) {
  return { ...use, keepFree: keepFree / 1000, pace: pace / 1000 };
}

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
import { pause, steer } from '../control/steer.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { houseLines } from '../../presentation/words/house.ts';
import { withInstants } from '../../shared/input/times.ts';
import { withoutUndefined } from '../../rules/collections.ts';
import { fateOfQueued } from '../../rules/service-api.ts';
import type { Taken } from '../list.ts';
import { toldAdjustable } from '../limits.ts';
import { type Doing, runsOf } from './run.ts';

const steered = ({ campaignId, state, stateReason, round }: Campaign, notice: Notice) => ({
  campaignId,
  state,
  stateReason,
  round,
  notice,
});

/** Steers by the campaign's workflow, which needs a worker. */
const told = (wish: Exclude<SteeringCommand, 'pause'>) => ({
  run: async (doing: Doing, { campaign, body }: Taken<'resumeCampaign'>) =>
    steered(await steer(doing, { campaignId: campaign, wish, ...withoutUndefined(body ?? {}) }), null),
});

export const steerRuns = runsOf({
  pauseCampaign: {
    run: async (doing, { campaign: campaignId, body }) => {
      const { onCommitted } = doing;
      const { round, letQueued } = body ?? {};
      const { campaign, notice } = await pause(doing, { campaignId, ...withoutUndefined({ onCommitted, round, letQueued }) });
      return { ...steered(campaign, notice), queued: fateOfQueued(campaign) };
    },
  },
  resumeCampaign: told('resume'),
  drainCampaign: told('drain'),
  cancelCampaign: told('cancel'),
  adjustCampaign: {
    run: async (doing, { campaign: campaignId, body: { reset, dryRun, ...written } }) => {
      const wish = withoutUndefined(written);
      if (dryRun) {
        const limits = await readCampaignLimits(doing, campaignId);
        return { campaignId, ...toldAdjustable(limits), effect: await previewAdjustment(doing, { campaignId, wish, reset }), notice: null };
      }
      const { limits, notice, changed } = await adjustLimits(doing, { campaignId, wish, reset });
      return { campaignId, ...toldAdjustable(limits), effect: null, notice, changed };
    },
  },
  showAccountLimits: { run: async (doing) => accountAsTold(await readAccountUse(doing)) },
  adjustAccountLimits: {
    run: async (doing, { body: { keepFree, ...written } }) => {
      const share = keepFree === undefined ? {} : { keepFree: Math.round(keepFree * 1000) };
      const { notice, changed } = await adjustSharedLimits(doing, { ...withoutUndefined(written), ...share });
      return { ...accountAsTold(await readAccountUse(doing)), notice: notice && notice.why, changed, untold: notice };
    },
  },
  showHouseRules: {
    run: async (doing) => {
      const view = await readHouseView(doing);
      return withInstants({ ...view, says: houseLines(view.now?.rules ?? null) });
    },
  },
  setHouseRules: {
    run: async (doing, { body: { rules: text, dryRun } }) => {
      const { notice, ...change } = await setHouseRules(doing, { path: 'house.yaml', text, dryRun });
      return { ...change, notice: notice && notice.why };
    },
  },
  recoverCampaign: {
    run: async (doing, { campaign: campaignId }) => {
      const { campaign, workflowId } = await recoverCampaign(doing, { campaignId, onProgress: doing.onProgress });
      const { state, stateReason, round } = campaign;
      return { campaignId, state, stateReason, round, workflowId };
    },
  },
});

/** Shows shares as parts of 1. */
export function accountAsTold<Use extends Pick<AccountUse, 'keepFree' | 'pace'>>({ keepFree, pace, ...use }: Use) {
  return { ...use, keepFree: keepFree / 1000, pace: pace / 1000 };
}

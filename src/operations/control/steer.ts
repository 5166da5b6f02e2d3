import { pausedByOperator } from '../../rules/lifecycle.ts';
import { findCampaign, pauseCampaign, type Campaign } from '../../ledger/rows/campaigns.ts';
import { countOwnPauses } from '../../ledger/control-requests.ts';
import { stateText } from '../../presentation/words/campaign.ts';
import { CampaignMessageError, tryNotify, refuseUnfit, sendUpdate, type NotifyFailure, type SteeringCommand } from './campaign-message.ts';
import { connected, type Control, WrongStateError } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readServiceTime } from './service.ts';

/** What the operator saw before steering. */
export interface ObservedCampaign {
  campaign: Campaign;
  /** Sent along: a resume does not undo a pause that the campaign makes after this read. */
  pausesSeen: number;
}

/** Throws UnknownCampaignError, and WrongStateError when the state rules the request out. */
export async function readBeforeSteering({ store }: Control, campaignId: string, command: SteeringCommand): Promise<ObservedCampaign> {
  const campaign = await requireCampaign(store, campaignId);
  refuseUnfit(campaign, command);
  return { campaign, pausesSeen: await countOwnPauses(store.db, campaignId) };
}

/** A later round may have been started for other reasons. */
function refuseOtherRound({ campaignId, round: now }: Campaign, seen: number | undefined): void {
  if (seen !== undefined && seen !== now)
    throw new WrongStateError(
      `Campaign ${campaignId} is in round ${now} now. This was meant for round ${seen}, and nothing was changed: look at it again.`,
    );
}

/** Kept short, since a pause depends neither on the service's clock nor on Temporal. */
const pauseLimitMs = 3_000;

interface PauseInput {
  campaignId: string;
  /** The round decided about. Default: the current one. */
  round?: number;
  /** Lets calls queued at the service ring; else they are withdrawn where possible. */
  letQueued?: boolean;
  /** Called before the workflow is notified. */
  onCommitted?: (campaign: Campaign) => void;
}

/** Pauses in the database, then notifies the workflow. Repeatable. Throws UnknownCampaignError and WrongStateError. */
export async function pause(
  control: Control,
  { campaignId, round, letQueued = false, onCommitted = () => {} }: PauseInput,
): Promise<{ campaign: Campaign; notice: NotifyFailure }> {
  const { store } = control;
  const before = await requireCampaign(store, campaignId);
  refuseOtherRound(before, round);
  refuseUnfit(before, 'pause');
  const now = await readServiceTime(control);
  if (!(await pauseCampaign(store, { campaignId, now }, { reason: pausedByOperator, round: before.round, letQueued })))
    throw new WrongStateError(`Campaign ${campaignId} is ${stateText(before)}; nothing was changed.`);
  const campaign = await requireCampaign(store, campaignId);
  onCommitted(campaign);
  const notice = await tryNotify(async () => {
    const session = await connected(control, pauseLimitMs);
    // Not `pause`: an update waiting for a worker would undo a later resume.
    await sendUpdate(session, { campaign: before, wish: 'look', limitMs: pauseLimitMs });
  });
  return { campaign, notice };
}

function refuseWithoutPilot({ campaignId, rules }: Campaign): void {
  if (rules.pilot === undefined)
    throw new WrongStateError(`Campaign ${campaignId} has no pilot, so there is no other sample to call. Resume it without one.`);
}

interface SteerInput {
  campaignId: string;
  wish: Exclude<SteeringCommand, 'pause'>;
  /** Default: read now. Another round than `round` is refused. */
  pausesSeen?: number;
  round?: number;
  /** With a resume: calls another sample of the pilot first. */
  sample?: boolean;
  /** Maximum wait for a worker; default 20 s. */
  limitMs?: number;
}

/**
 * Resumes or ends a campaign; answers it after the commit. Repeatable. Throws as `readBeforeSteering`; CampaignMessageError when the
 * campaign was not reached or its state did not allow it; and as `temporal`.
 */
export async function steer(control: Control, { campaignId, round, ...request }: SteerInput): Promise<Campaign> {
  const { store } = control;
  refuseOtherRound(await requireCampaign(store, campaignId), round);
  const { campaign, pausesSeen } = await readBeforeSteering(control, campaignId, request.wish);
  if (request.sample === true) refuseWithoutPilot(campaign);
  const changed = await sendUpdate(await connected(control), { campaign, pausesSeen, ...request });
  const after = (await findCampaign(store.db, campaignId)) ?? campaign;
  if (!changed) throw new CampaignMessageError(`Campaign ${campaignId} is ${stateText(after)}; nothing was changed.`);
  return after;
}

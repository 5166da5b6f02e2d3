import { pausedByPerson } from '../../rules/lifecycle.ts';
import { findCampaign, pauseCampaign, type Campaign } from '../../ledger/rows/campaigns.ts';
import { countOwnPauses } from '../../ledger/control-requests.ts';
import { stateText } from '../../presentation/words/campaign.ts';
import { CampaignMessageError, noticeOf, refuseUnfit, sendUpdate, type Notice, type SteeringCommand } from './campaign-message.ts';
import { connected, type Control, WrongStateError } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readServiceTime } from './service.ts';

/** A campaign as somebody saw it who wants it to go on or end. */
export interface Seen {
  campaign: Campaign;
  /** Goes with the wish: a pause that the campaign makes after this look is not undone by a resume that was wished before it. */
  pausesSeen: number;
}

/** Looks before a wish is made. Throws UnknownCampaignError, and WrongStateError when the campaign's state rules the wish out. */
export async function lookBeforeSteering({ store }: Control, campaignId: string, wish: SteeringCommand): Promise<Seen> {
  const campaign = await requireCampaign(store, campaignId);
  refuseUnfit(campaign, wish);
  return { campaign, pausesSeen: await countOwnPauses(store.db, campaignId) };
}

/** What was decided about one round says nothing about a later one, which other people may have started for other reasons. */
function refuseOtherRound({ campaignId, round: now }: Campaign, seen: number | undefined): void {
  if (seen !== undefined && seen !== now)
    throw new WrongStateError(
      `Campaign ${campaignId} is in round ${now} now. This was meant for round ${seen}, and nothing was changed: look at it again.`,
    );
}

/** The service is asked for its clock alone, Temporal told for good order: nobody waits long for either. */
const pauseLimitMs = 3_000;

interface PauseInput {
  campaignId: string;
  /** Of the look at which it was decided: another one is not paused. Default: whichever runs. */
  round?: number;
  /** Leaves what waits at the service to ring; else it is taken back where the service can do that. */
  letQueued?: boolean;
  /** Hears of the pause before the workflow is told. */
  onCommitted?: (campaign: Campaign) => void;
}

/**
 * Pauses in the database, which every dial transaction reads, then tells the workflow. Pausing a paused campaign changes nothing. Throws
 * UnknownCampaignError, and WrongStateError when there is nothing to pause.
 */
export async function pause(
  control: Control,
  { campaignId, round, letQueued = false, onCommitted = () => {} }: PauseInput,
): Promise<{ campaign: Campaign; notice: Notice }> {
  const { store } = control;
  const before = await requireCampaign(store, campaignId);
  refuseOtherRound(before, round);
  refuseUnfit(before, 'pause');
  const now = await readServiceTime(control);
  if (!(await pauseCampaign(store, { campaignId, now }, { reason: pausedByPerson, round: before.round, letQueued })))
    throw new WrongStateError(`Campaign ${campaignId} is ${stateText(before)}; nothing was changed.`);
  const campaign = await requireCampaign(store, campaignId);
  onCommitted(campaign);
  const notice = await noticeOf(async () => {
    const session = await connected(control, pauseLimitMs);
    // Not to pause: a pause that waits for a worker would undo a later resume.
    await sendUpdate(session, { campaign: before, wish: 'look', limitMs: pauseLimitMs });
  });
  return { campaign, notice };
}

/** Only a campaign with a pilot has samples. */
function refuseWithoutPilot({ campaignId, rules }: Campaign): void {
  if (rules.pilot === undefined)
    throw new WrongStateError(`Campaign ${campaignId} has no pilot, so there is no other sample to call. Resume it without one.`);
}

interface WishInput {
  campaignId: string;
  wish: Exclude<SteeringCommand, 'pause'>;
  /** Of the look at which the wish was made; default: one now. Another round than that one is not told. */
  pausesSeen?: number;
  round?: number;
  /** With a resume: another sample of the pilot is called before the others. */
  sample?: boolean;
  /** How long is waited for a worker; default 20 s. */
  limitMs?: number;
}

/**
 * Has a campaign go on or end; answers it after the change was committed. Repeating it is harmless. Throws as `lookBeforeSteering`;
 * CampaignMessageError, which says what is known, when the campaign could not be told or its state did not allow it; and as `temporal`.
 */
export async function steer(control: Control, { campaignId, round, ...wish }: WishInput): Promise<Campaign> {
  const { store } = control;
  refuseOtherRound(await requireCampaign(store, campaignId), round);
  const { campaign, pausesSeen } = await lookBeforeSteering(control, campaignId, wish.wish);
  if (wish.sample === true) refuseWithoutPilot(campaign);
  const changed = await sendUpdate(await connected(control), { campaign, pausesSeen, ...wish });
  const after = (await findCampaign(store.db, campaignId)) ?? campaign;
  if (!changed) throw new CampaignMessageError(`Campaign ${campaignId} is ${stateText(after)}; nothing was changed.`);
  return after;
}
